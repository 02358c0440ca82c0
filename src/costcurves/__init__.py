"""Which classifier, at which threshold, when costs and class frequencies are uncertain, and how sure is that?"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from costcurves._version import __version__

if TYPE_CHECKING:
    from costcurves import thresholds
    from costcurves.bootstrap import CellRisk, CostDifference, CostInterval, bcost, bdeltacost
    from costcurves.class_comparison import CostComparison, bdeltacost_many
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
    from costcurves.confusion import ConfusionMatrix, JointConfusion
    from costcurves.costs import CostCurve, CostLines, average_cost_curves
    from costcurves.coverages import Binormal, Coverage, coverage
    from costcurves.decisions import Choice, Decision, LimitedChoice, Mixture, Ranges
    from costcurves.differences import Advantage, Crossings, PcIntervals
    from costcurves.displays._style import figure_style
    from costcurves.displays.averaged import AveragedRocDisplay
    from costcurves.displays.cost import CostCurveDisplay
    from costcurves.displays.coverage import CoverageDisplay
    from costcurves.displays.difference import CostDifferenceDisplay
    from costcurves.displays.dominance import DominanceDisplay
    from costcurves.displays.power import PowerDisplay
    from costcurves.displays.roc import RocHullDisplay
    from costcurves.displays.simplex import PriorSimplexDisplay
    from costcurves.domination import Dominance, Regret, dominance, dominates, regret
    from costcurves.errors import (
        CostCurvesError,
        CostCurvesWarning,
        DataError,
        DroppedRowsWarning,
        FormatError,
        InputError,
        MissingExtraError,
        SmallSampleWarning,
        UnsupportedError,
        WorseThanChanceWarning,
    )
    from costcurves.estimators.cross_validation import evaluate
    from costcurves.estimators.hull_classifier import RocHullClassifier
    from costcurves.estimators.minimum_cost import MinimumExpectedCostClassifier
    from costcurves.estimators.scorers import cost_curve_area_scorer, expected_cost_scorer
    from costcurves.estimators.threshold import CostThresholdClassifier
    from costcurves.evaluation import Evaluation
    from costcurves.example_costs import compare_example_cost, example_cost
    from costcurves.example_data import example_path
    from costcurves.hull import RocHull
    from costcurves.inference.band_results import Band, Interval
    from costcurves.inference.examples import ExampleComparison
    from costcurves.inference.kernel import BootstrapDistribution
    from costcurves.matrices import CostMatrix, cost_models, expected_cost, minimum_cost_predictions
    from costcurves.metrics import cost_curve_area, cross_fitted_cost, normalized_expected_cost
    from costcurves.planning import RareError, SizePlan, chance_of_missing, examples_to_see, plan_test_size, power
    from costcurves.power_curves import PowerCurve, power_curve
    from costcurves.priors import PriorChoice, PriorHull, PriorRange, prior_hull
    from costcurves.range_recommendation import FixedRule, RangeRecommendation, recommend_within
    from costcurves.recommendation import Recommendation, recommend
    from costcurves.report.document import Report
    from costcurves.roc import AveragedRoc, RocCurve, average_roc_curves, pool
    from costcurves.scanning import Scan, scan
    from costcurves.scenarios import Scenarios, read_scenarios
    from costcurves.studies import covers_cost, covers_difference, difference_coverage
    from costcurves.tallies.bins import ScoreBins
    from costcurves.tallies.hulls import HullTally
    from costcurves.tallies.pairs import PairedTally
    from costcurves.tallies.scores import ScoreTally
    from costcurves.tallies.tables import ConfusionTally

# Where each public name lives; it is imported when it is first used, so that `import costcurves` costs next to nothing.
_MODULES = {
    "bootstrap": (
        "CellRisk",
        "CostDifference",
        "CostInterval",
        "bcost",
        "bdeltacost",
    ),
    "class_comparison": (
        "CostComparison",
        "bdeltacost_many",
    ),
    "comparison": (
        "CurveDifference",
        "ManyDifferences",
        "PairwiseTests",
        "Verdicts",
        "average_band",
        "compare",
        "compare_many",
    ),
    "conditions": (
        "Beta",
        "OperatingCondition",
        "OperatingRange",
        "bayes_threshold",
    ),
    "confusion": (
        "ConfusionMatrix",
        "JointConfusion",
    ),
    "costs": (
        "CostCurve",
        "CostLines",
        "average_cost_curves",
    ),
    "coverages": (
        "Binormal",
        "Coverage",
        "coverage",
    ),
    "decisions": (
        "Choice",
        "Decision",
        "LimitedChoice",
        "Mixture",
        "Ranges",
    ),
    "differences": (
        "Advantage",
        "Crossings",
        "PcIntervals",
    ),
    "displays._style": ("figure_style",),
    "displays.averaged": ("AveragedRocDisplay",),
    "displays.cost": ("CostCurveDisplay",),
    "displays.coverage": ("CoverageDisplay",),
    "displays.difference": ("CostDifferenceDisplay",),
    "displays.dominance": ("DominanceDisplay",),
    "displays.power": ("PowerDisplay",),
    "displays.roc": ("RocHullDisplay",),
    "displays.simplex": ("PriorSimplexDisplay",),
    "domination": (
        "Dominance",
        "Regret",
        "dominance",
        "dominates",
        "regret",
    ),
    "errors": (
        "CostCurvesError",
        "CostCurvesWarning",
        "DataError",
        "DroppedRowsWarning",
        "FormatError",
        "InputError",
        "MissingExtraError",
        "SmallSampleWarning",
        "UnsupportedError",
        "WorseThanChanceWarning",
    ),
    "estimators.cross_validation": ("evaluate",),
    "estimators.hull_classifier": ("RocHullClassifier",),
    "estimators.minimum_cost": ("MinimumExpectedCostClassifier",),
    "estimators.scorers": (
        "cost_curve_area_scorer",
        "expected_cost_scorer",
    ),
    "estimators.threshold": ("CostThresholdClassifier",),
    "evaluation": ("Evaluation",),
    "example_costs": (
        "compare_example_cost",
        "example_cost",
    ),
    "example_data": ("example_path",),
    "hull": ("RocHull",),
    "inference.band_results": (
        "Band",
        "Interval",
    ),
    "inference.examples": ("ExampleComparison",),
    "inference.kernel": ("BootstrapDistribution",),
    "matrices": (
        "CostMatrix",
        "cost_models",
        "expected_cost",
        "minimum_cost_predictions",
    ),
    "metrics": (
        "cost_curve_area",
        "cross_fitted_cost",
        "normalized_expected_cost",
    ),
    "planning": (
        "RareError",
        "SizePlan",
        "chance_of_missing",
        "examples_to_see",
        "plan_test_size",
        "power",
    ),
    "power_curves": (
        "PowerCurve",
        "power_curve",
    ),
    "priors": (
        "PriorChoice",
        "PriorHull",
        "PriorRange",
        "prior_hull",
    ),
    "range_recommendation": ("FixedRule", "RangeRecommendation", "recommend_within"),
    "recommendation": ("Recommendation", "recommend"),
    "report.document": ("Report",),
    "roc": (
        "AveragedRoc",
        "RocCurve",
        "average_roc_curves",
        "pool",
    ),
    "scanning": (
        "Scan",
        "scan",
    ),
    "scenarios": (
        "Scenarios",
        "read_scenarios",
    ),
    "studies": (
        "covers_cost",
        "covers_difference",
        "difference_coverage",
    ),
    "tallies.bins": ("ScoreBins",),
    "tallies.hulls": ("HullTally",),
    "tallies.pairs": ("PairedTally",),
    "tallies.scores": ("ScoreTally",),
    "tallies.tables": ("ConfusionTally",),
    "thresholds": (),
}
_HOME = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Return a public name, importing the module that defines it."""
    if name in _HOME:
        from costcurves.errors import MissingExtraError

        try:
            value = getattr(import_module(f"costcurves.{_HOME[name]}"), name)
        except MissingExtraError as error:
            return _stand_in(name, str(error))  # not kept: the extra may be installed later
    elif name in _MODULES:
        value = import_module(f"costcurves.{name}")
    else:
        raise AttributeError(f"module 'costcurves' has no attribute {name!r}")
    globals()[name] = value
    return value


def _stand_in(name: str, reason: str) -> Any:
    """Return what has a public name while its extra is missing: a class or a function that says so when it is called.

    The name itself is there, so that ``from costcurves import *``, `help`, `hasattr` and `inspect` work without extras.
    """
    from costcurves.errors import MissingExtraError

    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise MissingExtraError(reason)

    if name[0].isupper():
        return type(name, (), {"__new__": refuse, "__doc__": reason, "__module__": __name__})
    refuse.__name__ = refuse.__qualname__ = name
    refuse.__module__, refuse.__doc__ = __name__, reason
    return refuse


def __dir__() -> list[str]:
    """Return the public names only: the modules behind them are no part of the interface."""
    return __all__


__all__ = [
    "Advantage",
    "AveragedRoc",
    "AveragedRocDisplay",
    "Band",
    "Beta",
    "Binormal",
    "BootstrapDistribution",
    "CellRisk",
    "Choice",
    "ConfusionMatrix",
    "ConfusionTally",
    "CostComparison",
    "CostCurve",
    "CostCurveDisplay",
    "CostCurvesError",
    "CostCurvesWarning",
    "CostDifference",
    "CostDifferenceDisplay",
    "CostInterval",
    "CostLines",
    "CostMatrix",
    "CostThresholdClassifier",
    "Coverage",
    "CoverageDisplay",
    "Crossings",
    "CurveDifference",
    "DataError",
    "Decision",
    "Dominance",
    "DominanceDisplay",
    "DroppedRowsWarning",
    "Evaluation",
    "ExampleComparison",
    "FixedRule",
    "FormatError",
    "HullTally",
    "InputError",
    "Interval",
    "JointConfusion",
    "LimitedChoice",
    "ManyDifferences",
    "MinimumExpectedCostClassifier",
    "MissingExtraError",
    "Mixture",
    "OperatingCondition",
    "OperatingRange",
    "PairedTally",
    "PairwiseTests",
    "PcIntervals",
    "PowerCurve",
    "PowerDisplay",
    "PriorChoice",
    "PriorHull",
    "PriorRange",
    "PriorSimplexDisplay",
    "RangeRecommendation",
    "Ranges",
    "RareError",
    "Recommendation",
    "Regret",
    "Report",
    "RocCurve",
    "RocHull",
    "RocHullClassifier",
    "RocHullDisplay",
    "Scan",
    "Scenarios",
    "ScoreBins",
    "ScoreTally",
    "SizePlan",
    "SmallSampleWarning",
    "UnsupportedError",
    "Verdicts",
    "WorseThanChanceWarning",
    "__version__",
    "average_band",
    "average_cost_curves",
    "average_roc_curves",
    "bayes_threshold",
    "bcost",
    "bdeltacost",
    "bdeltacost_many",
    "chance_of_missing",
    "compare",
    "compare_example_cost",
    "compare_many",
    "cost_curve_area",
    "cost_curve_area_scorer",
    "cost_models",
    "coverage",
    "covers_cost",
    "covers_difference",
    "cross_fitted_cost",
    "difference_coverage",
    "dominance",
    "dominates",
    "evaluate",
    "example_cost",
    "example_path",
    "examples_to_see",
    "expected_cost",
    "expected_cost_scorer",
    "figure_style",
    "minimum_cost_predictions",
    "normalized_expected_cost",
    "plan_test_size",
    "pool",
    "power",
    "power_curve",
    "prior_hull",
    "read_scenarios",
    "recommend",
    "recommend_within",
    "regret",
    "scan",
    "thresholds",
]
