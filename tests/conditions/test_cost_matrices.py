"""Cost matrices, labels and counts: what goes in, what is refused."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.metrics import confusion_matrix

import costcurves as cc

C3 = cc.CostMatrix([[0, 1, 2], [3, 0, 1], [9, 2, 0]], labels=["a", "b", "c"])


def test_a_pandas_frame_is_matched_by_name_in_any_order():
    frame = pd.DataFrame(C3.values, index=list("abc"), columns=list("abc"))
    turned = frame.loc[["c", "a", "b"], ["b", "c", "a"]]
    C = cc.CostMatrix(turned)
    assert C.labels == ("c", "a", "b")
    for t in "abc":
        for p in "abc":
            assert C.cost(t, p) == C3.cost(t, p)
    assert cc.CostMatrix(turned, labels=list("abc")).values.tolist() == C3.values.tolist()


@pytest.mark.parametrize("backend", ["pandas", "polars", "pyarrow"])
@pytest.mark.parametrize("labels", [["a", "b", "c"], [10, 20, 30]])
def test_a_frame_goes_out_and_comes_back(backend, labels):
    C = cc.CostMatrix(C3.values, labels=labels)
    back = cc.CostMatrix(C.to_frame(backend))
    assert back.labels == C.labels
    assert back.values.tolist() == C.values.tolist()


def test_class_weights_are_the_mean_costs_of_the_papers_columns():
    paper = [[0, 3.2, 2.5, 12.7], [1, 0, 3, 100], [40.5, 2.2, 0, 5.5], [1, 0.1, 7.1, 0]]  # C(predicted, true)
    weights = cc.CostMatrix(paper, labels=[1, 2, 3, 4]).T.class_weights()
    assert list(weights) == [1, 2, 3, 4]
    assert weights == pytest.approx({1: 42.5 / 4, 2: 5.5 / 4, 3: 12.6 / 4, 4: 118.2 / 4})


def test_class_weights_train_a_tree_as_weighted_examples_do():
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(8)
    X = rng.random((300, 2))
    y = np.array(list("abc"))[(X[:, 0] * 3 + rng.normal(0, 0.7, 300)).clip(0, 2.9).astype(int)]
    one = DecisionTreeClassifier(max_depth=3, random_state=0, class_weight=C3.class_weights()).fit(X, y)
    # A case that costs three times as much stands for three cases: the mean costs are 1, 4/3 and 11/3.
    several = np.repeat(np.arange(300), np.select([y == "a", y == "b"], [3, 4], 11))
    many = DecisionTreeClassifier(max_depth=3, random_state=0).fit(X[several], y[several])
    assert (one.predict(X) == many.predict(X)).all()
    assert (one.predict(X) != DecisionTreeClassifier(max_depth=3, random_state=0).fit(X, y).predict(X)).any()


def test_a_polars_frame_without_labels_has_rows_in_column_order():
    frame = pl.DataFrame({"x": [0, 5], "y": [1, 0]})
    assert cc.CostMatrix(frame).cost("x", "y") == 1


def test_the_papers_table_is_the_transpose():
    paper = [[0, 3.2, 2.5, 12.7], [1, 0, 3, 100], [40.5, 2.2, 0, 5.5], [1, 0.1, 7.1, 0]]
    C = cc.CostMatrix(paper, labels=[1, 2, 3, 4]).T
    assert C.cost(true=4, predicted=2) == 100
    assert C.cost(true=1, predicted=3) == 40.5
    assert C.cost(true=2, predicted=4) == 0.1


def test_values_are_read_only_and_copied():
    table = np.array([[0.0, 1.0], [5.0, 0.0]])
    C = cc.CostMatrix(table)
    table[0, 1] = 99
    assert C.cost(0, 1) == 1
    with pytest.raises(ValueError, match="read-only"):
        C.values[0, 1] = 3


@pytest.mark.parametrize(
    ("table", "labels", "message"),
    [
        ([[0, 1, 2], [1, 0, 2]], None, "must be square"),
        ([[0, 1], [np.nan, 0]], None, "must be finite, got nan for true 1, predicted 0"),
        ([[0, np.inf], [1, 0]], None, "must be finite, got inf"),
        ([[0, -1], [1, 0]], None, r"must be >= 0 .*got -1.0 for true 0, predicted 1"),
        ([[0, 0], [0, 0]], None, "must not be zero throughout"),
        ([[0, 1], [1, 0]], ["a", "a"], "distinct, got 'a' twice"),
        ([[0, 1], [1, 0]], ["a", "b", "c"], "name each of the 2 classes"),
        ([[0, 1], [1, 0]], ["a", None], "missing"),
        ([[0, 1], [1, 0]], "ab", "sequence of labels"),
        ([[1]], None, "at least 2 classes"),
        ([["x", 1], [1, 0]], None, "must be numeric"),
        (np.zeros((2, 2, 2)), None, "square"),
    ],
)
def test_bad_cost_matrices_are_refused(table, labels, message):
    with pytest.raises(cc.InputError, match=message):
        cc.CostMatrix(table, labels)


@pytest.mark.parametrize(
    ("index", "columns", "labels", "message"),
    [
        (["a", "b"], ["a", "x"], None, "columns have 'x'"),
        (["a", "b"], ["a", "b"], ["a", "c"], "rows have 'b'"),
        ([0, 1], ["a", "b"], None, "columns have 'a', 'b'"),
    ],
)
def test_row_and_column_labels_must_match(index, columns, labels, message):
    frame = pd.DataFrame([[0, 1], [2, 0]], index=index, columns=columns)
    with pytest.raises(cc.DataError, match=message):
        cc.CostMatrix(frame, labels)


def test_repeated_frame_labels_are_refused():
    with pytest.raises(cc.InputError, match="distinct, got 'a' twice"):
        cc.CostMatrix(pd.DataFrame([[0, 1], [2, 0]], index=["a", "a"], columns=["a", "b"]))


def test_a_non_square_frame_is_refused():
    with pytest.raises(cc.CostCurvesError):
        cc.CostMatrix(pd.DataFrame([[0, 1], [2, 0], [1, 1]], index=list("abc"), columns=["a", "b"]))


def test_error_costs_subtract_the_right_decision():
    C = cc.CostMatrix([[1, 3], [8, 2]], labels=["good", "bad"])
    assert C.error_costs("bad") == (2, 6)
    assert C.error_costs("good") == (6, 2)
    with pytest.raises(cc.InputError, match="cheaper than the right decision"):
        cc.CostMatrix([[5, 1], [1, 0]]).error_costs(1)
    with pytest.raises(cc.UnsupportedError, match="two classes"):
        C3.error_costs("a")
    with pytest.raises(cc.InputError, match="`pos_label` must be a label"):
        C.error_costs("ugly")


FORMS = {
    "list": list,
    "tuple": tuple,
    "array": np.array,
    "object": lambda x: np.array(x, dtype=object),
    "pandas": pd.Series,
    "polars": pl.Series,
    "pandas category": lambda x: pd.Series(x, dtype="category"),
    "polars category": lambda x: pl.Series(x, dtype=pl.Categorical),
    "pandas categorical": pd.Categorical,
    "pandas string": lambda x: pd.Series(x, dtype="string"),
    "pandas index": pd.Index,
    "arrow": lambda x: pl.Series(x).to_arrow(),
}


@pytest.mark.parametrize("form", FORMS)
def test_every_form_of_labels_gives_sklearns_counts(form):
    rng = np.random.default_rng(0)
    y, p = (np.array(list("abc"))[rng.integers(0, 3, 50)].tolist() for _ in range(2))
    M = cc.ConfusionMatrix.from_predictions(FORMS[form](y), FORMS[form](p), labels=list("cab"))
    assert M.counts.tolist() == confusion_matrix(y, p, labels=list("cab")).tolist()
    found = cc.ConfusionMatrix.from_predictions(FORMS[form](y), FORMS[form](p))
    assert found.labels == ("a", "b", "c")


@pytest.mark.parametrize("values", [[3, 7, -2], [10**12, -(10**12), 5], [True, False, True], [0.5, 1.5, 2.0]])
@pytest.mark.parametrize("form", [list, np.array, pd.Series, pl.Series])
def test_numbers_of_any_kind_are_coded(values, form):
    rng = np.random.default_rng(1)
    pool = list(dict.fromkeys(values))
    y, p = ([pool[i] for i in rng.integers(0, len(pool), 60)] for _ in range(2))
    M = cc.ConfusionMatrix.from_predictions(form(y), form(p), labels=pool)
    for i, t in enumerate(pool):
        for j, q in enumerate(pool):
            assert M.counts[i, j] == sum(a == t and b == q for a, b in zip(y, p, strict=True))


@pytest.mark.parametrize("kind", [np.int8, np.uint8, np.int32, np.uint64, np.float32])
def test_small_number_types_do_not_overflow(kind):
    y = np.array([0, 120, 120, 7], dtype=kind)
    M = cc.ConfusionMatrix.from_predictions(y, y[::-1], labels=[120, 7, 0])
    assert M.counts.tolist() == [[2, 0, 0], [0, 0, 1], [0, 1, 0]]


def test_large_k_triples_equal_a_dictionary():
    rng = np.random.default_rng(2)
    y, a, b = rng.integers(0, 300, (3, 500))
    joint = cc.JointConfusion.from_predictions(y, a, b, labels=range(300))
    brute: dict[tuple[int, int, int], int] = {}
    for key in zip(y.tolist(), a.tolist(), b.tolist(), strict=True):
        brute[key] = brute.get(key, 0) + 1
    keys = zip(joint.true.tolist(), joint.a.tolist(), joint.b.tolist(), strict=True)
    assert dict(zip(keys, joint.counts.tolist(), strict=True)) == brute
    assert joint.first.counts.tolist() == confusion_matrix(y, a, labels=range(300)).tolist()
    assert joint.second.counts.tolist() == confusion_matrix(y, b, labels=range(300)).tolist()


@pytest.mark.parametrize("call", [cc.expected_cost, cc.bcost])
def test_a_label_that_the_cost_matrix_does_not_have_is_named_and_counted(call):
    with pytest.raises(
        cc.DataError, match=r"`y_pred` must hold only the labels of the cost matrix \('a', 'b', 'c'\), "
    ):
        call(["a", "b"], ["a", "z"], C3)
    with pytest.raises(cc.DataError, match=r"`y_true`.* got 'z' in 2 examples \(and 1 examples with other"):
        call(["z", "z", "y"], ["a", "a", "a"], C3)
    with pytest.raises(cc.DataError, match=r"got 1 in 1 example; there it is a str, not a int"):
        call([1], ["1"], cc.CostMatrix([[0, 1], [1, 0]], labels=["1", "2"]))


@pytest.mark.parametrize("values", [[0, 1, 5], np.array([0, 1, 5]), np.array([0.0, 1.0, 0.5]), pd.Series([0, 1, -1])])
def test_unknown_numbers_are_refused(values):
    with pytest.raises(cc.DataError, match=r"got (5|0\.5|-1) in 1 example"):
        cc.expected_cost(values, [0, 0, 0], [[0, 1], [1, 0]])


@pytest.mark.parametrize(
    ("y", "p", "error", "message"),
    [
        ([], [], cc.DataError, "at least one example"),
        (["a"], ["a", "b"], cc.DataError, "`y_pred` must be as long as `y_true`, got 2 and 1"),
        (["a", None], ["a", "a"], cc.DataError, "missing labels, got 1 of 2"),
        (pd.Series(["a", None]), ["a", "a"], cc.DataError, "missing labels, got 1 of 2"),
        (np.array([0.0, np.nan]), [0, 0], cc.DataError, "missing labels, got 1 NaN of 2"),
        (pd.Categorical(["a", None]), ["a", "a"], cc.DataError, "missing labels, got 1 of 2"),
        (np.zeros((3, 2)), [0, 0, 0], cc.InputError, r"one-dimensional.*\(3, 2\)"),
        ("abc", "abc", cc.InputError, "sequence of labels"),
        (3, 3, cc.InputError, "sequence of labels"),
        ([["a"], ["b"]], ["a", "b"], cc.InputError, "one label per example"),
    ],
)
def test_bad_labels_are_refused(y, p, error, message):
    with pytest.raises(error, match=message):
        cc.expected_cost(y, p, C3)


def test_a_class_absent_from_the_data_is_allowed_and_gets_its_laplace_mass():
    with pytest.warns(cc.SmallSampleWarning, match="true 'c' predicted 'a'"):
        ci = cc.bcost(["a"] * 200 + ["b"] * 200, ["a"] * 150 + ["b"] * 250, C3, method="exact")
    q = np.full((3, 3), 2.5 / 9)
    q[0, 0] += 150
    q[0, 1] += 50
    q[1, 1] += 200
    assert ci.distribution.mean == pytest.approx((q * C3.values).sum() / (400 + 2.5))
    assert ci.estimate == pytest.approx(50 / 400)


def test_expected_cost_is_the_weighted_mean():
    rng = np.random.default_rng(3)
    y, p = rng.integers(0, 3, (2, 500))
    w = rng.random(500)
    C = cc.CostMatrix(C3.values)
    expected = (confusion_matrix(y, p, sample_weight=w) * C.values).sum() / w.sum()
    assert cc.expected_cost(y, p, C, sample_weight=w) == pytest.approx(expected)
    assert cc.expected_cost(y, p, C) == pytest.approx(C.values[y, p].mean())


@pytest.mark.parametrize("weights", [[1, -1], [np.nan, 1], [1], [0, 0], ["x", "y"]])
def test_bad_weights_are_refused(weights):
    with pytest.raises(cc.CostCurvesError, match="`sample_weight` must"):
        cc.expected_cost([0, 1], [0, 1], [[0, 1], [1, 0]], sample_weight=weights)


def test_the_cheapest_decision_is_brute_force_and_ties_go_to_the_first_label():
    rng = np.random.default_rng(4)
    p = rng.dirichlet(np.ones(3), 200)
    chosen = cc.minimum_cost_predictions(p, C3)
    for row, label in zip(p, chosen, strict=True):
        costs = {x: sum(row[t] * C3.values[t, j] for t in range(3)) for j, x in enumerate(C3.labels)}
        assert label == min(costs, key=lambda x: costs[x])
    tie = cc.CostMatrix([[0, 1], [1, 0]], labels=["z", "a"])
    assert cc.minimum_cost_predictions([[0.5, 0.5]], tie, classes=["a", "z"]).tolist() == ["z"]
    named = pd.DataFrame({"c": p[:, 2], "a": p[:, 0], "b": p[:, 1]})
    assert cc.minimum_cost_predictions(named, C3).tolist() == chosen.tolist()
    assert cc.minimum_cost_predictions(pl.from_pandas(named), C3).tolist() == chosen.tolist()


@pytest.mark.parametrize(
    ("p", "message"),
    [
        ([[0.5, 0.5]], r"shape \(n, 3\)"),
        ([0.2, 0.3, 0.5], r"shape \(n, 3\)"),
        ([[0.2, 0.3, np.nan]], "finite and >= 0, got nan in row 0"),
        ([[0.2, 0.3, 0.5], [1.2, -0.1, -0.1]], "finite and >= 0, got -0.1 in row 1"),
        ([[1, 2, 3]], "sum of 1, got 6 in row 0"),
        (pd.DataFrame({"a": [0.5], "b": [0.5]}), "must have the columns 'a', 'b', 'c'"),
    ],
)
def test_bad_probabilities_are_refused(p, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.minimum_cost_predictions(p, C3)


def test_the_nine_models_keep_their_limits_in_our_orientation():
    priors = {"common": 0.9, "rare": 0.1}
    drawn = {m: [cc.cost_models(m, priors, rng=seed) for seed in range(300)] for m in ("M1", "M3", "M6", "M7", "M9")}

    def largest(model, t, p):
        return max(C.cost(t, p) for C in drawn[model])

    assert 9.5 < largest("M1", "rare", "common") <= 10
    assert 9.5 < largest("M3", "rare", "rare") <= 10
    assert largest("M1", "rare", "rare") == 0
    # To take a rare example for a common one is what M6 makes expensive: 1000·P(pred)/P(true).
    assert 8500 < largest("M6", "rare", "common") <= 9000
    assert 105 < largest("M6", "common", "rare") <= 1000 / 9 + 1e-9
    assert 8500 < largest("M7", "common", "rare") <= 9000
    assert 17000 < largest("M9", "rare", "common") <= 18000
    assert 950 < largest("M9", "rare", "rare") <= 1000


@pytest.mark.parametrize(
    ("model", "priors", "message"),
    [
        ("M0", [0.5, 0.5], "`model` must be one of 'M1'"),
        ("M1", [0.5, 0.6], "sum of 1, got 1.1"),
        ("M1", [1.5, -0.5], ">= 0, got -0.5"),
        ("M6", [1.0, 0.0], "> 0 for model M6, got 0 for 1"),
        ("M1", [1.0], "one value per class"),
        ("M1", ["x", "y"], "numeric"),
    ],
)
def test_bad_models_are_refused(model, priors, message):
    with pytest.raises(cc.InputError, match=message):
        cc.cost_models(model, priors, rng=0)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "exact", "laplace": -1}, "`laplace` must be >= 0, got -1"),
        ({"laplace": 0.1}, "`laplace` must come with method 'exact' or 'resample', got method 'tilted'"),
        (
            {"method": "magic"},
            "`method` must be one of 'tilted', 'exact', 'resample', 'mid-p', 'gaussian', got 'magic'",
        ),
        ({"n_resamples": 0}, "`n_resamples` must be >= 1, got 0"),
        ({"priors": [0.5, 0.2, 0.2]}, "`priors` must have a sum of 1"),
        ({"priors": {"a": 1.0}}, "`priors` must have one value for each"),
        ({"priors": [0.5, 0.5]}, "each of the 3 classes"),
        ({"priors_size": 10}, "`priors_size` must come with `priors`"),
        ({"priors": [0.5, 0.3, 0.2]}, "`priors` must be 0 for a class without examples, got 0.2 for 'c'"),
        ({"method": "exact", "priors": [0.5, 0.5, 0.0], "priors_size": -1}, "`priors_size` must be > 0"),
        ({"priors": [0.5, 0.5, 0.0], "priors_size": 9}, "`priors_size` must come with method 'exact' or 'resample'"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.bcost(["a", "b"], ["a", "b"], C3, **options)
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.bdeltacost(["a", "b"], ["a", "b"], ["b", "b"], C3, **options)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ([[1, 2], [3, 4]], "name each of the 2 classes"),
        ([[1, 2, 3], [1, 2, -3], [0, 0, 0]], ">= 0, got -3"),
        ([[1, 2, 3], [1, 2, 0.5], [0, 0, 0]], "whole counts, got 0.5"),
        (np.zeros((3, 3)), "at least one example"),
        (pd.DataFrame([[1, 2], [3, 4]], index=["a", "z"], columns=["a", "b"]), "rows have 'z'"),
    ],
)
def test_bad_confusions_are_refused(table, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.bcost.from_confusion(table, C3)


def test_a_crosstab_that_lacks_a_prediction_is_filled_with_zeros():
    y, p = ["a"] * 50 + ["b"] * 50 + ["c"] * 50, ["a"] * 70 + ["b"] * 80
    table = pd.crosstab(pd.Series(y), pd.Series(p))
    assert table.shape == (3, 2)
    one, two = cc.bcost.from_confusion(table, C3), cc.bcost(y, p, C3)
    assert (one.lower, one.upper) == (two.lower, two.upper)


@pytest.mark.parametrize(
    ("joint", "message"),
    [
        (np.ones((3, 3)), "k × k × k"),
        (np.ones((2, 2, 2)), "name each"),
        (-np.ones((3, 3, 3)), ">= 0, got -1"),
    ],
)
def test_bad_joint_tables_are_refused(joint, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.bdeltacost.from_joint(joint, C3)


@pytest.mark.parametrize("names", ["ab", ("a",), ("a", "a"), (1, 2)])
def test_bad_names_are_refused(names):
    with pytest.raises(cc.InputError, match="`names` must"):
        cc.bdeltacost(["a"], ["a"], ["b"], C3, names=names)


@pytest.mark.parametrize("predictions", [{}, [["a"], ["b"]], {1: ["a"], 2: ["b"]}])
def test_several_classifiers_need_names(predictions):
    with pytest.raises(cc.InputError, match="`predictions` must"):
        cc.bdeltacost_many(["a"], predictions, C3)


def test_results_are_json_ready_and_print_their_conclusion():
    import json

    y = ["a"] * 40 + ["b"] * 40 + ["c"] * 40
    bad = ["a"] * 120
    cmp = cc.bdeltacost(y, y, bad, C3, names=("good", "bad"))
    assert "good is cheaper" in repr(cmp)
    assert json.loads(json.dumps(cmp.to_dict()))["names"] == ["good", "bad"]
    ci = cc.bcost(y, ["b"] * 60 + ["a"] * 60, C3)
    assert json.loads(json.dumps(ci.to_dict()))["n"] == 120
    assert json.loads(json.dumps(C3.to_dict()))["labels"] == ["a", "b", "c"]
    for result in (cmp, ci, cc.ConfusionMatrix.from_predictions(y, bad)):
        assert len(result.to_frame("polars")) >= 1
