"""Every result prints well, becomes a frame of any library and strict JSON, and cannot be changed."""

from __future__ import annotations

import dataclasses
import inspect
import json
import subprocess
import sys
import tempfile
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from reached import result_classes

import costcurves as cc
from costcurves._base import frames
from costcurves._base.results import Result, jsonable
from costcurves._base.text import safe
from costcurves.multiclass.risks import CellRisk
from worlds import ALL_TIED, MIXED, curve_of, folds

A = cc.RocCurve.from_rates(0.1, 0.6, name="A")
C = cc.RocCurve.from_rates(0.4, 0.9, name="C")
M = curve_of(MIXED, name="mixed")
HULL = cc.RocHull([A, C, M])
LABELS, SCORES = [0, 0, 1, 1, 0, 1], {"a": [1, 2, 3, 1, 2, 3], "b": [2, 1, 1, 3, 2, 2]}
BAND = cc.CostCurve(M).band(pc=[0.2, 0.5])
MANY = cc.compare_many(LABELS, SCORES, pc=[0.3, 0.5])
PRICES = cc.CostMatrix([[0, 1, 2], [3, 0, 1], [5, 4, 0]], labels=["x", "y", "z"])
TRUTH, GUESSES = (
    ["x", "y", "z", "x", "z"] * 20,
    {"a": ["x", "y", "y", "x", "z"] * 20, "b": ["x", "z", "z", "y", "x"] * 20},
)
TABLE = cc.ConfusionMatrix.from_predictions(TRUTH, GUESSES["a"], labels=PRICES.labels)
OTHER = cc.ConfusionMatrix.from_predictions(TRUTH, GUESSES["b"], labels=PRICES.labels)
SPAN = cc.OperatingRange(prevalence=(0.1, 0.3), cost_fp=(1, 2), cost_fn=(1, 5))


def logged():
    """Return predictions that were read from a log."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "samples_a.jsonl"
        rows = [
            {"doc_id": i, "target": y, "acc": s}
            for i, (y, s) in enumerate(zip([0, 1, 0], [0.1, 0.7, 0.4], strict=True))
        ]
        path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        return cc.read_eval_logs({"a": path}, label="target", score="acc")


RESULTS = {
    "logged predictions": logged(),
    "condition": cc.OperatingCondition(0.3, cost_fp=1, cost_fn=0),
    "range": SPAN,
    "beta": cc.Beta(2, 3),
    "roc of counts": M,
    "roc of weights": curve_of(MIXED, sample_weight=[0.5] * 6),
    "roc of rates": A,
    "hull points": curve_of(MIXED, points="hull"),
    "averaged roc": cc.average_roc_curves(folds(3, seed=1)[1], n_points=5),
    "averaged rates": cc.average_roc_curves([A, C], n_points=5),
    "cost curve": cc.CostCurve(M),
    "brier curve": cc.CostCurve(M, "bayes"),
    "calibration": cc.CostCurve(cc.RocCurve.from_predictions([0, 1, 1], [0.2, 0.7, 0.9]), "bayes").calibration(),
    "average cost": cc.average_cost_curves([A, C]),
    "lines": cc.CostCurve(M).lines(),
    "intervals": cc.CostCurve(A).operating_range(),
    "no intervals": cc.CostCurve(curve_of(ALL_TIED)).operating_range(),
    "range limits": cc.CostCurve(M).operating_range_limits(),
    "no range limits": cc.CostCurve(curve_of(ALL_TIED)).operating_range_limits(),
    "crossing limits": cc.compare(LABELS, SCORES["a"], SCORES["b"], pc=[0.3, 0.5]).crossings(),
    "threshold average": cc.average_roc_curves(folds(3, seed=1)[1], kind="threshold"),
    "gain": HULL.gain(cc.RocCurve.from_rates(0.2, 0.7, name="new")),
    "ensemble": cc.Predictions(LABELS * 5, {name: values * 5 for name, values in SCORES.items()}).select(2),
    "stability": HULL.ranges().stability([HULL.ranges()]),
    "cost spread": cc.bcost.over_costs(TABLE, [PRICES, PRICES]),
    "advantage": cc.CostCurve(A).better_than(cc.CostCurve(C)),
    "no advantage": cc.CostCurve(A).better_than(cc.CostCurve(A)),
    "crossings": cc.CostCurve(A).crossings(cc.CostCurve(C)),
    "no crossings": cc.CostCurve(A).crossings(cc.CostCurve(A)),
    "threshold set": cc.CostCurve(M).threshold_set(SPAN.corners[0]),
    "nearly equal thresholds": cc.CostCurve(M).thresholds_within(0.5),
    "threshold sets": cc.CostCurve(M).threshold_sets(SPAN),
    "hull": HULL,
    "decision": HULL.best(SPAN.corners[0]),
    "decision with ties": HULL.best(float(HULL.breaks[1])),
    "choice": HULL.best(0.5).runner_up,
    "ranges": HULL.ranges(),
    "within": HULL.within(SPAN),
    "mixture": HULL.interpolate(fpr=0.2),
    "limited": HULL.best_at_fpr(0.3),
    "capacity": HULL.best_at_capacity(alarms=10, population=100, prevalence=0.1),
    "precision": HULL.best_at_precision(0.4, prevalence=0.3),
    "guaranteed": cc.RocHull([M]).best_at_fpr(0.9, confidence=0.5),
    "guaranteed precision": cc.RocHull([M]).best_at_precision(0.1, prevalence=0.2, confidence=0.5),
    "dominance": cc.dominance([A, C]),
    "dominance of one": cc.dominance([A]),
    "binormal fit": cc.fit_binormal(cc.RocCurve.from_rates([0.1, 0.3], [0.6, 0.8]), method="least squares"),
    "significant dominance": cc.significant_dominance(LABELS, SCORES, n_points=5),
    "regret": cc.regret(A, HULL, over=SPAN),
    "band": BAND,
    "band per largest cost": BAND.per_largest_cost(0.3),
    "interval": BAND.at(0.3),
    "interval in money": BAND.at(cc.OperatingCondition(0.3, cost_fp=1, cost_fn=1)),
    "distribution": cc.CostCurve(M).distribution(0.4),
    "difference": cc.compare(LABELS, SCORES["a"], SCORES["b"], pc=[0.3, 0.5]),
    "pointwise difference": cc.compare(LABELS, SCORES["a"], SCORES["b"], pc=[0.3, 0.5], simultaneous=False),
    "verdicts": MANY.pairs[0].significant(),
    "many differences": MANY,
    "pairwise tests": MANY.at(0.4),
    "example costs": cc.example_cost([0, 1] * 15, [0.1, 0.4] * 15, cost_fp=1, cost_fn=[3, 4, 5] * 10, policy=0.5),
    "example comparison": cc.compare_example_cost(
        [0, 1] * 15, [1, 2] * 15, [2, 1] * 15, cost_fp=4, cost_fn=[3, 4, 5] * 10, policy=2
    ),
    "recommendation": cc.recommend(LABELS, SCORES, SPAN.corners[0]),
    "saving": cc.recommend(LABELS, SCORES, SPAN.corners[0]).saving("a", threshold=2),
    "promise": cc.check_promise(cc.recommend(LABELS, SCORES, SPAN.corners[0]), LABELS, SCORES),
    "recommendation for a range": cc.recommend_within(LABELS, SCORES, SPAN),
    "rule for a range": cc.recommend_within(LABELS, SCORES, SPAN).rule,
    "scenarios": cc.read_scenarios(cc.example_path("german_credit_costs.toml")),
    "training sets": cc.bcost.over_training(TRUTH, list(GUESSES.values()), PRICES, method="gaussian"),
    "cost matrix": PRICES,
    "confusion matrix": TABLE,
    "joint confusion": cc.JointConfusion.from_predictions(TRUTH, *GUESSES.values(), labels=PRICES.labels),
    "bcost": cc.bcost.from_confusion(TABLE, PRICES),
    "bdeltacost": cc.bdeltacost(TRUTH, *GUESSES.values(), PRICES),
    "bdeltacost of many": cc.bdeltacost_many(TRUTH, GUESSES, PRICES),
    "size plan": cc.plan_test_size(TABLE, PRICES, half_width=0.2),
    "evaluation": cc.evaluate(SCORES, None, LABELS, cv=3),
    "weighted evaluation": cc.evaluate(SCORES, None, LABELS, cv="prefit", sample_weight=[1, 2, 1, 1, 2, 3]),
    "prior hull": cc.prior_hull({"a": TABLE, "b": OTHER}, PRICES),
    "prior choice": cc.prior_hull({"a": TABLE, "b": OTHER}, PRICES).best([0.2, 0.3, 0.5]),
    "binormal": cc.Binormal(1, 3),
    "coverage": cc.coverage(cc.CostCurve(M), n_pos=9, n_neg=8, pc=[0.2, 0.5]),
    "full coverage": cc.coverage(cc.Binormal(1, 3), n_pos=9, n_neg=8, pc=[0.2, 0.5], sampling="full"),
    "power curve": cc.power_curve(np.arange(8).reshape(2, 2, 2), [[0, 1], [5, 0]], n=[10, 20]),
    "findings": cc.Predictions([0, 1] * 20, {"a": [0, 1] * 20}).check(),
    "finding": cc.Predictions([0, 1] * 20, {"a": [0, 1] * 20}).check().findings[0],
    "no findings": cc.Predictions([0, 1] * 50, {"a": [i % 7 for i in range(100)]}).check(),
    "scan": cc.scan(
        cc.example_path("german_credit_scores.csv"), label="label", scores=["tree"], pos_label="bad", progress=False
    ),
    "difference interval": cc.compare(LABELS, SCORES["a"], SCORES["b"], pc=[0.3, 0.5]).at(0.4),
    "difference in money": cc.compare(LABELS, *SCORES.values()).at(SPAN.corners[0]),
    "difference band": MANY.pairs[0].band,
    "unpaired band": cc.compare.from_curves(cc.CostCurve(M), cc.CostCurve(M, name="other"), pc=[0.3, 0.5]).band,
    "verdict": MANY.pairs[0].band.significant()[0],
    "cost lines": cc.CostCurve(M).lines(),
    "rare error": cc.plan_test_size(TABLE, PRICES, half_width=0.2).rare[0],
    "cell risk": CellRisk(true="x", predicted="y", cost=9.0, count=0, excess=0.1, needed=None),
    "prior range": cc.prior_hull({"rules": [[90, 10], [4, 16]]}, [[0, 1], [1, 0]]).intervals()[0],
}
PUBLIC = {value for name in cc.__all__ if inspect.isclass(value := getattr(cc, name)) and issubclass(value, Result)}
RECEIVED = set(result_classes().values())


def test_every_result_is_tested_here():
    assert {type(result) for result in RESULTS.values()} == PUBLIC | RECEIVED


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_strict_json(name):
    result = RESULTS[name].to_dict()
    assert json.loads(json.dumps(result, allow_nan=False)) == result


@pytest.mark.parametrize("name", RESULTS)
def test_results_become_frames_of_every_library(name):
    frame = RESULTS[name].to_frame("pandas")
    assert isinstance(frame, pd.DataFrame)
    polars, arrow = RESULTS[name].to_frame("polars"), RESULTS[name].to_frame("pyarrow")
    assert isinstance(polars, pl.DataFrame)
    assert isinstance(arrow, pa.Table)
    assert list(frame.columns) == polars.columns == arrow.column_names
    assert len(frame) == polars.height == arrow.num_rows


@pytest.mark.parametrize("name", RESULTS)
def test_results_have_a_short_repr(name):
    text = repr(RESULTS[name])
    assert text
    assert "array(" not in text
    assert max(map(len, text.splitlines())) <= 140


@pytest.mark.parametrize("name", [name for name, result in RESULTS.items() if not isinstance(result, cc.Predictions)])
def test_results_cannot_be_changed(name):
    result = RESULTS[name]
    fields = [field.name for field in dataclasses.fields(result)] if dataclasses.is_dataclass(result) else vars(result)
    for field in list(fields):
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(result, field, None)
    with pytest.raises((AttributeError, TypeError)):
        result.something_new = 1
    public = [attribute for attribute in dir(result) if not attribute.startswith("_")]
    arrays = [value for value in (getattr(result, attribute) for attribute in public) if isinstance(value, np.ndarray)]
    assert all(not array.flags.writeable for array in arrays)


def test_frames_can_be_changed_without_changing_the_result():
    frame = M.to_frame("pandas")
    frame.loc[0, "fpr"] = 0.5
    assert M.fpr[0] == 0


def test_arrays_of_the_user_stay_writable():
    fpr, tpr, cuts = np.array([0.1, 0.2]), np.array([0.5, 0.6]), np.array([2.0, 1.0])
    labels, scores, weights = np.array([0, 1]), np.array([0.1, 0.2]), np.array([1.0, 2.0])
    cc.RocCurve.from_rates(fpr, tpr, thresholds=cuts)
    cc.RocCurve.from_predictions(labels, scores, sample_weight=weights)
    cc.RocCurve.from_predictions(labels.astype(bool), scores, points="hull")
    assert all(array.flags.writeable for array in (fpr, tpr, cuts, labels, scores, weights))
    assert scores.tolist() == [0.1, 0.2]


def test_long_tables_have_the_documented_columns():
    assert list(HULL.best(0.3).to_frame("pandas")["role"]) == ["best", "runner-up"]
    assert list(HULL.ranges().to_frame("pandas").columns) == [
        "classifier",
        "pc_low",
        "pc_high",
        "slope_low",
        "slope_high",
        "threshold_low",
        "threshold_high",
    ]
    assert RESULTS["dominance"].to_frame("pandas").loc[0, "relation"] == "cross"
    assert "fp" not in A.to_frame("pandas").columns
    assert "fp" in M.to_frame("pandas").columns


def test_infinities_and_nan_have_words_in_json():
    assert jsonable([np.inf, -np.inf, np.nan, np.float32(1), np.int64(2), True, None, {"a": (1,)}]) == [
        "inf",
        "-inf",
        None,
        1.0,
        2,
        True,
        None,
        {"a": [1]},
    ]
    assert cc.average_cost_curves([A]).to_dict()["policy"] is None
    assert M.to_dict()["thresholds"][0] == "inf"


# Notebooks ------------------------------------------------------------------------------------------------------


class Cells(HTMLParser):
    """The cells of a table, the texts of its caption, and every tag."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.rows, self.caption, self._inside = set(), [], "", ""
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self._inside = tag
        if tag == "tr":
            self.rows.append([])
        if tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data):
        if self._inside == "caption":
            self.caption += data
        else:
            self.rows[-1][-1] += data


@pytest.mark.parametrize("name", RESULTS)
def test_a_notebook_shows_a_small_table_under_the_short_form(name):
    result = RESULTS[name]
    table = Cells(result._repr_html_())
    columns = result._columns()
    assert table.caption.split() == safe(repr(result)).split()
    assert table.rows[0] == [str(column) for column in columns]
    n = len(next(iter(columns.values())))
    assert len(table.rows) == 1 + min(n, 12) + (n > 12)
    assert all(len(row) == len(columns) for row in table.rows[1:13])
    assert table.tags <= {"table", "caption", "thead", "tbody", "tr", "th", "td"}


def test_names_do_nothing_in_a_notebook():
    hostile = "</td><script>alert(1)</script>\u202e"
    text = cc.CostCurve(cc.RocCurve.from_rates(0.1, 0.6, name=hostile)).lines()._repr_html_()
    assert "<script" not in text
    assert "\u202e" not in text
    assert "&lt;script&gt;" in text


# Which library a frame is of --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "expected"),
    [("import polars", "polars"), ("import pyarrow", "pyarrow"), ("", "pandas"), ("import pandas, polars", "pandas")],
)
def test_a_frame_is_of_the_library_that_is_already_imported(first, expected):
    code = f"{first}\nimport costcurves as cc\nprint(type(cc.Beta(2, 3).to_frame()).__module__.split('.')[0])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=600)
    assert done.stdout.strip() == expected


def test_missing_libraries_say_what_to_install(monkeypatch):
    monkeypatch.setattr(frames.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(cc.MissingExtraError, match="`backend='polars'` needs polars: pip install polars"):
        A.to_frame("polars")
    for name in frames.BACKENDS:
        monkeypatch.delitem(sys.modules, name, raising=False)
    with pytest.raises(cc.MissingExtraError, match="`to_frame` needs a dataframe library: pip install pandas"):
        A.to_frame()


def test_an_unknown_library_is_refused():
    with pytest.raises(cc.InputError, match="`backend` must be one of 'pandas', 'polars', 'pyarrow', got 'dask'"):
        A.to_frame("dask")


def test_every_error_is_a_value_error_of_costcurves():
    for name in ("InputError", "DataError", "UnsupportedError", "FormatError", "MissingExtraError"):
        assert issubclass(getattr(cc, name), cc.CostCurvesError)
    assert issubclass(cc.CostCurvesError, ValueError)
