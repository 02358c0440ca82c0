"""Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?"""

from costcurves._version import __version__
from costcurves.bootstrap import (
    CellRisk,
    CostComparison,
    CostDifference,
    CostInterval,
    bcost,
    bdeltacost,
    bdeltacost_many,
)
from costcurves.confusion import ConfusionMatrix, JointConfusion
from costcurves.errors import (
    CostCurvesError,
    DataError,
    FormatError,
    InputError,
    MissingExtraError,
    SmallSampleWarning,
    UnsupportedError,
)
from costcurves.matrices import CostMatrix, cost_models, expected_cost, minimum_cost_predictions
from costcurves.planning import RareError, SizePlan, chance_of_missing, examples_to_see, plan_test_size, power
from costcurves.priors import PriorChoice, PriorHull, PriorRange, prior_hull

__all__ = [
    "CellRisk",
    "ConfusionMatrix",
    "CostComparison",
    "CostCurvesError",
    "CostDifference",
    "CostInterval",
    "CostMatrix",
    "DataError",
    "FormatError",
    "InputError",
    "JointConfusion",
    "MissingExtraError",
    "PriorChoice",
    "PriorHull",
    "PriorRange",
    "RareError",
    "SizePlan",
    "SmallSampleWarning",
    "UnsupportedError",
    "__version__",
    "bcost",
    "bdeltacost",
    "bdeltacost_many",
    "chance_of_missing",
    "cost_models",
    "examples_to_see",
    "expected_cost",
    "minimum_cost_predictions",
    "plan_test_size",
    "power",
    "prior_hull",
]
