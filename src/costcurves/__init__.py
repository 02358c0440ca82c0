"""Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?"""

from costcurves import thresholds
from costcurves._version import __version__
from costcurves.comparison import (
    CurveDifference,
    ManyDifferences,
    PairwiseTests,
    Verdicts,
    average_band,
    compare,
    compare_many,
)
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
from costcurves.example_costs import compare_example_cost, example_cost
from costcurves.hull import RocHull
from costcurves.inference.bands import Band, Interval
from costcurves.inference.examples import ExampleComparison
from costcurves.inference.kernel import BootstrapDistribution
from costcurves.roc import AveragedRoc, RocCurve, average_roc_curves, pool

__all__ = [
    "Advantage",
    "AveragedRoc",
    "Band",
    "Beta",
    "BootstrapDistribution",
    "Choice",
    "CostCurve",
    "CostCurvesError",
    "CostLines",
    "Crossings",
    "CurveDifference",
    "DataError",
    "Decision",
    "Dominance",
    "ExampleComparison",
    "FormatError",
    "InputError",
    "Interval",
    "LimitedChoice",
    "ManyDifferences",
    "MissingExtraError",
    "Mixture",
    "OperatingCondition",
    "OperatingRange",
    "PairwiseTests",
    "PcIntervals",
    "Ranges",
    "Regret",
    "RocCurve",
    "RocHull",
    "UnsupportedError",
    "Verdicts",
    "__version__",
    "average_band",
    "average_cost_curves",
    "average_roc_curves",
    "bayes_threshold",
    "compare",
    "compare_example_cost",
    "compare_many",
    "dominance",
    "dominates",
    "example_cost",
    "pool",
    "regret",
    "thresholds",
]
