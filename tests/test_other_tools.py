"""What the page "From other tools" says of them: each cell of its table that claims something is shown by a call."""

from __future__ import annotations

import csv
import importlib
import re
from collections.abc import Callable, Iterator
from importlib.metadata import version
from typing import Any

import numpy as np
import pytest

import costcurves as cc
from doc_blocks import ROOT
from r_bridge import run_r
from weka_bridge import columns, doubles, field, predictions, start_weka

TEXT = (ROOT / "docs" / "from-other-tools.md").read_text(encoding="utf-8")
NOTHING = "–"


def read_table() -> dict[tuple[str, str], str]:
    """Return the cells of the page's last table by what they are about and whose they are."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in TEXT.split("## What each tool offers")[1].splitlines()
        if line.startswith("|")
    ]
    tools = rows[0][1:]
    return {(row[0], tool): cell for row in rows[2:] for tool, cell in zip(tools, row[1:], strict=True)}


TABLE = read_table()
with cc.example_path("german_credit_scores.csv").open(newline="", encoding="utf-8") as file:
    ROWS = list(csv.DictReader(file))
BAD = np.array([row["label"] == "bad" for row in ROWS])
FOREST, TREE = (np.array([float(row[name]) for row in ROWS]) for name in ("forest", "tree"))
HERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)

PYTHON: dict[tuple[str, str], Callable[[], Any]] = {}


def cell(row: str, tool: str) -> Callable[[Callable[[], Any]], Callable[[], Any]]:
    """Register what shows that a tool has something."""

    def keep(shown: Callable[[], Any]) -> Callable[[], Any]:
        PYTHON[row, tool] = shown
        return shown

    return keep


@cell("ROC curve", "scikit-learn")
def sklearn_roc() -> None:
    from sklearn.metrics import roc_curve

    fpr, tpr, _ = roc_curve(BAD, FOREST, drop_intermediate=False)
    ours = cc.RocCurve.from_predictions(BAD, FOREST)
    assert np.array_equal(fpr, ours.fpr)
    assert np.array_equal(tpr, ours.tpr)


@cell("best threshold for given costs", "scikit-learn")
def sklearn_threshold() -> None:
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import TunedThresholdClassifierCV

    def gain(y_true: Any, y_pred: Any) -> float:
        return -float(np.sum(y_pred & ~y_true) + 5 * np.sum(~y_pred & y_true))

    tuned = TunedThresholdClassifierCV(
        LogisticRegression(), scoring=make_scorer(gain), cv=3, store_cv_results=True
    ).fit(FOREST[:, None], BAD)
    assert len(tuned.cv_results_["thresholds"]) == 100  # the grid
    steps = np.diff(tuned.cv_results_["thresholds"])
    assert np.allclose(steps, steps[0])


@cell("smoothed or partial curves", "scikit-learn")
def sklearn_partial() -> None:
    from sklearn.metrics import roc_auc_score

    assert roc_auc_score(BAD, FOREST, max_fpr=0.2) != roc_auc_score(BAD, FOREST)


@cell("cost-sensitive training", "scikit-learn")
def sklearn_weights() -> None:
    from sklearn.tree import DecisionTreeClassifier

    plain, weighted = (
        DecisionTreeClassifier(max_depth=2, class_weight=weight).fit(TREE[:, None], BAD).predict(TREE[:, None])
        for weight in (None, {False: 1, True: 5})
    )
    assert weighted.sum() > plain.sum()


@cell("net benefit", "dcurves")
def dcurves_net_benefit() -> None:
    import pandas as pd
    from dcurves import dca

    found = dca(pd.DataFrame({"bad": BAD.astype(int), "forest": FOREST}), "bad", ["forest"], thresholds=[0.2])
    theirs = found.set_index("model").loc["forest", "net_benefit"]
    ours = cc.CostCurve.from_predictions(BAD, FOREST, policy="bayes").net_benefit(0.2)
    assert theirs == pytest.approx(ours, abs=1e-12)


@cell("survival outcomes", "dcurves")
def dcurves_survival() -> None:
    import pandas as pd
    from dcurves import dca

    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"bad": BAD.astype(int), "forest": FOREST, "years": rng.exponential(2, BAD.size)})
    found = dca(frame, "bad", ["forest"], thresholds=[0.2], time=1.0, time_to_outcome_col="years")
    assert np.isfinite(found.set_index("model").loc["forest", "net_benefit"])


@cell("ROC convex hull", "empulse")
def empulse_hull() -> None:
    from empulse.metrics._cy_convex_hull import convex_hull  # not public

    assert callable(convex_hull)


@cell("best threshold for given costs", "empulse")
def empulse_threshold() -> None:
    from empulse.metrics import CostMatrix, MaxProfit, Metric

    metric = Metric(CostMatrix().add_fp_cost(1).add_fn_cost(5), MaxProfit())
    assert metric.optimal_threshold(BAD.astype(int), FOREST) == pytest.approx(
        cc.RocHull.from_predictions(BAD, {"forest": FOREST}).best(HERE).threshold
    )


@cell("costs or prevalence as ranges", "empulse")
def empulse_distribution() -> None:
    import sympy
    import sympy.stats
    from empulse.metrics import CostMatrix, MaxProfit, Metric

    miss = sympy.stats.Uniform("miss", 3, 8)
    spread = Metric(CostMatrix().add_fp_cost(1).add_fn_cost(miss), MaxProfit())
    fixed = Metric(CostMatrix().add_fp_cost(1).add_fn_cost(5.5), MaxProfit())
    gains = [metric(BAD.astype(int), FOREST) for metric in (spread, fixed)]
    assert gains[0] == pytest.approx(gains[1], rel=0.05)
    assert gains[0] != gains[1]


@cell("costs of each case", "empulse")
def empulse_case_costs() -> None:
    from empulse.metrics import cost_loss

    amount = np.arange(BAD.size) % 7 + 1.0
    alarm = (FOREST >= 0.2).astype(int)
    theirs = cost_loss(BAD.astype(int), alarm, fp_cost=1, fn_cost=amount)
    assert theirs == pytest.approx(np.sum(np.where(BAD, (1 - alarm) * amount, alarm)))
    ours = cc.example_cost(BAD, FOREST, cost_fp=1, cost_fn=amount, policy=0.2)
    assert theirs / BAD.size == pytest.approx(ours.estimate)


@cell("cost-sensitive training", "empulse")
def empulse_training() -> None:
    from empulse.models import CSLogitClassifier

    fitted = CSLogitClassifier(fp_cost=1, fn_cost=5).fit(FOREST[:, None], BAD.astype(int))
    assert fitted.predict(FOREST[:, None]).shape == BAD.shape


def test_the_versions_of_python_packages_are_those_that_the_page_names():
    for name in ("scikit-learn", "dcurves", "hmeasure", "empulse"):
        assert f"{name} {version(name)}" in " ".join(TEXT.split()), name


@pytest.mark.parametrize("key", list(PYTHON), ids=" - ".join)
@pytest.mark.filterwarnings("default")  # of other people's code, and only there
def test_a_python_package_has_what_the_table_says(key):
    PYTHON[key]()


# Expressions of `label` and `score` that are TRUE; `roc`, `second` and `p` are made below.
R = {
    ("ROC curve", "pROC"): "length(coords(roc, 'all', transpose = FALSE)$threshold) > 100",
    ("best threshold for given costs", "pROC"): (
        "abs(coords(roc, 'best', best.weights = c(5, 0.3), transpose = FALSE)$threshold - 0.211219) < 5e-7"
    ),
    ("interval of the area", "pROC"): "diff(as.numeric(ci.auc(roc))[c(1, 3)]) > 0",
    ("interval of sensitivity at a specificity", "pROC"): (
        "{set.seed(1); i <- ci.se(roc, specificities = 0.9, boot.n = 200, progress = 'none'); i[1] < i[3]}"
    ),
    ("paired test of areas", "pROC"): "roc.test(roc, second, paired = TRUE)$p.value < 1",
    ("test size by cost", "pROC"): "power.roc.test(auc = 0.8, power = 0.9)$ncases > 1",
    ("smoothed or partial curves", "pROC"): (
        "inherits(smooth(roc), 'smooth.roc') && auc(roc, partial.auc = c(1, 0.8)) < auc(roc)"
    ),
    ("ROC curve", "ROCR"): "length(performance(p, 'tpr', 'fpr')@x.values[[1]]) > 100",
    ("ROC convex hull", "ROCR"): "length(performance(p, 'rch')@x.values[[1]]) < 30",
    ("best threshold for given costs", "ROCR"): (
        "{k <- performance(p, 'cost', cost.fp = 1, cost.fn = 5); i <- which.min(k@y.values[[1]]);"
        "abs(k@x.values[[1]][i] - 0.211365) < 5e-7 && abs(k@y.values[[1]][i] - 0.517) < 1e-12}"
    ),
    ("cost curve", "ROCR"): "{e <- performance(few, 'ecost'); max(e@y.values[[1]]) <= 0.5}",
    ("smoothed or partial curves", "ROCR"): "performance(p, 'auc', fpr.stop = 0.2)@y.values[[1]] < 0.2",
}


@pytest.fixture(scope="module")
def r_cells() -> dict[tuple[str, str], bool]:
    said = ",\n".join(f"c{place} = as.numeric({expression})" for place, expression in enumerate(R.values()))
    program = f"""function(label, score) {{
      make <- function(s) pROC::roc(label, s, levels = c(0, 1), direction = "<", quiet = TRUE)
      roc <- make(score); second <- make(score + 0.1 * sin(seq_along(score)))
      p <- prediction(score, label); few <- prediction(score[1:60], label[1:60])
      list({said})
    }}"""
    (found,) = run_r(program, [(BAD.tolist(), FOREST.tolist())])
    return {key: found[f"c{place}"] == [1.0] for place, key in enumerate(R)}


@pytest.mark.parametrize("key", list(R), ids=" - ".join)
def test_an_r_package_has_what_the_table_says(r_cells, key):
    assert r_cells[key]


def test_the_r_numbers_of_the_page_come_out():
    from_r = """function(label, score) {
      even <- seq_along(score) %% 2 == 0
      make <- function(s, l) pROC::roc(l, s, levels = c(0, 1), direction = "<", quiet = TRUE)
      roc <- make(score[!even], label[!even]); second <- make(score[even], label[even])
      best <- coords(roc, "best", best.weights = c(5, 0.3), transpose = FALSE)
      test <- roc.test(roc, second, paired = TRUE)
      set.seed(1); se <- ci.se(roc, specificities = 0.9, boot.n = 2000, progress = "none")
      list(best = as.numeric(best), z = as.numeric(test$statistic), p = test$p.value, se = as.numeric(se))
    }"""
    # The two classifiers' scores take turns.
    (found,) = run_r(from_r, [(np.repeat(BAD, 2).tolist(), np.column_stack([FOREST, TREE]).ravel().tolist())])
    page = " ".join(TEXT.split())
    threshold, specificity, sensitivity = found["best"]
    assert f"({threshold:.6f}), a specificity of {specificity:.4f} and a sensitivity of {sensitivity:.4f}" in page
    assert f"Z = {found['z'][0]:.1f} and p = {found['p'][0]:.1e}" in page
    assert [round(found["se"][place], 2) for place in (0, 2)] == pytest.approx([0.39, 0.55], abs=0.015)
    assert "gave an interval of 0.39 to 0.55, with 2000 replicates" in page


@pytest.fixture(scope="module")
def weka() -> Iterator[Any]:
    with start_weka() as gateway:
        yield gateway


WEKA = {
    "ROC curve",
    "best threshold for given costs",
    "cost curve",
    "paired test of areas",
    "paired test of costs, at one or all conditions",
    "k classes with a cost matrix",
    "costs of each case",
    "cost-sensitive training",
}


def test_weka_gives_the_ends_of_every_cost_line(weka):
    packages = weka.jvm.weka
    few = slice(0, 300)
    listed = predictions(weka, BAD[few].tolist(), FOREST[few].tolist())
    curve = packages.classifiers.evaluation.CostCurve().getCurve(listed, 1)
    x, y = columns(curve, "Probability Cost Function", "Normalized Expected Cost")
    ours = cc.RocCurve.from_predictions(BAD[few], FOREST[few])
    assert x == [0.0, 1.0] * (len(x) // 2)
    theirs = {(round(a, 9), round(b, 9)) for a, b in zip(y[::2], y[1::2], strict=True)}
    lines = {(round(a, 9), round(1 - b, 9)) for a, b in zip(ours.fpr, ours.tpr, strict=True)}
    assert theirs == lines
    roc = packages.classifiers.evaluation.ThresholdCurve().getCurve(listed, 1)
    assert packages.classifiers.evaluation.ThresholdCurve.getROCArea(roc) == pytest.approx(ours.auc())


def test_weka_takes_costs_of_a_matrix_and_costs_that_depend_on_the_case(weka):
    packages = weka.jvm.weka
    matrix = packages.classifiers.CostMatrix.parseMatlab("[0 1 20; 1 0 5; 50 10 0]")
    found = matrix.expectedCosts(doubles(weka, [0.7, 0.2, 0.1]))
    costs = np.array([[0, 1, 20], [1, 0, 5], [50, 10, 0]])
    assert list(found) == pytest.approx(np.array([0.7, 0.2, 0.1]) @ costs)
    # A miss costs what stands in the first column of the case.
    each = packages.classifiers.CostMatrix.parseMatlab("[0 1; a1 0]")
    amount = packages.core.Instance(1.0, doubles(weka, [700.0, 0.0]))
    assert list(each.expectedCosts(doubles(weka, [0.99, 0.01]), amount)) == pytest.approx([7.0, 0.99])


def test_weka_trains_with_costs(weka):
    packages = weka.jvm.weka
    loader = packages.core.converters.CSVLoader()
    loader.setSource(weka.jvm.java.io.File(str(cc.example_path("german_credit_scores.csv"))))
    data = loader.getDataSet()
    data.setClassIndex(0)
    bad = data.classAttribute().indexOfValue("bad")
    matrix = packages.classifiers.CostMatrix(2)
    matrix.setElement(bad, 1 - bad, 5.0)
    plain = packages.classifiers.trees.J48()
    plain.buildClassifier(data)

    def alarms(classifier: Any) -> int:
        return sum(classifier.classifyInstance(data.instance(place)) == bad for place in range(0, 1000, 10))

    # It reweights the examples, or moves the threshold to where the given costs want it.
    for cheapest in (False, True):
        learner = packages.classifiers.meta.CostSensitiveClassifier()
        learner.setClassifier(packages.classifiers.trees.J48())
        learner.setCostMatrix(matrix)
        learner.setMinimizeExpectedCost(cheapest)
        learner.buildClassifier(data)
        assert alarms(learner) > alarms(plain)


def test_weka_compares_costs_and_areas_over_folds(weka):
    experiment = weka.jvm.weka.experiment
    assert "Area_under_ROC" in list(experiment.ClassifierSplitEvaluator().getResultNames())
    assert "Average_cost" in list(experiment.CostSensitiveClassifierSplitEvaluator().getResultNames())
    # The test of each of these, paired by fold, corrected for folds that share their training examples.
    difference = experiment.PairedStatsCorrected(0.05, 0.1)
    difference.add(doubles(weka, [0.5, 0.6, 0.7, 0.4]), doubles(weka, [0.4, 0.45, 0.5, 0.2]))
    difference.calculateDerived()
    assert 0 < field(difference, "differencesProbability") < 0.1


OURS = {
    "ROC curve": "RocCurve",
    "ROC convex hull": "RocCurve.on_hull",
    "hull of several classifiers, with owners": "RocHull",
    "best threshold for given costs": "RocHull.best",
    "costs or prevalence as ranges": "RocHull.within",
    "cost curve": "CostCurve",
    "net benefit": "CostCurve.net_benefit",
    "interval of a cost": "CostCurve.band",
    "paired test of costs, at one or all conditions": "compare",
    "k classes with a cost matrix": "bcost",
    "costs of each case": "example_cost",
    "test size by cost": "plan_test_size",
}


def test_costcurves_has_what_the_table_says():
    for name in OURS.values():
        found: Any = cc
        for part in name.split("."):
            found = getattr(found, part)
        assert callable(found)


def test_every_cell_that_claims_something_is_shown_here_and_nothing_else_is():
    shown = {*PYTHON, *R, *((row, "Weka") for row in WEKA), *((row, "costcurves") for row in OURS)}
    assert {key for key, said in TABLE.items() if said != NOTHING} == shown


@pytest.mark.parametrize(
    ("module", "words"),
    [
        ("sklearn.metrics", "hull|cost|benefit|delong|interval|power"),
        ("sklearn.model_selection", "hull|cost|benefit"),
        ("dcurves", "roc|hull|auc|cost"),
        ("empulse.metrics", "roc|hull|interval|curve|delong|power_|net_benefit"),
    ],
)
def test_a_python_package_has_no_public_name_of_what_the_table_denies(module, words):
    names = [name for name in dir(importlib.import_module(module)) if not name.startswith("_")]
    found = {name for name in names if re.search(words, name.lower())}
    # They are what the table has: a curve, its area and its picture.
    assert found <= {"roc_curve", "roc_auc_score", "RocCurveDisplay"}
