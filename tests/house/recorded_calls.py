"""Named calls over the whole public API, whose answers are recorded in recorded_answers.json.

``cd tests && python -m house.recorded_calls`` records them again. Do that only for a change that is meant to change
answers, and read the difference: there is one line per call.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import os
import tempfile
import warnings
import zlib
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import costcurves as cc
from displays_data import CASES, estimators, many_classes, three_classes
from worlds import ALL_TIED, PERFECT, REVERSED, TWO

ANSWERS = Path(__file__).with_name("recorded_answers.json")

# Data -------------------------------------------------------------------------------------------------------

rng = np.random.default_rng(17)
N = 240
Y = (rng.random(N) < 0.35).astype(int)
A = (Y + rng.normal(0, 0.9, N)).round(1)  # ties
B = Y * rng.gamma(1.5, 1.0, N) + rng.normal(0, 0.6, N)
P = 1 / (1 + np.exp(1.5 - 2 * A))
Q = 1 / (1 + np.exp(1 - B))
W = rng.integers(1, 4, N).astype(float)
folds = np.arange(N) % 4
BOTH, THREE = {"a": A, "b": B}, {"a": A, "b": B, "c": rng.normal(0, 1, N) + 0.5 * Y}
WORDS = np.where(Y == 1, "yes", "no")
PCS = [0.05, 0.3, 0.5, 0.8]
AMOUNTS = rng.gamma(2, 30, N).round(2)

HERE = cc.OperatingCondition(prevalence=0.2, cost_fp=1, cost_fn=6)
SPAN = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=(1, 2), cost_fn=(3, 8))
POINT = cc.RocCurve.from_rates(0.1, 0.6, name="point")
ROC = {name: cc.RocCurve.from_predictions(Y, s, name=name) for name, s in THREE.items()}
COST = {name: cc.CostCurve(curve) for name, curve in ROC.items()}
HULL = cc.RocHull(list(ROC.values()))
PARTS = [cc.RocCurve.from_predictions(Y[folds == k], B[folds == k], name=f"part {k}") for k in range(4)]
POLICIES = {
    "optimal": "optimal",
    "bayes": "bayes",
    "fixed": 0.5,
    "validation": cc.thresholds.validation(cc.RocCurve.from_predictions(Y[::2], P[::2])),
}
BAYES = cc.CostCurve.from_predictions(Y, P, policy="bayes")

PRICES = cc.CostMatrix([[0, 1, 2], [3, 0, 1], [5, 4, 0]], labels=["x", "y", "z"])
TRUTH, GUESSES = three_classes()
TABLES = {name: cc.ConfusionMatrix.from_predictions(TRUTH, g, labels=PRICES.labels) for name, g in GUESSES.items()}
TABLE = TABLES["first"]
JOINT = cc.JointConfusion.from_predictions(TRUTH, *GUESSES.values(), labels=PRICES.labels)
ERRORS = [[0, 1], [5, 0]]
PILOT = [[[45, 2], [3, 0]], [[0, 5], [9, 36]]]
RULES = [[90, 10], [4, 16]]
CREDIT, VEHICLES = cc.example_path("german_credit_scores.csv"), cc.example_path("vehicle_predictions.csv")


@cache
def frame() -> Any:
    """Return the rows as a pandas frame."""
    import pandas as pd

    return pd.DataFrame({"y": WORDS, "a": A, "b": B, "w": W})


@cache
def predictions(**options: Any) -> cc.Predictions:
    """Return the rows as `Predictions`."""
    return cc.Predictions(Y, THREE, **options)


@cache
def in_folds() -> cc.Predictions:
    """Return the rows with their folds, as a cross-validation has them."""
    return cc.Predictions(Y, BOTH, folds=folds)


def scanned(**options: Any) -> cc.Scan:
    """Return the shipped scores as files."""
    return cc.scan(CREDIT, label="label", scores=["forest", "tree"], pos_label="bad", **options)


def vehicles() -> cc.Scan:
    """Return the shipped predictions of four classes as files."""
    return cc.scan(VEHICLES, label="label", predictions=["logit", "forest"])


def logged(**options: Any) -> Any:
    """Return the rows as they would be read from the logs of an LLM evaluation, with two answers to each sample."""
    lines = [
        {"doc_id": i, "target": word, "resps": [[a, b]]} for i, (word, a, b) in enumerate(zip(WORDS, A, B, strict=True))
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples_recorded.jsonl"
        path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
        return cc.read_eval_logs({"model": path}, label="target", score="resps.0", pos_label="yes", **options)


def toll() -> cc.CostMatrix:
    """Return the shipped cost matrix."""
    return cc.read_scenarios(cc.example_path("vehicle_costs.toml")).matrix("toll")


def tallied(tally: Any, scores: Any = B) -> Any:
    """Return the tally after all rows, given to two halves that are merged."""
    half = N // 2
    return tally.update(Y[:half], scores[:half]).merge(tally.empty().update(Y[half:], scores[half:]))


def in_passes(tally: Any) -> Any:
    """Return a tally of hulls after as many passes as it wants."""
    tally = tally.update(Y, B)
    while not tally.finished:
        tally = tally.next_pass().update(Y, B)
    return tally


def fitted(kind: Any, members: Any, *arguments: Any, **options: Any) -> Any:
    """Return an estimator of the package, fitted to data of two classes."""
    X, y, *_ = estimators()
    return kind(members, *arguments, **options).fit(X, y)


def picture(name: str, **options: Any) -> Any:
    """Return what a display draws."""
    import matplotlib as mpl

    mpl.use("agg")
    from matplotlib import pyplot as plt

    with cc.figure_style():
        display = CASES[name].make(**options)
    lines = {f"{i} {line.get_label()}": line.get_xydata() for i, line in enumerate(display.ax_.lines)}
    plt.close("all")
    return {"names": display.names, "lines": lines, "limits": [*display.ax_.get_xlim(), *display.ax_.get_ylim()]}


def command(*arguments: str) -> Any:
    """Return the exit code of a command, and its answer in JSON."""
    from costcurves.cli import main

    out = io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(io.StringIO()):
        code = main([*arguments, "--json"])
    return {"code": code, "answer": json.loads(out.getvalue() or "null")}


def hull_file(*show: str) -> Any:
    """Return the answers of `hull add` and `hull show` on a new file."""
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "hull.json")
        added = command("hull", "add", path, "example:german_credit", "--positive", "bad")
        added["answer"].pop("hull", None)  # the file, which lies elsewhere each time
        shown = command("hull", "show", path, *show)
        shown["answer"].pop("hull", None)
        return [added, shown]


def reported(report: Any) -> Any:
    """Return the numbers of a report, without the sentences and pictures of its page."""
    return {name: value for name, value in report.to_dict().items() if name != "page"}


# Calls ------------------------------------------------------------------------------------------------------

MONEY = ("--prevalence", "0.3", "--cost-fn", "5", "--cost-fp", "1")
EXAMPLE = ("example:german_credit", "--positive", "bad")
TOLL = ("example:vehicle", "--costs", "example:vehicle")
X, LABELS, MODELS, RESULTS = estimators()
X3, LABELS3, MODELS3, _ = many_classes()

CALLS: dict[str, Callable[[], Any]] = {
    # Conditions and cost matrices
    "condition": lambda: HERE,
    "condition of a pc": lambda: cc.OperatingCondition.from_pc(0.3, prevalence=0.1),
    "condition of a matrix": lambda: cc.OperatingCondition.from_cost_matrix([[-1, 2], [10, 1]], prevalence=0.2),
    "condition, moved": lambda: [HERE.with_pc(0.7, by="prevalence"), HERE.with_pc(0.7, by="cost_fp")],
    "condition, money": lambda: [HERE.money(0.2), HERE.pc_at_cost_ratio(3.0), HERE.pc_at_prevalence(0.5)],
    "range": lambda: SPAN,
    "range of pc": lambda: cc.OperatingRange.from_pc(0.2, 0.6),
    "range contains": lambda: [SPAN.contains(HERE), SPAN.contains(cc.OperatingCondition(0.9, 1, 5))],
    "beta": lambda: cc.Beta(2, 5),
    "bayes threshold": lambda: [cc.bayes_threshold(HERE), cc.bayes_threshold(HERE, calibrated_at=0.5)],
    "cost matrix": lambda: [PRICES, PRICES.T, PRICES.cost("x", "z")],
    "cost matrix of two": lambda: cc.CostMatrix(ERRORS, labels=["no", "yes"]).error_costs("yes"),
    **{
        f"cost model {model}": lambda model=model: cc.cost_models(model, {"a": 0.2, "b": 0.3, "c": 0.5}, rng=1)
        for model in ("M1", "M3", "M6", "M7", "M9")
    },
    "expected cost": lambda: cc.expected_cost(TRUTH, GUESSES["first"], PRICES),
    "expected cost, weighted": lambda: cc.expected_cost(
        TRUTH, GUESSES["first"], PRICES, sample_weight=np.arange(1, 201)
    ),
    "minimum cost predictions": lambda: cc.minimum_cost_predictions(
        [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1], [1, 0, 0]], PRICES
    ),
    "scenarios": lambda: cc.read_scenarios(cc.example_path("german_credit_costs.toml")),
    "scenario": lambda: cc.read_scenarios(cc.example_path("german_credit_costs.toml")).scenario("uncertain"),
    "scenarios with a matrix": lambda: cc.read_scenarios(cc.example_path("vehicle_costs.toml")),
    # Confusion matrices
    "confusion": lambda: TABLE,
    "confusion of a table": lambda: cc.ConfusionMatrix.from_table(RULES, ["no", "yes"]),
    "confusion, aligned": lambda: TABLE.aligned(["z", "x", "y"]),
    "joint confusion": lambda: JOINT,
    "joint confusion of a table": lambda: cc.JointConfusion.from_table(PILOT),
    "joint confusion, both": lambda: [JOINT.first, JOINT.second],
    # ROC curves
    **{
        f"roc, {name}": lambda data=data: cc.RocCurve.from_predictions(*data)
        for name, data in {"perfect": PERFECT, "reversed": REVERSED, "tied": ALL_TIED, "two": TWO}.items()
    },
    "roc": lambda: ROC["a"],
    "roc of words": lambda: cc.RocCurve.from_predictions(WORDS, B, pos_label="yes", name="words"),
    "roc, weighted": lambda: cc.RocCurve.from_predictions(Y, A, sample_weight=W),
    "roc, hull points": lambda: cc.RocCurve.from_predictions(Y, B, points="hull"),
    "roc, hull points weighted": lambda: cc.RocCurve.from_predictions(Y, B, points="hull", sample_weight=W),
    "roc of a matrix": lambda: cc.RocCurve.from_confusion_matrix(RULES),
    "roc of rates": lambda: cc.RocCurve.from_rates([0.1, 0.3], [0.6, 0.9], thresholds=[2, 1]),
    "roc of a frame": lambda: cc.RocCurve.from_frame(frame(), label="y", score="a", weight="w", pos_label="yes"),
    "roc on its hull": lambda: ROC["b"].on_hull(),
    "roc, points": lambda: [ROC["a"].at([3, 5]), ROC["a"].index_of(np.array([0.5])), ROC["a"].score_below(0.5)],
    "roc, exact": lambda: [str(rate) for rate in ROC["a"].exact_rates(5)],
    "auc": lambda: [curve.auc() for curve in ROC.values()],
    "pooled": lambda: cc.pool_examples(PARTS),
    "averaged roc": lambda: cc.average_roc_curves(PARTS, n_points=20, interval="binomial"),
    "averaged roc, as a curve": lambda: [
        (mean := cc.average_roc_curves(PARTS, n_points=9, interval="binomial", level=0.9)).to_roc_curve(),
        mean.auc(),
    ],
    # Cost curves
    **{
        f"cost curve, {name}": lambda policy=policy: cc.CostCurve.from_predictions(Y, P, policy=policy)
        for name, policy in POLICIES.items()
    },
    **{
        f"cost curve, {name}, at": lambda policy=policy: (
            lambda c: [c.evaluate(PCS), c.cuts_at(PCS), c.errors_at(PCS), c.step_at(PCS), c.trivial_at(PCS), c.area()]
        )(cc.CostCurve.from_predictions(Y, P, policy=policy))
        for name, policy in POLICIES.items()
    },
    "cost curve, weighted": lambda: cc.CostCurve.from_predictions(Y, A, sample_weight=W),
    "cost curve of a frame": lambda: cc.CostCurve.from_frame(frame(), label="y", score="b", pos_label="yes"),
    "cost curve, vertices": lambda: COST["a"].vertices,
    "expected cost of a curve": lambda: COST["a"].expected_cost(HERE),
    "threshold": lambda: [COST["b"].threshold_at(pc) for pc in PCS],
    "area": lambda: [COST["a"].area((0.2, 0.6)), COST["a"].area((0, 1), weight=cc.Beta(2, 2))],
    "auc of a cost curve": lambda: COST["b"].auc(),
    "brier score": lambda: BAYES.brier_score(),
    "h measure": lambda: [COST["b"].h_measure(), COST["b"].h_measure(severity=cc.Beta(2, 3))],
    "net benefit": lambda: [BAYES.net_benefit(0.3), BAYES.net_benefit(0.3, prevalence=0.1)],
    "net benefit, recalibrated": lambda: BAYES.recalibrated_net_benefit(0.3, prevalence=0.1),
    "lines": lambda: [COST["a"].lines(), COST["a"].lines().evaluate(0.4)],
    "operating range": lambda: [curve.operating_range() for curve in COST.values()],
    "better than": lambda: COST["a"].better_than(COST["b"]),
    "crossings": lambda: COST["a"].crossings(COST["b"]),
    "average cost": lambda: cc.average_cost_curves(PARTS),
    "distribution": lambda: [
        (d := COST["a"].distribution(0.4)),
        d.cdf([0.2, 0.25]),
        d.quantile([0.05, 0.5, 0.95]),
        d.sample(3, rng=1),
    ],
    "distribution, full": lambda: COST["b"].distribution(HERE, sampling="full", laplace=0.5),
    # Bands
    **{
        f"band, {method}, {sampling}": lambda method=method, sampling=sampling: COST["a"].band(
            method=method, sampling=sampling, pc=PCS, rng=3, n_resamples=300
        )
        for method in ("wilson", "gaussian", "exact", "resample")
        for sampling in ("stratified", "full")
    },
    "band": lambda: COST["b"].band(),
    "band, weighted": lambda: cc.CostCurve.from_predictions(Y, A, sample_weight=W).band(pc=PCS),
    "band, simultaneous": lambda: BAYES.band(simultaneous=True, pc=PCS, rng=2),
    "band of a line": lambda: cc.CostCurve(cc.RocCurve.from_confusion_matrix(RULES)).band(simultaneous=True, pc=PCS),
    "band, reoptimised": lambda: COST["b"].band(reoptimise=True, method="resample", n_resamples=200, rng=1, pc=PCS),
    "band, uncertain prevalence": lambda: COST["a"].band(
        sampling="full", method="gaussian", prevalence_uncertainty=cc.Beta(20, 60), pc=PCS
    ),
    "band at": lambda: [COST["a"].band(pc=PCS).at(0.3), COST["a"].band(level=0.9).at(HERE)],
    "average band": lambda: cc.average_band([cc.CostCurve(part, policy=0.4) for part in PARTS], pc=PCS),
    "average band, between": lambda: cc.average_band(PARTS, kind="between", given_choice=True, pc=PCS),
    "average band, within": lambda: cc.average_band(PARTS, kind="within", given_choice=True, pc=PCS),
    # Hulls and choices
    "hull": lambda: HULL,
    "hull of predictions": lambda: cc.RocHull.from_predictions(Y, THREE),
    "hull, weighted": lambda: cc.RocHull.from_predictions(Y, THREE, sample_weight=W),
    "hull, hull points": lambda: cc.RocHull.from_predictions(WORDS, THREE, pos_label="yes", points="hull"),
    "hull of a frame": lambda: cc.RocHull.from_frame(frame(), label="y", scores=["a", "b"], pos_label="yes"),
    "hull, one more": lambda: HULL.add(POINT),
    "hull, json": lambda: json.loads(HULL.to_json()),
    "hull of json": lambda: cc.RocHull.from_json_text(HULL.to_json()),
    "hull, best": lambda: [HULL.best(pc) for pc in PCS],
    "hull, best for money": lambda: HULL.best(HERE),
    "hull, tie": lambda: HULL.best(float(HULL.breaks[1])),
    "hull, runner-up": lambda: HULL.best(HERE).runner_up,
    "hull, evaluate": lambda: HULL.evaluate([0, *PCS, 1]),
    "hull, ranges": lambda: HULL.ranges(),
    "hull, within": lambda: HULL.within(SPAN),
    "hull, where": lambda: HULL.ranges().where("b"),
    "hull, segment": lambda: HULL.segment(SPAN),
    "hull, interpolate": lambda: [HULL.interpolate(fpr=0.2), HULL.interpolate(tpr=0.7)],
    "hull as a curve": lambda: HULL.to_roc_curve(),
    "hull, points of one": lambda: HULL.points_of("b"),
    "hull, limited fpr": lambda: [HULL.best_at_fpr(0.1), HULL.best_at_fpr(0.0)],
    "hull, limited tpr": lambda: HULL.best_at_tpr(0.9),
    "hull, capacity": lambda: HULL.best_at_capacity(alarms=10, population=100, prevalence=0.1),
    "hull, precision": lambda: HULL.best_at_precision(0.7, prevalence=0.2),
    "hull, guaranteed fpr": lambda: HULL.best_at_fpr(0.1, confidence=0.9),
    "hull, guaranteed tpr": lambda: HULL.best_at_tpr(0.8, confidence=0.95),
    "hull, guaranteed precision": lambda: HULL.best_at_precision(0.6, prevalence=0.3, confidence=0.9),
    # Comparisons
    "compare": lambda: cc.compare(Y, A, B),
    "compare, significant": lambda: cc.compare(Y, A, THREE["c"], pc=PCS).significant(),
    **{
        f"compare, {method}": lambda method=method: cc.compare(Y, A, B, method=method, pc=PCS)
        for method in ("mid-p", "score", "agresti-min", "bonett-price", "gaussian")
    },
    "compare, resample": lambda: cc.compare(
        Y, A, B, method="resample", simultaneous=False, pc=PCS, rng=1, n_resamples=300
    ),
    "compare, exact": lambda: cc.compare(Y, A, B, method="exact", simultaneous=False, pc=PCS),
    "compare, full": lambda: cc.compare(Y, A, B, method="gaussian", sampling="full", simultaneous=False, pc=PCS),
    "compare, pointwise": lambda: cc.compare(Y, A, B, simultaneous=False, pc=PCS, level=0.9),
    "compare, weighted": lambda: cc.compare(Y, A, B, sample_weight=W, pc=PCS),
    "compare, bayes": lambda: cc.compare(WORDS, P, Q, pos_label="yes", policy="bayes", pc=PCS),
    "compare, fixed": lambda: cc.compare(Y, P, Q, policy=0.4, pc=PCS),
    "compare, reversed": lambda: cc.compare(Y, A, B, pc=PCS).reversed(),
    "compare, at": lambda: [cc.compare(Y, A, B, pc=PCS).at(0.3), cc.compare(Y, A, B, pc=PCS).at(HERE)],
    "cross-fitted curve": lambda: cc.CostCurve.from_predictions(Y, A, policy="crossfit"),
    "threshold set": lambda: COST["a"].threshold_set(HERE),
    "thresholds within": lambda: COST["b"].thresholds_within(HERE, tolerance=0.1),
    "promise": lambda: cc.check_promise(cc.recommend(Y, THREE, HERE), Y[::2], {n: s[::2] for n, s in THREE.items()}),
    "compare, cross-fitted": lambda: cc.compare(Y, A, B, pc=PCS, policy="crossfit"),
    "slopes": lambda: [cc.OperatingCondition.from_slope(2).pc, cc.OperatingRange.from_slope(0.5, 2).pc],
    "compare, p-value": lambda: [cc.compare(Y, A, B, pc=PCS).at(pc).p_value for pc in (0.3, 0.5)],
    "compare a frame": lambda: cc.compare.from_frame(
        frame(), label="y", score_a="a", score_b="b", pos_label="yes", pc=PCS
    ),
    "compare a joint table": lambda: cc.compare.from_joint(negatives=[[45, 2], [3, 0]], positives=PILOT[1], pc=PCS),
    "compare many": lambda: cc.compare_many(Y, THREE, pc=PCS),
    "compare many, weighted": lambda: cc.compare_many(Y, THREE, sample_weight=W, pc=PCS),
    "compare many, at": lambda: [cc.compare_many(Y, THREE, pc=PCS).at(0.3), cc.compare_many(Y, THREE, pc=PCS).at(HERE)],
    "compare many, pair": lambda: cc.compare_many(Y, THREE, pc=PCS).pair("c", "a"),
    "dominance": lambda: cc.dominance(list(ROC.values())),
    "binormal fits": lambda: [cc.fit_binormal(ROC["a"]), cc.fit_binormal(ROC["b"], method="least squares")],
    "dominance of other curves": lambda: [
        cc.dominance(COST, over=(0.2, 0.8)),
        cc.dominance({"x": BAYES, "y": HULL, "z": cc.average_roc_curves(PARTS)}),
        cc.dominance(ROC, space="roc", over=(0, 0.2)),
        cc.dominance(ROC, space="points"),
    ],
    "significant dominance": lambda: cc.significant_dominance(Y, THREE, folds=folds, n_points=5),
    "significant dominance in ROC space": lambda: [
        cc.significant_dominance(Y, THREE, folds=folds, space="roc", over=(0, 0.3), n_points=4, n_resamples=100),
        cc.significant_dominance(Y, THREE, folds=folds, space="roc", test="intervals", n_points=4),
    ],
    "significant dominance of composites": lambda: cc.Predictions(Y, THREE, folds=folds).significant_dominance(
        versions={"x": ["a", "b"], "y": "c"}, n_points=4, n_resamples=100
    ),
    "dominates": lambda: [cc.dominates(ROC["a"], ROC["c"]), cc.dominates(ROC["a"], ROC["c"], space="roc")],
    "regret": lambda: cc.regret(ROC["c"], HULL),
    "regret over a range": lambda: cc.regret(COST["a"], HULL, over=SPAN),
    "example cost": lambda: cc.example_cost(Y, P, cost_fp=1, cost_fn=AMOUNTS, policy=0.2),
    "example cost, bayes": lambda: cc.example_cost(Y, P, cost_fp=10, cost_fn=AMOUNTS, policy="bayes", method="t"),
    "compare example cost": lambda: cc.compare_example_cost(Y, P, Q, cost_fp=1, cost_fn=AMOUNTS, policy=0.2),
    "compare example cost, resample": lambda: cc.compare_example_cost(
        Y, P, Q, cost_fp=1, cost_fn=AMOUNTS, policy=0.2, method="resample", rng=1, n_resamples=300
    ),
    # Recommendations and metrics
    "recommend": lambda: cc.recommend(Y, THREE, HERE),
    "recommend, pc": lambda: cc.recommend(WORDS, THREE, 0.4, pos_label="yes", level=0.9),
    "recommend, weighted": lambda: cc.recommend(Y, THREE, HERE, sample_weight=W),
    "recommend, given choice": lambda: cc.recommend(Y, THREE, HERE, given_choice=True),
    "recommend, bayes": lambda: cc.recommend(Y, {"p": P, "q": Q}, HERE, policy="bayes"),
    "recommend, fixed": lambda: cc.recommend(Y, {"p": P, "q": Q}, HERE, policy=0.3),
    "recommend one": lambda: cc.recommend(Y, {"a": A}, HERE),
    "recommend within": lambda: cc.recommend_within(Y, THREE, SPAN),
    "recommend within, rule": lambda: cc.recommend_within(Y, BOTH, SPAN).rule,
    "recommend within, pc": lambda: cc.recommend_within(Y, BOTH, cc.OperatingRange.from_pc(0.2, 0.7)),
    "recommend within, weighted": lambda: cc.recommend_within(Y, BOTH, SPAN, sample_weight=W),
    "recommend within, given choice": lambda: cc.recommend_within(Y, THREE, SPAN, given_choice=True, level=0.9),
    "recommend within, bayes": lambda: cc.recommend_within(Y, {"p": P, "q": Q}, SPAN, policy="bayes"),
    "recommend within, thresholds": lambda: cc.recommend_within(Y, THREE, SPAN).thresholds_between(0.4, 0.6),
    "cost curve area": lambda: [cc.cost_curve_area(Y, A), cc.cost_curve_area(Y, P, over=(0.1, 0.5), policy="bayes")],
    "cost curve area, weighted": lambda: cc.cost_curve_area(Y, A, weight=cc.Beta(2, 3), sample_weight=W),
    "cross-fitted cost": lambda: [cc.cross_fitted_cost(Y, A, HERE), cc.cross_fitted_cost(Y, B, 0.4, sample_weight=W)],
    "normalized expected cost": lambda: cc.normalized_expected_cost(Y, A > 0.5, HERE),
    # Predictions
    "predictions": lambda: predictions(),
    "predictions, arrays": lambda: [predictions().scores, predictions().score("b"), predictions().y_true],
    "predictions of a frame": lambda: cc.Predictions.from_frame(frame(), label="y", scores=["a", "b"], pos_label="yes"),
    "predictions, curves": lambda: [predictions().curves(), predictions().curve("a", policy=0.5)],
    "predictions, roc": lambda: [predictions().roc_curve("a"), predictions().roc_curves(points="hull")],
    "predictions, hull": lambda: predictions().hull(),
    "predictions, compare": lambda: predictions().compare("b", "c", pc=PCS),
    "predictions, compare many": lambda: predictions().compare_many(pc=PCS),
    "predictions, recommend": lambda: predictions().recommend(HERE),
    "predictions, recommend within": lambda: predictions().recommend_within(SPAN),
    "predictions, report": lambda: reported(predictions().report(scenarios={"here": HERE})),
    "folds": lambda: [in_folds(), in_folds().n_folds, in_folds().index],
    "folds, roc": lambda: in_folds().fold_roc_curves("a"),
    "folds, curves": lambda: in_folds().fold_curves("b"),
    "folds, averaged": lambda: in_folds().averaged_curve("a"),
    "folds, averaged roc": lambda: in_folds().averaged_roc("a", n_points=15, interval="binomial"),
    "folds, average band": lambda: in_folds().average_band("a", pc=PCS),
    # k classes
    **{
        f"bcost, {method}": lambda method=method: cc.bcost(
            TRUTH, GUESSES["first"], PRICES, method=method, rng=1, n_resamples=300
        )
        for method in ("exact", "resample")
    },
    "bcost of a table": lambda: cc.bcost.from_confusion(TABLE, PRICES, level=0.9),
    "bcost, priors": lambda: cc.bcost(TRUTH, GUESSES["first"], PRICES, priors=[0.2, 0.3, 0.5]),
    "bcost, priors of a sample": lambda: cc.bcost(
        TRUTH, GUESSES["first"], PRICES, priors=[0.2, 0.3, 0.5], priors_size=100, rng=1, method="exact"
    ),
    "bcost, laplace": lambda: cc.bcost(TRUTH, GUESSES["second"], PRICES, laplace=0.1, method="exact"),
    "bcost, gaussian": lambda: cc.bcost(TRUTH, GUESSES["first"], PRICES, method="gaussian"),
    "bcost, mid-p": lambda: cc.bcost(TRUTH, GUESSES["first"], PRICES, method="mid-p"),
    "bcost, tilted": lambda: cc.bcost(TRUTH, GUESSES["first"], PRICES, method="tilted"),
    **{
        f"bdeltacost, {method}": lambda method=method: cc.bdeltacost(
            TRUTH, *GUESSES.values(), PRICES, method=method, rng=1, n_resamples=300
        )
        for method in ("exact", "resample")
    },
    "bcost, risks": lambda: cc.bcost.from_confusion([[450, 0], [0, 3]], ERRORS).risks,
    "bdeltacost, risks": lambda: (
        cc.bdeltacost.from_joint([[[450, 2], [30, 0]], [[0, 0], [0, 3]]], [[0, 1], [50, 0]]).risks
    ),
    "bdeltacost of a table": lambda: cc.bdeltacost.from_joint(JOINT, PRICES, names=("u", "v")),
    "bdeltacost, priors": lambda: cc.bdeltacost(TRUTH, *GUESSES.values(), PRICES, priors=[0.2, 0.3, 0.5]),
    "bdeltacost, gaussian": lambda: cc.bdeltacost(TRUTH, *GUESSES.values(), PRICES, method="gaussian"),
    "bdeltacost, tilted": lambda: cc.bdeltacost(TRUTH, *GUESSES.values(), PRICES, method="tilted"),
    "bdeltacost, mid-p": lambda: cc.bdeltacost.from_joint(PILOT, [[0, 1], [1, 0]], method="mid-p"),
    "bdeltacost, reversed": lambda: cc.bdeltacost(TRUTH, *GUESSES.values(), PRICES).reversed(),
    "bdeltacost of many": lambda: cc.bdeltacost_many(TRUTH, {**GUESSES, "third": GUESSES["first"][::-1]}, PRICES),
    "bdeltacost of many, pair": lambda: cc.bdeltacost_many(TRUTH, GUESSES, PRICES, level=0.9).pair("second", "first"),
    "prior hull": lambda: cc.prior_hull(TABLES, PRICES),
    "prior hull, best": lambda: cc.prior_hull(TABLES, PRICES).best([0.2, 0.3, 0.5]),
    "prior hull, regions": lambda: cc.prior_hull(TABLES, PRICES).regions(),
    "prior hull within": lambda: cc.prior_hull(TABLES, PRICES, priors={"x": (0.1, 0.3)}, trivial=False),
    "prior intervals": lambda: cc.prior_hull({"rules": RULES, "other": [[60, 40], [1, 19]]}, ERRORS).intervals(),
    # Planning
    "binormal": lambda: cc.Binormal(1, 3).rates(0.4),
    "coverage": lambda: cc.coverage(COST["a"], n_pos=20, n_neg=30, pc=PCS),
    "coverage, gaussian": lambda: cc.coverage(cc.Binormal(3, 3), n_pos=25, n_neg=25, pc=PCS, method="gaussian"),
    "coverage, full": lambda: cc.coverage(cc.Binormal(1, 3), n_pos=9, n_neg=8, pc=PCS, sampling="full"),
    "difference coverage": lambda: cc.difference_coverage(
        (0.01, 0.05), (0.1, 0.02), 50, 60, pc=PCS, n_draws=500, rng=0
    ),
    "covers cost": lambda: cc.covers_cost(np.array([RULES, [[80, 20], [1, 19]]]), ERRORS, 0.3),
    "covers difference": lambda: cc.covers_difference(np.array([PILOT]), ERRORS, 0.1),
    "test size, half-width": lambda: cc.plan_test_size(RULES, ERRORS, half_width=0.05),
    "test size, difference": lambda: cc.plan_test_size(PILOT, ERRORS, difference=0.2, power=0.9),
    "test size, rare errors": lambda: cc.plan_test_size([[900, 0], [1, 5]], [[0, 1], [500, 0]], half_width=1).rare,
    "power": lambda: [cc.power(PILOT, ERRORS, 500), cc.power(PILOT, ERRORS, 200, difference=0.1, level=0.9)],
    "power curve": lambda: cc.power_curve(PILOT, ERRORS, n=[100, 200, 400]),
    "laplace curve": lambda: cc.laplace_curve([[40, 5], [3, 12]], [[0, 1], [5, 0]], n=60, laplace=[0, 0.5], n_draws=50),
    "power curve of differences": lambda: cc.power_curve(PILOT, ERRORS, n=1000, difference=[0, 0.1, 0.2]),
    "rare errors": lambda: [cc.chance_of_missing(0.001, 1000, times=2), cc.examples_to_see(0.001)],
    # Counts of pieces, files
    "score tally": lambda: tallied(cc.ScoreTally()).to_roc_curve(),
    "score tally, binned": lambda: tallied(cc.ScoreTally(resolution=2**14)).to_roc_curve(points="hull"),
    "score tally, bytes": lambda: cc.ScoreTally.from_bytes(tallied(cc.ScoreTally()).to_bytes()).to_roc_curve(
        name="again"
    ),
    "hull tally": lambda: in_passes(cc.HullTally(resolution=2**14, members=16)).to_roc_curve(),
    "paired tally": lambda: (
        cc.PairedTally(COST["a"], COST["b"], pc=PCS)
        .update(Y[:100], A[:100], B[:100])
        .update(Y[100:], A[100:], B[100:])
        .to_difference()
    ),
    "confusion tally": lambda: cc.ConfusionTally().update(TRUTH, GUESSES["first"]).to_confusion(),
    "joint tally": lambda: cc.ConfusionTally().update(TRUTH, *GUESSES.values()).to_joint(),
    "score bins": lambda: [cc.ScoreBins.universal("float32", 2**16).size, cc.ScoreBins.from_sample(B, 2**14).shifts],
    "scan, names": lambda: [scanned().names, scanned().columns()],
    "scan, hull": lambda: scanned().hull(),
    "scan, curves": lambda: scanned().curves(),
    "scan, roc": lambda: scanned().roc_curves(points="all"),
    "scan, binned": lambda: scanned(resolution=2**14).hull(),
    "scan, compare": lambda: scanned().compare("forest", "tree", pc=PCS),
    "scan, compare many": lambda: scanned().compare_many(pc=PCS),
    "scan, bcost": lambda: vehicles().bcost("logit", toll()),
    "scan, bdeltacost": lambda: vehicles().bdeltacost("logit", "forest", toll()),
    "logs, mean of repeats": lambda: logged(),
    "logs, first answers": lambda: logged(repeats="first"),
    # scikit-learn
    "evaluate": lambda: cc.evaluate(MODELS, X, LABELS, cv=3, progress=False),
    "evaluate, scores": lambda: cc.evaluate(BOTH, None, Y, cv=3).hull(),
    "evaluate, compare": lambda: cc.evaluate(MODELS, X, LABELS, cv=3, progress=False).compare(*MODELS, pc=PCS),
    "hull classifier": lambda: [
        (clf := fitted(cc.RocHullClassifier, MODELS, HERE, cv=3)).choice_,
        clf.predict(X),
        clf.predict(X, 0.1),
    ],
    "hull classifier, limited": lambda: (
        fitted(cc.RocHullClassifier, MODELS, {"fpr": 0.1}, cv=3, random_state=0).choice_
    ),
    "cost threshold classifier": lambda: [
        (clf := fitted(cc.CostThresholdClassifier, MODELS["logit"], HERE, cv=3)).threshold_,
        clf.roc_curve_,
        clf.predict(X),
    ],
    "reproportioned classifier": lambda: [
        (clf := fitted(cc.ReproportionedClassifier, MODELS["logit"], HERE, random_state=0)).predict(X),
        clf.compare_with_threshold(*estimators()[:2], cv=3),
    ],
    "minimum cost classifier": lambda: (
        cc.MinimumExpectedCostClassifier(MODELS3["bayes"], PRICES).fit(X3, LABELS3).predict(X3)
    ),
    "expected cost scorer": lambda: [
        cc.expected_cost_scorer(HERE)(MODELS["logit"], X, LABELS),
        cc.expected_cost_scorer(HERE, policy="predict")(MODELS["logit"], X, LABELS),
        cc.expected_cost_scorer(HERE, policy="bayes", normalized=True)(MODELS["logit"], X, LABELS),
    ],
    "cost curve area scorer": lambda: cc.cost_curve_area_scorer(over=(0.1, 0.6))(MODELS["bayes"], X, LABELS),
    # Displays
    **{f"display, {name}": lambda name=name: picture(name) for name in CASES},
    "display of an estimator": lambda: cc.CostCurveDisplay.from_estimator(MODELS["logit"], X, LABELS).names,
    "display of results": lambda: cc.RocHullDisplay.from_results(HULL).names,
    "display of folds": lambda: cc.AveragedRocDisplay.from_cv_results(RESULTS["logit"], X, LABELS).names,
    # Reports
    "report": lambda: reported(cc.Report.from_predictions(Y, THREE, scenarios={"here": HERE, "span": SPAN})),
    "report, weighted": lambda: reported(cc.Report.from_predictions(Y, BOTH, sample_weight=W, currency="EUR")),
    "report of classes": lambda: reported(cc.Report.from_class_predictions(TRUTH, GUESSES, PRICES)),
    # The command line
    "command decide": lambda: command("decide", *EXAMPLE, *MONEY),
    "command decide, range": lambda: command("decide", *EXAMPLE, "--pc", "0.3..0.7"),
    "command decide, scenarios": lambda: command("decide", *EXAMPLE, "--costs", "example:german_credit"),
    "command decide, gates": lambda: command(
        "decide", *EXAMPLE, *MONEY, "--assert-better-than", "tree", "--assert-cost-below", "0.1"
    ),
    "command decide, limits": lambda: command("decide", *EXAMPLE, "--max-fpr", "0.1", "--confidence", "0.9"),
    "command decide, bayes": lambda: command(
        "decide", *EXAMPLE, *MONEY, "--policy", "bayes", "--score", "forest", "--score", "logit"
    ),
    "command ranges": lambda: command("ranges", *EXAMPLE),
    "command ranges, within": lambda: command(
        "ranges", *EXAMPLE, "--prevalence", "0.1..0.4", "--cost-fn", "3..8", "--cost-fp", "1"
    ),
    "command compare": lambda: command("compare", *EXAMPLE, "--pc", "0.2..0.8"),
    "command compare, two": lambda: command(
        "compare", *EXAMPLE, "--score", "forest", "--score", "tree", "--level", "0.9"
    ),
    "command curve": lambda: command("curve", *EXAMPLE, "--score", "forest"),
    "command bcost": lambda: command("bcost", *TOLL),
    "command bdeltacost": lambda: command("bdeltacost", *TOLL),
    "command plan": lambda: command("plan", *TOLL, "--pred", "forest", "--half-width", "0.2"),
    "command hull": lambda: hull_file(*MONEY),
}

# What is kept of an answer ----------------------------------------------------------------------------------

LONGEST = 12  # a longer list is kept as its first numbers and weighted sums of all of them


def form(value: Any, depth: int = 0) -> Any:
    """Return an answer as plain values, with the public properties of results beside what `to_dict` says."""
    if hasattr(value, "to_dict") and not isinstance(value, type) and type(value).__module__.startswith("costcurves"):
        plain = {"": type(value).__name__, **form(value.to_dict(), depth + 1)}
        if depth == 0:
            plain["frame"] = {str(name): form(column.tolist()) for name, column in value.to_frame("pandas").items()}
            for name in sorted(n for n in dir(type(value)) if isinstance(getattr(type(value), n), property)):
                if not name.startswith("_") and name not in plain:
                    plain[f".{name}"] = tried(value, name)
        return plain
    if is_dataclass(value) and not isinstance(value, type):
        return {"": type(value).__name__, **form({f.name: getattr(value, f.name) for f in fields(value)}, depth + 1)}
    if isinstance(value, np.ndarray):
        return form(value.tolist(), depth)
    if isinstance(value, np.generic):
        return form(value.item(), depth)
    if isinstance(value, dict):
        return {str(k): form(v, depth + 1) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return [form(v, depth + 1) for v in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if value is None or isinstance(value, (bool, int, str)):
        return value
    return str(value)


def tried(value: Any, name: str) -> Any:
    """Return a property of a result, or which error it raises."""
    try:
        return form(getattr(value, name), 1)
    except cc.CostCurvesError as error:
        return f"raises {type(error).__name__}"


def leaves(value: Any) -> Iterator[Any]:
    """Yield all values in nested lists."""
    for part in value:
        if isinstance(part, list):
            yield from leaves(part)
        else:
            yield part


def number(value: Any) -> bool:
    """Return whether a value is a number, and not a truth value."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def weight(value: Any) -> float:
    """Return a number for a value in a long list: itself, or one that stands for a word."""
    return float(value) if number(value) else zlib.crc32(str(value).encode()) % 1000 / 1000


def compact(value: Any) -> Any:
    """Return a value with its long lists shortened, so that all numbers in them still count.

    A long list keeps its length, its first values, the sum of all sizes and two weighted sums, in which a number stands
    for each word. Sums can be compared within a tolerance, which a checksum of rounded numbers cannot.
    """
    if isinstance(value, dict):
        return {name: compact(part) for name, part in value.items()}
    if not isinstance(value, list):
        return float(f"{value:.13g}") if isinstance(value, float) else value
    if value and all(isinstance(part, dict) and part.keys() == value[0].keys() for part in value):
        return {f"each {name}": compact([part[name] for part in value]) for name in value[0]}
    if any(isinstance(part, dict) for part in value):
        return [compact(part) for part in value]
    flat = list(leaves(value))
    if len(flat) <= LONGEST:
        return [compact(part) for part in value]
    numbers, places = np.array([weight(part) for part in flat]), np.arange(len(flat))
    sums = [float(np.abs(numbers).sum()), float(numbers @ np.cos(places)), float(numbers @ np.sin(0.7 * places))]
    return {"length": len(flat), "first": compact(flat[:3]), "sums": compact(sums)}


def answer(name: str) -> Any:
    """Return the answer of a call as it is recorded."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        os.environ["SOURCE_DATE_EPOCH"] = "0"  # when a classifier was added to a hull's file
        return compact(form(CALLS[name]()))


def record() -> None:
    """Write the answers of all calls, with one line per call."""
    lines = [f"{json.dumps(name)}: {json.dumps(answer(name), separators=(',', ':'))}" for name in CALLS]
    ANSWERS.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


if __name__ == "__main__":
    record()
