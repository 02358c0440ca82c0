"""Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?"""

from costcurves._version import __version__
from costcurves.bcost import CellRisk, CostComparison, CostDifference, CostInterval, bcost, bdeltacost, bdeltacost_many
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
    "SmallSampleWarning",
    "UnsupportedError",
    "__version__",
    "bcost",
    "bdeltacost",
    "bdeltacost_many",
    "cost_models",
    "expected_cost",
    "minimum_cost_predictions",
]
