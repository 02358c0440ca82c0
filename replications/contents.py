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
        Public names of costcurves that give it, such as "RocHull.best" or "dominates(over=)", or of scikit-learn, with
        its module.
    studies : tuple of str
        The studies that have rows about it.
    items : tuple of str
        The items of these rows, such as "Table 5" for all items "Table 5, M1" and so on.
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
        return [row for row in found if any(row.item == one or row.item.startswith(f"{one}, ") for one in self.items)]

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
    """Make the entries of a paper. Calls are separated by commas, studies and items by semicolons."""
    made = []
    for where, what, calls, more in entries:
        parts = {key: tuple(more.get(key, "").split("; ")) if more.get(key) else () for key in ("studies", "items")}
        named = tuple(calls.split(", ")) if calls else ()
        made.append(
            Entry(paper, where, what, named, **parts, tests=more.get("tests", ""), missing=more.get("missing", ""))
        )
    return made


def _rows(studies: str, items: str, missing: str = "") -> dict[str, str]:
    return {"studies": studies, "items": items, "missing": missing}


def _tests(path: str, missing: str = "") -> dict[str, str]:
    return {"tests": path, "missing": missing}


_1997, _1998, _SONAR = "scenarios-1997", "domains-1998", "sonar-2005"
_ROAD = "Road, the tenth domain, whose data are not in the public repositories"
_MATRIX, _CELLS = _tests("tests/conditions/test_cost_matrices.py"), _tests("tests/multiclass/test_bcost_exact.py")
_NUMBERS = _tests("tests/test_paper_numbers.py")
CONTENTS: tuple[Entry, ...] = (
    *_of(
        "1997",
        ("Figure 1", "ROC curves of four classifiers, one of which dominates another",
         "RocCurve, RocHullDisplay, dominates", _rows(_1997, "Figure 1")),
        ("Evaluating performance", "TP and FP", "ConfusionMatrix, RocCurve.from_confusion_matrix",
         _tests("tests/curves/test_roc.py")),
        ("Evaluating performance", "the decision for estimated probabilities", "bayes_threshold, thresholds.bayes",
         _NUMBERS),
        ("Evaluating performance", "cost on a test set, N_FP c(FP) + N_FN c(FN)", "expected_cost", _MATRIX),
        ("Evaluating performance", "never and always alarming, and random guessing",
         "RocHull.ranges, RocHullDisplay.plot(chance=)", _tests("tests/displays/test_roc_space.py")),
        ("Evaluating performance", "the rule of the largest (1 - FP)·TP, for comparison", "thresholds.product",
         _tests("tests/decisions/test_ensembles.py")),
        ("Iso-performance lines", "expected cost of a point", "CostCurve.evaluate, OperatingCondition.money",
         _tests("tests/curves/test_cost_curve.py")),
        ("Iso-performance lines", "slope of a condition", "OperatingCondition.slope", _rows(_1997, "Figure 3")),
        ("The ROC convex hull", "potentially optimal: on the hull", "RocHull.can_be_best, RocHull.never_best",
         _rows(_1997, "Figure 2")),
        ("Figure 2", "four curves with their hull", "RocHullDisplay", _rows(_1997, "Figure 2")),
        ("Figure 3", "the best at two conditions, with their lines", "RocHull.best, RocHullDisplay.plot(condition=)",
         _rows(_1997, "Figure 3")),
        ("Generating the hull", "the algorithm", "RocHull, RocHull.best", _tests("tests/curves/test_hull.py")),
        ("Managing classifiers, figure 4", "adding one by one, binary classifiers too", "RocHull.add, RocHullDisplay",
         _rows(_1997, "Figure 4")),
        ("Managing classifiers", "only points on the hull need be saved", "RocHull.to_json, RocHull.from_json",
         _tests("tests/curves/test_hull_file.py")),
        ("Figure 5", "nearly optimal everywhere", "regret, RegretDisplay", _rows(_1997, "Figure 5")),
        ("Sensitivity analysis", "a range of slopes", "OperatingRange, RocHull.within",
         _rows(_1997, "Figure 6a; Figure 6b")),
        ("Figure 6a", "low sensitivity", "RocHull.within, RocHullDisplay.plot(condition=)", _rows(_1997, "Figure 6a")),
        ("Figure 6b", "high sensitivity", "RocHull.within, RocHullDisplay.plot(condition=)", _rows(_1997, "Figure 6b")),
        ("Figure 6c", "when doing nothing is best", "RocHull.ranges, RocHullDisplay.plot(null_strategy=)",
         _rows(_1997, "Figure 6c")),
        ("Limitations and implications", "the Neyman-Pearson observer, on the non-decreasing hull",
         "RocHull.best_at_fpr", _tests("tests/curves/test_choices.py")),
        ("Limitations and implications", "precision", "RocHull.best_at_precision",
         _tests("tests/curves/test_guarantees.py")),
        ("Limitations and implications", "search for classifiers that extend the hull",
         "RocHull.gain, cost_curve_area_scorer(hull=), Predictions.select",
         _tests("tests/decisions/test_ensembles.py")),
    ),
    *_of(
        "1998",
        ("Section 3.1", "reproportioning the classes for target costs",
         "ReproportionedClassifier, ReproportionedClassifier.compare_with_threshold",
         _rows("ratios-1998", "Section 3.1")),
        ("Section 3.2", "a dominating model", "dominates(space=), dominance", _rows(_1998, "Section 3.2")),
        ("Figure 1", "raw curves of two domains", "RocHullDisplay.from_predictions",
         _rows("raw-1998", "Figure 1a; Figure 1b",
               "the paper's own two domains, which the text that we have does not name")),
        ("Section 3.2", "pooling of the i-th points", "average_roc_curves(kind=)", _tests("tests/curves/test_roc.py")),
        ("Section 3.2", "the average of Swets and Pickett, of normal-fitted curves", "fit_binormal",
         _tests("tests/curves/test_binormal.py")),
        ("Section 3.2", "vertical averaging with intervals", "average_roc_curves, AveragedRoc",
         _tests("tests/curves/test_roc.py")),
        ("Footnote 2", "any point between two classifiers, by choosing at random", "RocHull.best_at_fpr",
         _tests("tests/curves/test_choices.py")),
        ("Section 3.3", "the hypothesis and its test", "dominance, compare_many, significant_dominance(test=)",
         _rows(f"{_1998}; tests-1998", "Section 3.3; Simulation")),
        ("Figure 2", "averaged curves of four domains", "Predictions.averaged_roc, AveragedRocDisplay",
         _rows(_1998, "; ".join(f"Figures 2 and 3, {name}" for name in ("Vehicle", "Waveform-21", "DNA", "Adult")))),
        ("Figure 3", "averaged curves of six domains", "Predictions.averaged_roc, AveragedRocDisplay",
         _rows(_1998, "; ".join(f"Figures 2 and 3, {name}" for name in
                                ("Breast cancer", "CRX", "German", "Pima", "Satimage")), _ROAD)),
        ("Section 3.4", "composite curves, and the hypothesis about other class ratios",
         "RocHull.to_roc_curve, significant_dominance(versions=)",
         _rows("ratios-1998", "Section 3.4",
               "Road, and the domains and neural networks of Bradley (1997), whose study the paper quotes")),
        ("Table 1", "who is best at which slopes (`without_trivial` and `stability` of the ranges)",
         "RocHull.ranges, DominanceDisplay",
         _rows(f"{_1998}; splits-1998; variants-1998; bags-1998", "Table 1; Trees", _ROAD)),
        ("Section 4", "superiority in a region of ROC space", "dominates(over=), significant_dominance(over=)",
         _tests("tests/decisions/test_significant_dominance.py")),
    ),
    *_of(
        "2000",
        ("Table 1", "a cost matrix of four classes", "CostMatrix", _MATRIX),
        ("Section 1", "costs drawn from a distribution of likely matrices",
         "bcost.over_costs, bdeltacost.over_costs, CostMatrix.draws",
         _tests("tests/multiclass/test_uncertain_costs.py")),
        ("Section 1", "variation of the training set", "bcost.over_training, bdeltacost.over_training",
         _tests("tests/multiclass/test_training_sets.py")),
        ("Section 2", "expected cost", "expected_cost", _MATRIX),
        ("Section 2", "the interval of the normal distribution", "bcost(method=)", _CELLS),
        ("Section 3.1", "Laplace correction of p(i, j)", "bcost(laplace=), laplace_curve",
         _rows("figure2-2000", "Figure 2")),
        ("Table 2", "the algorithm BCost", "bcost, bcost(method=)", _CELLS),
        ("Section 3.2", "the three-dimensional confusion matrix and the costs Δ",
         "JointConfusion, bdeltacost.from_joint", _CELLS),
        ("Section 3.2", "the algorithm BDeltaCost", "bdeltacost, bdeltacost_many",
         _tests("tests/multiclass/test_class_comparison.py")),
        ("Section 4.1", "trees whose examples are weighted by the mean cost of their class (C4.5-avg)",
         "CostMatrix.class_weights",
         {**_MATRIX, "missing": "C4.5 itself; the studies train the trees of scikit-learn"}),
        ("Figure 1", "the domain", "sklearn.inspection.DecisionBoundaryDisplay",
         _rows("table5", "Table 3",
               "the paper's own boundaries, which are drawn without numbers; the page shows ours")),
        ("Table 3", "the class frequencies of the domain", "ConfusionMatrix", _rows("table5", "Table 3")),
        ("Table 4", "nine models of random cost matrices", "cost_models", _MATRIX),
        ("Table 5", "coverage of BCost", "covers_cost, bcost", _rows("table5", "Table 5")),
        ("Section 4.1", "coverage of the normal interval", "covers_cost(method=)",
         _rows("table5; normal-2000", "Section 4.1")),
        ("Figure 2", "coverage against the Laplace correction", "covers_cost(laplace=), laplace_curve, PowerDisplay",
         _rows("figure2-2000", "Figure 2")),
        ("Table 6", "type I errors of BDeltaCost", "covers_difference", _rows("table6", "Table 6")),
        ("Section 4.2", "BDeltaCost with a Laplace correction, and the paired z test",
         "covers_difference(laplace=), covers_difference(method=)",
         _rows("table6; power; defaults-2000", "Section 4.2")),
        ("Section 4.2", "a second classifier with the same confusion matrix, and q changed labels",
         "power_curve(changed=)", _tests("tests/planning/test_sample_size_and_priors.py")),
        ("Figure 3", "power against the ratio of costs", "power_curve, PowerDisplay", _rows("power", "Figure 3")),
        ("Figure 4", "power against the number of changed labels", "power_curve(changed=), PowerDisplay",
         _rows("power", "Figure 4")),
        ("Figure 5", "the range over cost matrices", "power_curve(costs=), PowerDisplay.plot(missed=)",
         _rows("power", "Figure 5, M6 and M9; Figure 5, others")),
        ("Section 5", "the share of changed labels that is found", "covers_difference, power_curve(changed=)",
         _rows("power", "Section 5")),
        ("Section 5", "the range of costs and the size of the test set", "plan_test_size",
         _tests("tests/multiclass/test_uncertain_costs.py")),
    ),
    *_of(
        "2005",
        ("Section 2", "domination of points and of sets", "dominates(space=), dominance(space=)",
         _tests("tests/decisions/test_dominance.py")),
        ("Section 2, equation 1", "PC(+)", "OperatingCondition.pc", _NUMBERS),
        ("Section 2", "normalized expected cost", "CostCurve.evaluate, normalized_expected_cost",
         _rows("credit-2005", "Section 2")),
        ("Figure 1", "two classifiers as points", "RocHullDisplay", _rows("credit-2005", "Figure 1")),
        ("Figure 2", "the same as lines: the duality of points and lines", "CostCurveDisplay, CostCurve.lines",
         _rows("credit-2005", "Figure 2")),
        ("Section 2", "a cost curve as the lower envelope of lines, the dual of the hull",
         "CostCurve, RocHull.to_roc_curve", _rows("credit-2005", "Figure 2")),
        ("Figure 3", "ROC points of C4.5 on sonar", "RocHullDisplay.plot(points=)", _rows(_SONAR, "Figure 3")),
        ("Figure 4", "their cost lines", "CostCurveDisplay.plot(lines=)", _rows(_SONAR, "Figure 4")),
        ("Section 4", "operating range against the trivial classifiers",
         "CostCurve.operating_range, CostCurve.operating_range_limits, CostCurveDisplay.plot(operating_range=)",
         _rows("credit-2005", "Section 4")),
        ("Section 5, figure 5", "where each of two is better, and the line that touches both",
         "CostCurve.crossings, CostCurve.better_than, RocHullDisplay.plot(crossings=)",
         _rows("curves-2005", "Figure 5")),
        ("Figure 6", "the crossing in cost space", "CostCurveDisplay.plot(crossings=)",
         _rows("curves-2005", "Figure 6")),
        ("Figure 7", "ROC curves of four splitting criteria", "RocHullDisplay", _rows(_SONAR, "Figure 7")),
        ("Section 6, figure 8", "their cost curves, whose distance is the difference in performance",
         "CostCurveDisplay, CostCurve.better_than", _rows(_SONAR, "Figure 8")),
        ("Figure 9", "vertical and horizontal averages",
         "average_roc_curves(kind=), AveragedRocDisplay.plot(condition=)",
         _rows("curves-2005", "Figure 9")),
        ("Section 7", "other averages: at thresholds, of points, of normal-fitted curves",
         "average_roc_curves(kind=), fit_binormal", _tests("tests/curves/test_binormal.py")),
        ("Figure 10", "averages of cost curves", "average_cost_curves, CostCurveDisplay",
         _rows("curves-2005", "Figure 10")),
        ("Figure 11", "two binomials with the row totals of a confusion matrix",
         "RocCurve.from_confusion_matrix, CostCurve.resampled", _rows("intervals-2005", "Figure 11")),
        ("Section 8, figure 12", "confidence band by resampling",
         "CostCurve.band(method=), CostCurve.resampled, CostCurveDisplay.plot(n_resamples=)",
         _rows("intervals-2005", "Figure 12")),
        ("Section 9", "significance of a difference, with the correlation of two classifiers",
         "compare(method=), compare.from_joint, compare.from_curves",
         _rows("intervals-2005", "Figure 13; Figure 14; Figure 15")),
        ("Figure 13", "a difference, high correlation", "CostDifferenceDisplay.plot(with_curves=)",
         _rows("intervals-2005", "Figure 13")),
        ("Figure 14", "a difference, low correlation", "CostDifferenceDisplay.plot(with_curves=)",
         _rows("intervals-2005", "Figure 14")),
        ("Figure 15", "a difference, medium correlation", "CostDifferenceDisplay.plot(with_curves=)",
         _rows("intervals-2005", "Figure 15")),
        ("Section 10", "workforce utilization, for which ROC curves are better suited", "RocHull.best_at_capacity",
         _NUMBERS),
    ),
    *_of(
        "2008",
        ("Section 2, figure 1", "how a cost curve arises from thresholds, in two samples",
         "ThresholdDisplay, CostCurveDisplay",
         _tests("tests/displays/test_cost_space.py", "the picture itself, of which we have only the description")),
        ("Section 3, equation 1", "total cost", "OperatingCondition.money",
         _tests("tests/conditions/test_conditions.py")),
        ("Section 3, equations 2 and 3", "the operating condition w, and normalized cost",
         "OperatingCondition.pc, CostCurve.evaluate", _tests("tests/curves/test_cost_curve.py")),
        ("Section 3", "a threshold for every condition, t(w)", "thresholds.rule, thresholds.validation",
         _tests("tests/decisions/test_ensembles.py")),
        ("Section 3, equations 4 and 5", "exact bootstrap of a cost, stratified",
         "CostCurve.band(method=), CostCurve.distribution", _NUMBERS),
        ("Section 3, equations 6 to 8", "exact bootstrap of a difference (`distribution` of a comparison)",
         "compare, compare(method=), compare.from_joint", _NUMBERS),
        ("Section 3", "the algorithm for all conditions in O(n ln n)", "CostCurve.band, compare(pc=)",
         _tests("tests/decisions/test_all_pairs.py")),
        ("Section 4, equations 9 and 10", "full sampling",
         "CostCurve.band(sampling=), CostCurve.distribution", _NUMBERS),
        ("Section 4", "normalization by the largest cost, c_max (`per_largest_cost` of a band, or of a comparison's)",
         "CostCurve.band(sampling=), compare(sampling=)", _NUMBERS),
        ("Section 4, equations 11 to 13", "exact bootstrap of a difference, full sampling", "compare(sampling=)",
         _NUMBERS),
        ("Section 5, figure 2", "coverage and the spread of scores", "coverage, CoverageDisplay",
         _rows("spread-2008", "Figure 2; Figures 2 and 5")),
        ("Section 5, figure 3", "coverage and the size of the test set", "coverage, CoverageDisplay",
         _rows("size-2008", "Figure 3")),
        ("Section 5, figure 4", "coverage of differences", "difference_coverage, CoverageDisplay",
         _rows("difference-2008", "Figure 4; Figures 4 and 6")),
        ("Section 5, figure 5", "coverage of full sampling", "coverage(sampling=), CoverageDisplay",
         _rows("spread-2008", "Figure 5")),
        ("Section 5, figure 6", "coverage of differences with full sampling", "difference_coverage, CoverageDisplay",
         _rows("difference-2008; figure6-2008", "Figure 6")),
        ("Section 6", "resampling instead of exact distributions", "CostCurve.band(n_resamples=)",
         _tests("tests/inference/test_bands.py")),
        ("Section 6", "thresholds from a finite validation set", "coverage(validation=), CostCurve.threshold_set",
         _rows("validation-2008", "Section 6")),
        ("Sections 6 and 7", "thresholds within the range of the scores", "coverage(within_scores=)",
         _rows("validation-2008", "Section 7")),
        ("Section 7", "extrapolating the distributions of scores, future work of the paper", "fit_binormal",
         _tests("tests/curves/test_binormal.py", "its use for limits; ours do not assume a distribution")),
        ("Table 1", "which equations and figures belong to which sampling",
         "CostCurve.band(sampling=), compare(sampling=)", _NUMBERS),
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
            ", ".join(f"`{call}`" for call in one.calls),
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
