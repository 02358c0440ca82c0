"""Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?"""

from costcurves import thresholds
from costcurves._version import __version__
from costcurves.conditions import Beta, OperatingCondition, OperatingRange, bayes_threshold
from costcurves.costs import CostCurve, CostLines, average_cost_curves
from costcurves.decisions import Choice, Decision, LimitedChoice, Mixture, Ranges
from costcurves.differences import Advantage, Crossings, PcIntervals
from costcurves.dominance import Dominance, Regret, dominance, dominates, regret
from costcurves.errors import (
    CostCurvesError,
    DataError,
    FormatError,
    InputError,
    MissingExtraError,
    UnsupportedError,
)
from costcurves.hull import RocHull
from costcurves.roc import AveragedRoc, RocCurve, average_roc_curves, pool

__all__ = [
    "Advantage",
    "AveragedRoc",
    "Beta",
    "Choice",
    "CostCurve",
    "CostCurvesError",
    "CostLines",
    "Crossings",
    "DataError",
    "Decision",
    "Dominance",
    "FormatError",
    "InputError",
    "LimitedChoice",
    "MissingExtraError",
    "Mixture",
    "OperatingCondition",
    "OperatingRange",
    "PcIntervals",
    "Ranges",
    "Regret",
    "RocCurve",
    "RocHull",
    "UnsupportedError",
    "__version__",
    "average_cost_curves",
    "average_roc_curves",
    "bayes_threshold",
    "dominance",
    "dominates",
    "pool",
    "regret",
    "thresholds",
]
