"""What the five papers contain: every definition, algorithm, table and figure, with its call and its evidence."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from replications.markdown import Outcomes, table
from replications.study import BEYOND, VERDICTS, Row

NOT_COVERED = "not covered"


@dataclass(frozen=True, slots=True)
class Entry:
    """One thing in a paper.

    Attributes
    ----------
    paper, where, what : str
        The year, the place in the paper, and what stands there.
    calls : tuple of str
        Public names of costcurves that give it, such as "RocHull.best" or "dominates(over=)". They may be empty only if
        it is not covered.
    studies : tuple of str
        The studies that have rows about it.
    items : tuple of str
        How the items of these rows begin.
    tests : str
        A file of tests that checks the calls, for what has no row in a study.
    missing : str
        What is not covered, and why.
    """

    paper: str
    where: str
    what: str
    calls: tuple[str, ...] = ()
    studies: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    tests: str = ""
    missing: str = ""

    def rows(self, outcomes: Outcomes) -> list[Row]:
        """The rows of the studies that are about this entry."""
        found = [row for name in self.studies for row in outcomes[name].rows]
        return [row for row in found if row.item.startswith(self.items)]

    def verdict(self, outcomes: Outcomes) -> str:
        """Count the verdicts of its rows, or name the tests, and say what is not covered."""
        counts = Counter(row.verdict for row in self.rows(outcomes))
        words = [f"{one} {counts[one]}" for one in VERDICTS if counts[one] and one != BEYOND]
        if not words and self.tests:
            words = [f"no number to compare; checked in `{self.tests}`"]
        if not words and counts[BEYOND]:
            words = [f"{BEYOND} {counts[BEYOND]}"]
        return "; ".join([*words, *([f"**{NOT_COVERED}**: {self.missing}"] if self.missing else [])])


def _of(paper: str, *entries: tuple[str, str, str, dict[str, str]]) -> list[Entry]:
    """Make the entries of a paper. Calls, studies and items are separated by commas."""
    made = []
    for where, what, calls, more in entries:
        parts = {key: tuple(more.get(key, "").split(", ")) if more.get(key) else () for key in ("studies", "items")}
        named = tuple(calls.split(", ")) if calls else ()
        made.append(
            Entry(paper, where, what, named, **parts, tests=more.get("tests", ""), missing=more.get("missing", ""))
        )
    return made


def _rows(studies: str, items: str, missing: str = "") -> dict[str, str]:
    return {"studies": studies, "items": items, "missing": missing}


def _tests(path: str, missing: str = "") -> dict[str, str]:
    return {"tests": path, "missing": missing}


def _none(why: str) -> dict[str, str]:
    return {"missing": why}


_1997, _1998 = "scenarios-1997", "domains-1998"
_ROAD = "Road, the tenth domain, whose data are not in the public repositories"
CONTENTS: tuple[Entry, ...] = (
    *_of(
        "1997",
        ("Figure 1", "ROC curves of four classifiers", "RocCurve, RocHullDisplay", _rows(_1997, "Figure 1")),
        ("Evaluating performance", "TP and FP, and the decision for estimated probabilities",
         "ConfusionMatrix, bayes_threshold, thresholds.bayes", _tests("tests/test_paper_numbers.py")),
        ("Evaluating performance", "cost on a test set, N_FP c(FP) + N_FN c(FN)", "expected_cost",
         _tests("tests/conditions/test_cost_matrices.py")),
        ("Evaluating performance", "the rule of the largest (1 - FP)·TP, for comparison", "thresholds.product",
         _tests("tests/decisions/test_ensembles.py")),
        ("Iso-performance lines", "slope of a condition", "OperatingCondition.slope", _rows(_1997, "Figure 3")),
        ("The ROC convex hull, figure 2", "hull, potentially optimal", "RocHull.can_be_best", _rows(_1997, "Figure 2")),
        ("Generating the hull", "the algorithm", "RocHull, RocHull.best", _tests("tests/curves/test_hull.py")),
        ("Figure 3", "the best at two conditions", "RocHull.best, RocHullDisplay", _rows(_1997, "Figure 3")),
        ("Managing classifiers, figure 4", "adding one by one", "RocHull.add", _rows(_1997, "Figure 4")),
        ("Figure 5", "nearly optimal everywhere", "regret, RegretDisplay", _rows(_1997, "Figure 5")),
        ("Sensitivity analysis, figures 6a and 6b", "a range of slopes", "OperatingRange, RocHull.within",
         _rows(_1997, "Figure 6a, Figure 6b")),
        ("Figure 6c", "when doing nothing is best", "RocHull.ranges, RocHullDisplay.plot(null_strategy=)",
         _rows(_1997, "Figure 6c")),
        ("Limitations and implications", "the Neyman-Pearson observer, on the non-decreasing hull",
         "RocHull.best_at_fpr", _tests("tests/curves/test_choices.py")),
        ("Limitations and implications", "search for classifiers that extend the hull",
         "RocHull.gain, Predictions.select", _tests("tests/decisions/test_ensembles.py")),
    ),
    *_of(
        "1998",
        ("Section 3.1", "reproportioning the classes for target costs",
         "ReproportionedClassifier, ReproportionedClassifier.compare_with_threshold",
         _rows("ratios-1998", "Section 3.1")),
        ("Section 3.2", "a dominating model", "dominates(space=), dominance", _rows(_1998, "Section 3.2")),
        ("Figure 1", "raw curves of two domains", "RocHullDisplay.from_predictions",
         _rows("raw-1998", "Figure 1", "the paper's own two domains, which the text that we have does not name")),
        ("Section 3.2", "pooling of the i-th points", "average_roc_curves(kind=)", _tests("tests/curves/test_roc.py")),
        ("Section 3.2", "vertical averaging with intervals", "average_roc_curves, AveragedRoc",
         _tests("tests/curves/test_roc.py")),
        ("Section 3.3", "the hypothesis and its test", "dominance, compare_many, significant_dominance(test=)",
         _rows(f"{_1998}, tests-1998", "Section 3.3, Simulation")),
        ("Figures 2 and 3", "averaged curves of ten domains", "Predictions.averaged_roc, AveragedRocDisplay",
         _rows(_1998, "Figures 2 and 3", _ROAD)),
        ("Section 3.4", "composite curves, and the hypothesis about other class ratios",
         "RocHull.to_roc_curve, significant_dominance(versions=)",
         _rows("ratios-1998", "Section 3.4",
               "the four larger domains and two of the six learners, for want of computing time, and Road")),
        ("Table 1", "who is best at which slopes (`without_trivial` and `stability` of the ranges)",
         "RocHull.ranges, DominanceDisplay",
         _rows(f"{_1998}, splits-1998, variants-1998, bags-1998", "Table 1, Trees", _ROAD)),
        ("Section 4", "superiority in a region of ROC space", "dominates(over=), significant_dominance(over=)",
         _tests("tests/decisions/test_dominance.py")),
    ),
    *_of(
        "2000",
        ("Table 1", "a cost matrix of four classes", "CostMatrix", _tests("tests/conditions/test_cost_matrices.py")),
        ("Section 2", "expected cost", "expected_cost", _tests("tests/conditions/test_cost_matrices.py")),
        ("Section 2", "the interval of the normal distribution", "bcost(method=)",
         _tests("tests/multiclass/test_bcost_exact.py")),
        ("Table 2", "the algorithm BCost", "bcost, bcost(method=)", _tests("tests/multiclass/test_bcost_exact.py")),
        ("Section 3", "the algorithm BDeltaCost", "bdeltacost, bdeltacost_many",
         _tests("tests/multiclass/test_class_comparison.py")),
        ("Section 3", "Laplace correction", "bcost(laplace=)", _rows("figure2-2000", "Figure 2")),
        ("Figure 1, Table 3", "the domain and its class frequencies", "",
         _none("a picture of the data, whose boundaries are drawn without numbers; ours have the printed frequencies")),
        ("Table 4", "nine models of random cost matrices", "cost_models",
         _tests("tests/conditions/test_cost_matrices.py")),
        ("Table 5", "coverage of BCost", "covers_cost, bcost", _rows("table5", "Table 5")),
        ("Section 4.1", "coverage of the normal interval", "covers_cost(method=)",
         _rows("table5, normal-2000", "Section 4.1")),
        ("Figure 2", "coverage against the Laplace correction", "covers_cost(laplace=), laplace_curve, PowerDisplay",
         _rows("figure2-2000", "Figure 2")),
        ("Table 6", "type I errors of BDeltaCost", "covers_difference", _rows("table6", "Table 6")),
        ("Section 4.2", "BDeltaCost with a Laplace correction, and the paired z test",
         "covers_difference(laplace=), covers_difference(method=)",
         _rows("table6, power, defaults-2000", "Section 4.2")),
        ("Figure 3", "power against the ratio of costs", "power_curve, PowerDisplay", _rows("power", "Figure 3")),
        ("Figure 4", "power against the number of changed labels", "power_curve(changed=), PowerDisplay",
         _rows("power", "Figure 4")),
        ("Figure 5", "the range over cost matrices", "power_curve(costs=), PowerDisplay.plot(missed=)",
         _rows("power", "Figure 5")),
        ("Section 5", "the share of changed labels", "covers_difference", _rows("power", "Section 5")),
        ("Section 1", "costs drawn from a distribution of likely matrices",
         "bcost.over_costs, bdeltacost.over_costs, CostMatrix.draws",
         _tests("tests/multiclass/test_uncertain_costs.py")),
        ("Section 1", "variation of the training set", "bcost.over_training, bdeltacost.over_training",
         _tests("tests/multiclass/test_training_sets.py")),
        ("Section 5", "the range of costs and the size of the test set", "plan_test_size",
         _tests("tests/multiclass/test_uncertain_costs.py")),
    ),
    *_of(
        "2005",
        ("Section 2", "domination of points and of sets", "dominates(space=), dominance(space=)",
         _tests("tests/decisions/test_dominance.py")),
        ("Section 2, equation 1", "PC(+)", "OperatingCondition.pc", _tests("tests/test_paper_numbers.py")),
        ("Section 2", "normalized expected cost", "CostCurve.evaluate, normalized_expected_cost",
         _rows("credit-2005", "Section 2")),
        ("Figures 1 and 2", "duality of points and lines", "RocHullDisplay, CostCurveDisplay, CostCurve.lines",
         _rows("credit-2005", "Figure 1, Figure 2")),
        ("Section 2", "a cost curve as the lower envelope of lines, the dual of the hull",
         "CostCurve, RocHull.to_roc_curve", _rows("credit-2005", "Figure 2")),
        ("Figures 3 and 4", "points and lines of C4.5 on sonar",
         "RocHullDisplay.plot(points=), CostCurveDisplay.plot(lines=)",
         _rows("sonar-2005", "Figure 3, Figure 4")),
        ("Section 4", "operating range against the trivial classifiers",
         "CostCurve.operating_range, CostCurve.operating_range_limits", _rows("credit-2005", "Section 4")),
        ("Figures 5 and 6", "where each of two is better",
         "CostCurve.crossings, CostCurve.better_than, RocHullDisplay.plot(crossings=), CostCurveDisplay",
         _rows("curves-2005", "Figure 5, Figure 6")),
        ("Figures 7 and 8", "four splitting criteria", "RocHullDisplay, CostCurveDisplay",
         _rows("sonar-2005", "Figure 7, Figure 8")),
        ("Figure 9", "vertical and horizontal averages",
         "average_roc_curves(kind=), AveragedRocDisplay.plot(condition=)",
         _rows("curves-2005", "Figure 9")),
        ("Section 7", "other averages: at thresholds, of points, of normal-fitted curves",
         "average_roc_curves(kind=), fit_binormal", _tests("tests/curves/test_binormal.py")),
        ("Figure 10", "averages of cost curves", "average_cost_curves, CostCurveDisplay",
         _rows("curves-2005", "Figure 10")),
        ("Section 8, figures 11 and 12", "confidence band by resampling",
         "CostCurve.band(method=), CostCurve.resampled, CostCurveDisplay.plot(n_resamples=)",
         _rows("intervals-2005", "Figure 11, Figure 12")),
        ("Section 9, figures 13 to 15", "significance of a difference",
         "compare, compare.from_curves, CostDifferenceDisplay",
         _rows("intervals-2005", "Figure 13, Figure 14, Figure 15")),
    ),
    *_of(
        "2008",
        ("Figure 1", "how a cost curve arises from thresholds, in two samples", "ThresholdDisplay, CostCurveDisplay",
         _tests("tests/displays/test_cost_space.py", "the picture itself, of which we have only the description")),
        ("Section 3", "exact bootstrap of a cost, stratified", "CostCurve.band(sampling=), CostCurve.distribution",
         _tests("tests/inference/test_bands.py")),
        ("Section 3", "a threshold for every condition, t(w)", "thresholds.rule, thresholds.validation",
         _tests("tests/decisions/test_ensembles.py")),
        ("Section 3", "exact bootstrap of a difference (`distribution` of a comparison)",
         "compare, compare(method=), compare.from_joint",
         _tests("tests/inference/test_paired.py")),
        ("Section 4", "full sampling", "CostCurve.band(sampling=), compare(sampling=)",
         _tests("tests/inference/test_bands.py")),
        ("Section 4", "exact bootstrap of a difference, full sampling", "compare(sampling=)",
         _tests("tests/inference/test_paired.py")),
        ("Section 4", "normalization by the largest cost, c_max (`per_largest_cost` of a band)",
         "CostCurve.band(sampling=)",
         _tests("tests/inference/test_bands.py")),
        ("Figure 2", "coverage and the spread of scores", "coverage, CoverageDisplay",
         _rows("spread-2008", "Figure 2, Figures 2 and 5")),
        ("Figure 3", "coverage and the size of the test set", "coverage, CoverageDisplay",
         _rows("size-2008", "Figure 3")),
        ("Figure 4", "coverage of differences", "difference_coverage, CoverageDisplay",
         _rows("difference-2008", "Figure 4")),
        ("Figure 5", "coverage of full sampling", "coverage(sampling=), CoverageDisplay",
         _rows("spread-2008", "Figure 5")),
        ("Figure 6", "coverage of differences with full sampling", "difference_coverage, CoverageDisplay",
         _rows("difference-2008, figure6-2008", "Figure 6")),
        ("Section 6", "thresholds from a finite validation set", "coverage(validation=), CostCurve.threshold_set",
         _rows("validation-2008", "Section 6")),
        ("Sections 6 and 7", "thresholds within the range of the scores", "coverage(within_scores=)",
         _rows("validation-2008", "Section 7")),
        ("Table 1", "which equations and figures belong to which sampling", "CostCurve.band(sampling=)",
         _tests("tests/inference/test_bands.py")),
    ),
)  # fmt: skip


def contents_table(outcomes: Outcomes, papers: Iterable[str]) -> str:
    """Make the table of everything that some papers contain."""
    wanted = set(papers)
    lines = [
        (
            f"[{one.paper}]({one.paper}.md)",
            one.where,
            one.what,
            ", ".join(f"`{call}`" for call in one.calls) or "none",
            one.verdict(outcomes),
        )
        for one in CONTENTS
        if one.paper in wanted
    ]
    return table(("paper", "where", "what", "call", "verdict"), lines)


def not_covered(papers: Iterable[str]) -> str:
    """List what of some papers is not covered, and why."""
    wanted = set(papers)
    lines = [
        f"- {one.paper}, {one.where} ({one.what}): {one.missing}."
        for one in CONTENTS
        if one.paper in wanted and one.missing
    ]
    return (
        "\n".join(["**Not covered:**", "", *lines])
        if lines
        else "Every item of the paper in the [table](index.md) is covered."
    )
