"""Naive Bayes, nearest neighbours and bagging agree with their definitions, written out, and with scikit-learn."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import costcurves as cc
from replications.learners.bagging import Bagging
from replications.learners.bayes import NaiveBayes
from replications.learners.discretise import mdl_cuts
from replications.learners.neighbours import Neighbours

nan = np.nan


def entropy(labels):
    shares = [labels.count(c) / len(labels) for c in set(labels)]
    return -sum(p * math.log2(p) for p in shares)


def cuts_by_definition(pairs):
    """Try every cut of a list of (value, class), accept the best by Fayyad & Irani's rule, go on with both sides."""
    labels = [c for _, c in pairs]
    values = sorted({v for v, _ in pairs})
    tried = []
    for low, high in pairwise(values):
        middle = (low + high) / 2
        left, right = [p for p in pairs if p[0] <= middle], [p for p in pairs if p[0] > middle]
        one, two = [c for _, c in left], [c for _, c in right]
        after = (len(one) * entropy(one) + len(two) * entropy(two)) / len(pairs)
        tried.append((round(after, 10), middle, left, right, one, two))
    if not tried:
        return []
    after, middle, left, right, one, two = min(tried, key=lambda t: t[:2])
    k, k1, k2 = (len(set(c)) for c in (labels, one, two))
    delta = math.log2(3**k - 2) - (k * entropy(labels) - k1 * entropy(one) - k2 * entropy(two))
    if entropy(labels) - after <= (math.log2(len(pairs) - 1) + delta) / len(pairs):
        return []
    return sorted([*cuts_by_definition(left), middle, *cuts_by_definition(right)])


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 12), st.booleans()), min_size=1, max_size=60))
def test_cuts_are_those_of_the_definition(pairs):
    values, y = (np.array(column) for column in zip(*pairs, strict=True))
    assert mdl_cuts(values.astype(float), y).tolist() == cuts_by_definition(pairs)


def test_a_column_of_three_stretches_is_cut_twice_and_missing_values_are_left_out():
    values = np.arange(90.0)
    y = (values >= 30) & (values < 60)
    assert (
        mdl_cuts(values, y).tolist() == [29.5, 59.5] == cuts_by_definition(list(zip(values, y.tolist(), strict=True)))
    )
    some = np.where(np.arange(90) % 9 == 4, nan, values)
    assert mdl_cuts(some, y).tolist() == [29.5, 59.5]
    assert mdl_cuts(np.full(5, nan), np.arange(5) > 2).size == 0


def test_neighbouring_floats_are_parted():
    low = 1.0
    high = np.nextafter(low, 2)
    cuts = mdl_cuts(np.repeat([low, high], 20), np.repeat([False, True], 20))
    assert ((np.array([low, high]) <= cuts[0]) == [True, False]).all()


def test_naive_bayes_on_discrete_columns_is_scikit_learns():
    from sklearn.naive_bayes import CategoricalNB

    rng = np.random.default_rng(0)
    X, y = rng.integers(0, 4, size=(200, 5)), rng.random(200) < 0.3
    X[y, 0] = rng.integers(0, 2, y.sum())
    prior = (np.array([(~y).sum(), y.sum()]) + 1) / 202
    other = CategoricalNB(class_prior=prior, min_categories=4).fit(X, y)
    ours = NaiveBayes().fit(X, y, nominal=[True] * 5)
    assert ours.predict_proba(X) == pytest.approx(other.predict_proba(X), rel=1e-9)


def test_naive_bayes_ignores_missing_and_unknown_values():
    X = np.array([[0, 1.0], [1, 2], [nan, 3], [1, nan], [0, 11], [0, 12], [0, 13], [1, 14], [0, 15], [0, nan]])
    y = np.arange(10) >= 4
    bayes = NaiveBayes().fit(X, y, nominal=[True, False])
    assert [None if c is None else c.tolist() for c in bayes.cuts_] == [None, [7.0]]
    # Of 4 negatives 3 have a known code (1 of them 0) and 3 a known number; of 6 positives all 6 (5) and 5.
    prior, code, number = 7 / 5, (6 / 8) / (2 / 5), (6 / 7) / (1 / 5)
    assert np.exp(bayes.decision_function([[0, 20], [nan, 20], [0, nan], [nan, nan], [5, 20]])) == pytest.approx(
        [prior * code * number, prior * number, prior * code, prior, prior * number]
    )


def test_log_odds_tell_apart_what_probabilities_do_not():
    rng = np.random.default_rng(1)
    y = np.arange(400) % 2 == 0
    X = (y[:, None] ^ (rng.random((400, 120)) < 0.02)).astype(float)
    bayes = NaiveBayes().fit(X, y, nominal=[True] * 120)
    odds = bayes.decision_function(X)
    assert np.unique(bayes.predict_proba(X)[y, 1]).size < np.unique(odds[y]).size
    assert ((odds > 0) == (bayes.predict_proba(X)[:, 1] > 0.5)).all()


@pytest.mark.parametrize("k", [1, 3, 5])
def test_numeric_neighbours_are_scikit_learns(k, monkeypatch):
    from sklearn.neighbors import KNeighborsClassifier

    rng = np.random.default_rng(k)
    X, y = rng.normal(size=(150, 4)) * [1, 10, 0.1, 3], rng.random(150) < 0.4
    test = np.vstack([rng.normal(size=(40, 4)) * [1, 10, 0.1, 3], X[:5]])
    low, span = X.min(axis=0), np.ptp(X, axis=0)
    other = KNeighborsClassifier(k, weights="distance").fit((X - low) / span, y)
    expected = other.predict_proba((test - low) / span)
    assert Neighbours(k).fit(X, y).predict_proba(test) == pytest.approx(expected, rel=1e-9)
    # In chunks of a few examples, too.
    monkeypatch.setattr("replications.learners.neighbours.CHUNK", 1000)
    assert Neighbours(k).fit(X, y).predict_proba(test) == pytest.approx(expected, rel=1e-9)


def votes_by_definition(train, y, nominal, one, k):
    """Measure every distance attribute by attribute, as IBL does; ties with the k-th vote, zeros vote alone."""
    distances = []
    for other in train:
        total = 0.0
        for j, (a, b) in enumerate(zip(one, other, strict=True)):
            if nominal[j]:
                total += 0 if a == b else 1
                continue
            known = [row[j] for row in train if not math.isnan(row[j])]
            low, high = min(known, default=0), max(known, default=0)
            a, b = ((v - low) / (high - low) if high > low else 0 * v for v in (a, b))
            if math.isnan(a) and math.isnan(b):
                total += 1
            elif math.isnan(a) or math.isnan(b):
                there = b if math.isnan(a) else a
                total += max(there, 1 - there) ** 2
            else:
                total += (a - b) ** 2
        distances.append(math.sqrt(total))
    last = sorted(distances)[k - 1]
    voters = [(d, c) for d, c in zip(distances, y, strict=True) if d <= last + 1e-7]
    if any(d == 0 for d, _ in voters):
        voters = [(1, c) for d, c in voters if d == 0]
    return sum(c / d for d, c in voters) / sum(1 / d for d, _ in voters)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_neighbours_of_mixed_and_missing_values_are_those_of_the_definition(data):
    columns = data.draw(st.lists(st.booleans(), min_size=1, max_size=4))
    cell = [st.sampled_from([0.0, 1, 2, nan]) if n else st.sampled_from([0.0, 1, 1.5, 4, 9, nan]) for n in columns]
    table = data.draw(st.lists(st.tuples(*cell), min_size=3, max_size=12))
    y = data.draw(st.lists(st.booleans(), min_size=len(table), max_size=len(table)))
    tests = data.draw(st.lists(st.tuples(*cell), min_size=1, max_size=4))
    k = data.draw(st.integers(1, 3))
    found = Neighbours(k).fit(table, y, columns).predict_proba(tests)[:, 1]
    assert found == pytest.approx([votes_by_definition(table, y, columns, one, k) for one in tests], abs=1e-6)


def test_neighbours_do_not_depend_on_the_order_of_examples():
    rng = np.random.default_rng(3)
    X, y = rng.integers(0, 3, size=(80, 4)).astype(float), rng.random(80) < 0.5
    test = rng.integers(0, 3, size=(20, 4)).astype(float)
    order = rng.permutation(80)
    one = Neighbours(3).fit(X, y, [True] * 4).predict_proba(test)
    assert Neighbours(3).fit(X[order], y[order], [True] * 4).predict_proba(test) == pytest.approx(one, rel=1e-12)


def test_neighbours_equally_far_to_both_sides_share_the_vote():
    # 0.3 - 0.1 and 0.5 - 0.3 differ as floats.
    for middle in np.linspace(0.3, 0.7, 41):
        X = [[0.0], [1.0], [middle - 0.2], [middle + 0.2]]
        found = Neighbours(1).fit(X, [False, False, True, False]).predict_proba([[middle]])
        assert found[0] == pytest.approx([0.5, 0.5], abs=1e-6)


def test_bagging_averages_learners_of_drawn_examples():
    rng = np.random.default_rng(4)
    X, y = rng.normal(size=(60, 2)), rng.random(60) < 0.5
    bag = Bagging(lambda: Neighbours(1), count=7, rng=np.random.default_rng(5)).fit(X, y)
    again = np.random.default_rng(5)
    drawn = [again.integers(60, size=60) for _ in range(7)]
    votes = [Neighbours(1).fit(X[rows], y[rows]).predict_proba(X) for rows in drawn]
    assert bag.predict_proba(X) == pytest.approx(np.mean(votes, axis=0))
    # About 63 % of the examples are drawn, so a learner that knows them by heart is right on most but not all.
    right = (bag.predict_proba(X)[:, 1] > 0.5) == y
    assert right.mean() > 0.8


def test_bad_numbers_are_refused():
    with pytest.raises(cc.InputError, match="`k` must be at least 1, got 0"):
        Neighbours(0)
    with pytest.raises(cc.InputError, match="`count` must be at least 1, got 0"):
        Bagging(NaiveBayes, count=0, rng=np.random.default_rng(0))
    with pytest.raises(cc.InputError, match="`y` must be 2 booleans"):
        NaiveBayes().fit([[1.0], [2.0]], [1, 0])
