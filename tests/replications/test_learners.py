"""The trees and the stump of the replications, against enumeration, scikit-learn and SciPy."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import costcurves as cc
from replications.learners.splits import CRITERIA, Columns, best_split
from replications.learners.stump import OneRule, intervals
from replications.learners.trees import DecisionTree, pessimistic_errors

IMPURITY = {
    "entropy": lambda p: -sum(q * math.log2(q) for q in (p, 1 - p) if q > 0),
    "gini": lambda p: 1 - p**2 - (1 - p) ** 2,
    "dkm": lambda p: 2 * math.sqrt(p * (1 - p)),
    "accuracy": lambda p: min(p, 1 - p),
}


def small_data(seed, n=14, missing=0.0):
    rng = np.random.default_rng(seed)
    X = np.column_stack([rng.integers(0, 6, n), rng.normal(size=n).round(1), rng.integers(0, 3, n)]).astype(float)
    X[rng.random(X.shape) < missing] = np.nan
    y = rng.random(n) < 0.4
    y[:2] = [True, False]
    return X, y, np.array([False, False, True])


def impurity_of(group, name):
    return len(group) * IMPURITY[name](sum(group) / len(group)) if len(group) else 0.0


def gains_by_enumeration(X, y, nominal, name, min_leaf):
    """Return {(column, threshold or None): (gain, information)} of all splits, group by group."""
    found = {}
    for column in range(X.shape[1]):
        known = [i for i in range(len(y)) if not math.isnan(X[i, column])]
        values = sorted({X[i, column] for i in known})
        if nominal[column]:
            ways = [(None, [[i for i in known if X[i, column] == v] for v in values])]
        else:
            ways = [
                ((a + b) / 2, [[i for i in known if X[i, column] <= a], [i for i in known if X[i, column] >= b]])
                for a, b in pairwise(values)
            ]
        for threshold, groups in ways:
            if sum(len(g) >= min_leaf for g in groups) < 2:
                continue
            gain = impurity_of(y[known], name) - sum(impurity_of(y[g], name) for g in groups)
            shares = [len(g) / len(y) for g in groups] + [1 - len(known) / len(y)]
            found[column, threshold] = (gain / len(y), -sum(s * math.log2(s) for s in shares if s > 0))
    return found


def chosen(X, y, nominal, **options):
    rows = np.arange(len(y))
    return best_split(Columns.of(X, nominal), rows, np.ones(len(y)), y.astype(float), **options)


@pytest.mark.parametrize("missing", [0.0, 0.3])
@pytest.mark.parametrize("criterion", CRITERIA)
def test_the_best_split_is_that_of_enumeration(criterion, missing):
    for seed in range(25):
        X, y, nominal = small_data(seed, missing=missing)
        split = chosen(X, y, nominal, criterion=criterion, min_leaf=2)
        found = gains_by_enumeration(X, y, nominal, criterion, 2)
        best = max((gain for gain, _ in found.values()), default=0.0)
        if best < 1e-9:
            assert split is None
            continue
        assert split.gain == pytest.approx(best, abs=1e-12)
        key = split.column, None if nominal[split.column] else split.threshold
        near = {k: v for k, v in found.items() if k[0] == key[0] and (k[1] is None or abs(k[1] - key[1]) < 1e-9)}
        assert [gain for gain, _ in near.values()] == pytest.approx([best])


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_the_gain_ratio_is_that_of_enumeration_among_columns_of_average_gain(missing):
    for seed in range(25):
        X, y, nominal = small_data(seed, missing=missing)
        found = gains_by_enumeration(X, y, nominal, "entropy", 2)
        of_column = {}
        for (column, _), (gain, information) in found.items():
            if gain > 1e-9 and gain > of_column.get(column, (0, 0))[0] + 1e-12:
                of_column[column] = (gain, information)
        split = chosen(X, y, nominal, gain_ratio=True, min_leaf=2)
        average = np.mean([gain for gain, _ in of_column.values()])
        ratios = {c: gain / info for c, (gain, info) in of_column.items() if gain >= average - 1e-12}
        assert ratios[split.column] == pytest.approx(max(ratios.values()))


def test_fractions_of_examples_count_as_fractions():
    X, y, nominal = small_data(3, n=12)
    columns, twice = Columns.of(X, nominal), Columns.of(np.vstack([X, X[:4]]), nominal)
    weight = np.where(np.arange(12) < 4, 2.0, 1.0)
    one = best_split(columns, np.arange(12), weight / 2, y.astype(float), min_leaf=0.5)
    two = best_split(twice, np.arange(16), np.ones(16), np.concatenate([y, y[:4]]).astype(float), min_leaf=1)
    assert (one.column, one.threshold) == (two.column, two.threshold)
    assert one.gain == pytest.approx(two.gain)


def rows_of_nodes(tree, X):
    """Return which rows reach each node of a tree on numeric columns without missing values."""
    nodes = tree.nodes_
    found = {0: np.arange(len(X))}
    for node in np.flatnonzero(nodes.column >= 0):
        right = X[found[node], nodes.column[node]] > nodes.threshold[node]
        found[nodes.first[node]], found[nodes.first[node] + 1] = found[node][~right], found[node][right]
    return found


@pytest.mark.parametrize("criterion", ["entropy", "gini"])
@pytest.mark.parametrize("seed", range(3))
def test_every_node_of_a_numeric_tree_is_split_as_well_as_scikit_learn_splits_it(criterion, seed):
    # Node by node, because splits that are equally good are common and each of us takes another.
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(seed)
    X = rng.normal(size=(400, 5)).astype(np.float32).astype(float)
    y = X[:, 0] + X[:, 1] ** 2 + rng.normal(size=400) > 1
    ours = DecisionTree(criterion=criterion, min_leaf=5, confidence=None, laplace=False).fit(X, y)
    here = rows_of_nodes(ours, X)
    assert len(here) == ours.nodes_.column.size > 30
    for node, rows in here.items():
        theirs = DecisionTreeClassifier(criterion=criterion, min_samples_leaf=5, max_depth=1).fit(X[rows], y[rows])
        after = theirs.tree_.impurity[-2:] @ theirs.tree_.n_node_samples[-2:] / rows.size
        if ours.nodes_.column[node] < 0:
            assert theirs.get_n_leaves() == 1 or after == pytest.approx(theirs.tree_.impurity[0], abs=1e-9)
            continue
        children = ours.nodes_.first[node] + np.arange(2)
        parted = sum(CRITERIA[criterion](np.sum(~y[here[c]]), np.sum(y[here[c]])) for c in children)
        assert parted / rows.size == pytest.approx(after)
    expected = [y[rows].mean() for node, rows in here.items() if ours.nodes_.column[node] < 0]
    assert sorted(set(ours.predict_proba(X)[:, 1])) == pytest.approx(sorted(set(expected)))


@pytest.mark.parametrize("criterion", ["entropy", "gini", "dkm"])
def test_an_unlimited_tree_knows_its_training_set(criterion):
    from sklearn.tree import DecisionTreeClassifier

    rng = np.random.default_rng(7)
    X, y = rng.normal(size=(300, 4)), rng.random(300) < 0.3
    ours = DecisionTree(criterion=criterion, min_leaf=1, confidence=None, laplace=False).fit(X, y)
    assert (ours.predict(X) == DecisionTreeClassifier(random_state=0).fit(X, y).predict(X)).all()
    assert (ours.predict(X) == y).all()
    assert set(ours.predict_proba(X)[:, 1]) == {0.0, 1.0}


def test_pessimistic_errors_are_the_exact_binomial_limit():
    from scipy.stats import binom

    for cases, errors in [(6, 0), (9, 0), (1, 0), (16, 1), (15, 2), (30, 11), (200, 3)]:
        limit = pessimistic_errors(errors, cases, 0.25) / cases
        assert binom.cdf(errors, cases, limit) == pytest.approx(0.25)
    # Quinlan's own examples: 6, 9 and 1 cases without an error.
    limits = pessimistic_errors(np.zeros(3), np.array([6.0, 9.0, 1.0]), 0.25) / [6, 9, 1]
    assert limits.round(3).tolist() == [0.206, 0.143, 0.75]
    assert pessimistic_errors(np.array([4.0, 0.0]), np.array([4.0, 0.0]), 0.25).tolist() == [4.0, 0.0]


def test_quinlan_s_subtree_becomes_a_leaf():
    # 16 cases, one of the minority, in branches of 6, 9 and 1: leaves promise 3.273 errors, the leaf fewer.
    X = np.repeat([0.0, 1.0, 2.0], [6, 9, 1])[:, None]
    y = np.arange(16) == 15
    grown = DecisionTree(min_leaf=1, confidence=None).fit(X, y, nominal=[True])
    assert grown.nodes_.leaves == 3
    leaves = pessimistic_errors(np.zeros(3), np.array([6.0, 9.0, 1.0]), 0.25)
    assert leaves.sum() == pytest.approx(3.273, abs=2e-3)
    assert pessimistic_errors(1, 16, 0.25) < leaves.sum()
    tree = DecisionTree(min_leaf=1).fit(X, y, nominal=[True])
    assert tree.nodes_.leaves == 1
    assert tree.predict_proba([[2.0]])[0].tolist() == pytest.approx([16 / 18, 2 / 18])


def test_pruning_keeps_what_pays_and_less_with_a_smaller_confidence():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 6))
    y = (X[:, 0] > 0) ^ (rng.random(500) < 0.15)
    leaves = [DecisionTree(confidence=c).fit(X, y).nodes_.leaves for c in (None, 0.5, 0.25, 0.05, 1e-6)]
    assert leaves == sorted(leaves, reverse=True)
    assert leaves[0] > leaves[2] > leaves[3]
    assert leaves[-1] == 2


def errors_of_the_best_pruning(nodes, node=0):
    """Return the errors promised below a node and its leaves, by recursion: a leaf wherever it promises as few."""
    negatives, positives = nodes.cases[node] - nodes.positives[node], nodes.positives[node]
    leaf = float(pessimistic_errors(min(negatives, positives), nodes.cases[node], 0.25))
    if nodes.column[node] < 0:
        return leaf, 1
    below = [errors_of_the_best_pruning(nodes, nodes.first[node] + i) for i in range(nodes.branches[node])]
    errors, leaves = (sum(one[i] for one in below) for i in (0, 1))
    return (leaf, 1) if leaf <= errors + 0.1 else (errors, leaves)


def test_pruning_takes_the_leaf_unless_the_subtree_promises_a_tenth_of_an_error_fewer():
    rng = np.random.default_rng(11)
    found = set()
    for _ in range(30):
        X = rng.normal(size=(60, 3))
        y = (X[:, 0] + rng.normal(size=60)) > 0
        grown = DecisionTree(confidence=None).fit(X, y)
        leaves = DecisionTree().fit(X, y).nodes_.leaves
        assert leaves == errors_of_the_best_pruning(grown.nodes_)[1]
        found.add(grown.nodes_.leaves - leaves)
    assert len(found) > 3


def route(tree, x, node=0):
    """Return the probability of a positive by recursion, one example at a time."""
    nodes = tree.nodes_
    column = nodes.column[node]
    if column < 0:
        return nodes.value[node]
    children = range(nodes.first[node], nodes.first[node] + nodes.branches[node])
    if not math.isnan(x[column]):
        code = int(x[column]) if math.isnan(nodes.threshold[node]) else int(x[column] > nodes.threshold[node])
        if code < len(children):
            return route(tree, x, children[code])
    cases = [nodes.cases[child] for child in children]
    return sum(n / sum(cases) * route(tree, x, child) for n, child in zip(cases, children, strict=True) if n > 0)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), criterion=st.sampled_from(sorted(CRITERIA)), pruned=st.booleans())
def test_examples_with_missing_or_new_values_go_down_all_branches_by_their_shares(seed, criterion, pruned):
    X, y, nominal = small_data(seed, n=40, missing=0.2)
    tree = DecisionTree(criterion=criterion, confidence=0.25 if pruned else None).fit(X, y, nominal)
    fresh, _, _ = small_data(seed + 1, n=20, missing=0.3)
    fresh[0, 2] = 7
    found = tree.predict_proba(fresh)
    assert found[:, 1] == pytest.approx([route(tree, x) for x in fresh])
    assert found.sum(axis=1) == pytest.approx(1)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6), criterion=st.sampled_from(sorted(CRITERIA)), ratio=st.booleans())
def test_laws_of_trees(seed, criterion, ratio):
    X, y, nominal = small_data(seed, n=40, missing=0.2)
    options = {"criterion": criterion, "gain_ratio": ratio, "confidence": None}
    tree = DecisionTree(**options).fit(X, y, nominal)
    nodes = tree.nodes_
    inner = np.flatnonzero(nodes.column >= 0)
    # No weight is lost on the way down, and every split has two branches with enough of it.
    for node in inner:
        children = slice(nodes.first[node], nodes.first[node] + nodes.branches[node])
        assert nodes.cases[children].sum() == pytest.approx(nodes.cases[node])
        assert nodes.positives[children].sum() == pytest.approx(nodes.positives[node])
        assert (nodes.cases[children] >= 2).sum() >= 2
    # Numeric columns count by order alone, classes by their difference alone.
    moved = X.copy()
    moved[:, :2] = 4 * X[:, :2] + 8
    assert DecisionTree(**options).fit(moved, y, nominal).predict_proba(moved) == pytest.approx(tree.predict_proba(X))
    swapped = DecisionTree(**options).fit(X, ~y, nominal).predict_proba(X)
    assert swapped[:, ::-1] == pytest.approx(tree.predict_proba(X))
    order = np.random.default_rng(seed).permutation(len(y))
    assert DecisionTree(**options).fit(X[order], y[order], nominal).predict_proba(X) == pytest.approx(
        tree.predict_proba(X)
    )


def test_a_branch_that_no_example_reached_answers_as_its_parent():
    X = np.array([[0.0], [0.0], [0.0], [2.0], [2.0]])
    y = np.array([True, True, True, False, False])
    tree = DecisionTree(confidence=None).fit(X, y, nominal=[True])
    assert tree.predict_proba([[0.0], [1.0], [2.0]])[:, 1].tolist() == pytest.approx([4 / 5, 4 / 7, 1 / 4])


def test_neighbouring_floats_are_parted():
    X = np.array([1.0, 1.0, np.nextafter(1.0, 2), np.nextafter(1.0, 2)])[:, None]
    y = np.array([True, True, False, False])
    assert (DecisionTree(confidence=None).fit(X, y).predict(X) == y).all()


def test_accuracy_does_not_split_where_both_sides_have_the_same_answer():
    X = np.arange(10.0)[:, None]
    y = np.arange(10) >= 6
    y[:3] = [False, True, False]
    y[5:] = False
    assert DecisionTree(criterion="accuracy", confidence=None).fit(X, y).nodes_.leaves == 1
    assert DecisionTree(criterion="dkm", confidence=None).fit(X, y).nodes_.leaves > 1


def test_bad_arguments_of_learners_are_refused_by_name():
    with pytest.raises(cc.InputError, match="`criterion` must be one of entropy, gini, dkm, accuracy, got 'chi'"):
        DecisionTree(criterion="chi")
    with pytest.raises(cc.InputError, match=r"`confidence` must be in \(0, 1\) or None, got 25"):
        DecisionTree(confidence=25)
    with pytest.raises(cc.InputError, match="`min_leaf` must be positive, got 0"):
        DecisionTree(min_leaf=0)
    with pytest.raises(cc.InputError, match="`min_bucket` must be at least 1, got 0"):
        OneRule(min_bucket=0)
    with pytest.raises(cc.InputError, match="`X` must be a full array"):
        DecisionTree().fit([1.0, 2.0], [True, False])
    with pytest.raises(cc.InputError, match="`y` must be 2 booleans, got int64 of shape"):
        DecisionTree().fit([[1.0], [2.0]], [1, 0])
    with pytest.raises(cc.InputError, match=r"`nominal` must have one entry per column \(1\), got shape \(2,\)"):
        DecisionTree().fit([[1.0], [2.0]], [True, False], nominal=[True, False])
    with pytest.raises(cc.InputError, match=r"`X` must hold codes 0, 1, \.\.\. in nominal columns, got 0\.5"):
        OneRule().fit([[0.5], [2.0]], [True, False], nominal=[True])


def test_one_rule_cuts_intervals_by_hand():
    # With three of a class at least: F F F | T T F T T -> answers F and T; the last F T T joins them.
    values = np.array([1.0, 2, 3, 4, 5, 6, 7, 8])
    positive = np.array([False, False, False, True, True, False, True, True])
    assert intervals(values, positive, 3).tolist() == [3.5]
    # Two intervals with the same answer become one: F F F | T F F F.
    one_answer = np.array([False, False, False, True, False, False, False])
    assert intervals(np.arange(7.0), one_answer, 3).tolist() == []
    # Equal values stay together, whatever their classes.
    assert intervals(np.array([1.0, 1, 1, 2, 2, 2]), np.array([0, 0, 1, 1, 1, 1], dtype=bool), 2).tolist() == [1.5]
    assert intervals(np.array([np.nan, 1.0]), np.array([True, False]), 1).tolist() == []


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_one_rule_takes_the_column_with_the_fewest_errors(seed):
    X, y, nominal = small_data(seed, n=30, missing=0.2)
    rule = OneRule(min_bucket=3).fit(X, y, nominal)
    wrong = []
    for column in range(3):
        alone = OneRule(min_bucket=3).fit(X[:, [column]], y, nominal[[column]])
        wrong.append(int((alone.predict(X[:, [column]]) != y).sum()))
    assert wrong[rule.column_] == min(wrong) == (rule.predict(X) != y).sum()
    # The nominal column: the more frequent class of each value, a missing one too.
    groups = [y[X[:, 2] == v] for v in range(3)] + [y[np.isnan(X[:, 2])]]
    assert wrong[2] == sum(min(g.sum(), (~g).sum()) for g in groups)


def test_one_rule_answers_new_values_with_the_answer_of_all():
    X = np.array([[0.0], [0.0], [2.0], [2.0], [2.0], [np.nan]])
    y = np.array([True, True, False, False, False, True])
    rule = OneRule().fit(X, y, nominal=[True])
    assert rule.predict_proba([[0.0], [1.0], [2.0], [9.0], [np.nan]])[:, 1].tolist() == pytest.approx(
        [3 / 4, 4 / 8, 1 / 5, 4 / 8, 2 / 3]
    )
