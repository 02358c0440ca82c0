"""The candidates of a choice vary together as their errors on the same cases do."""

from __future__ import annotations

import numpy as np
import pytest

from costcurves.inference.candidates import Candidates, _both_wrong
from laws import random_worlds


def cells_of(rng, sizes, numbers):
    """Return, for each class, the number of thresholds that each case's score reaches, for several classifiers."""
    return tuple([rng.integers(0, k + 1, n).astype(np.int32) for k in numbers] for n in sizes)


@pytest.mark.law
def test_cases_that_two_classifiers_both_get_wrong_are_counted_one_by_one():
    for rng in random_worlds(25, stream=1802):
        numbers, n = rng.integers(1, 6, 2), int(rng.integers(1, 40))
        a, b = (rng.integers(0, k + 1, n).astype(np.int32) for k in numbers)
        weight = None if rng.random() < 0.5 else rng.integers(1, 4, n).astype(float)
        counted = np.ones(n) if weight is None else weight
        for positive in (True, False):
            found = _both_wrong(a, b, tuple(numbers), weight, positive)
            for i in range(numbers[0]):
                for j in range(numbers[1]):
                    wrong = (a <= i) & (b <= j) if positive else (a > i) & (b > j)
                    assert found[i, j] == counted[wrong].sum()


@pytest.mark.law
def test_the_covariance_is_that_of_the_cases_and_of_one_more():
    for rng in random_worlds(25, stream=1803):
        sizes, numbers = rng.integers(3, 40, 2), rng.integers(1, 6, 3).tolist()
        cells = cells_of(rng, sizes, numbers)
        effective = tuple(float(n) for n in sizes)
        found = Candidates.of_cells(cells, numbers, (None, None), (None, None), effective)
        for side, (own, n) in enumerate(zip(cells, sizes, strict=True)):
            wrong = np.concatenate(
                [c[:, None] < np.arange(1, k + 1) if side == 0 else c[:, None] >= np.arange(1, k + 1)
                 for c, k in zip(own, numbers, strict=True)], axis=1)  # fmt: skip
            # One more case is wrong, or right, for all with equal probability: two halves of a case.
            table = np.vstack([wrong, np.ones(wrong.shape[1]), np.zeros(wrong.shape[1])])
            weights = np.append(np.ones(n), [0.5, 0.5])
            expected = np.cov(table.T, aweights=weights, ddof=0) / n
            assert found._covariances[side] == pytest.approx(np.atleast_2d(expected), abs=1e-12)
            assert np.linalg.eigvalsh(found._covariances[side]).min() > -1e-12


def covariance_of(field):
    pos, neg = (c[np.ix_(field.number, field.number)] for c in field.covariances)
    return field.pc**2 * pos + (1 - field.pc) ** 2 * neg


@pytest.mark.parametrize("shared", [False, True])
def test_draws_vary_as_the_covariance_says(shared):
    cells = cells_of(np.random.default_rng(6), (60, 90), [4, 5])
    candidates = Candidates.of_cells(cells, [4, 5], (None, None), (None, None), (60.0, 90.0))
    draws = candidates.draws(np.arange(9)) if shared else None
    for pc in (0.4, 0.7):
        field = candidates.at(pc, np.ones(9, bool), shared=draws)
        assert field.hopeful.all()
        expected = covariance_of(field)
        scale = np.sqrt(np.multiply.outer(np.diag(expected), np.diag(expected)))
        assert np.abs((np.cov(field.draws) - expected) / scale).max() < 0.12  # 2,000 draws


def test_the_lowest_cost_between_two_thresholds_is_that_of_a_random_walk():
    # 1,000 negatives between two thresholds: the cost is a walk of as many steps, pinned at both ends.
    rng = np.random.default_rng(8)
    cells = ([np.array([0, 2] * 50, dtype=np.int32)], [rng.permutation(np.repeat([0, 1, 2], [500, 1000, 500]))])
    cells = (cells[0], [cells[1][0].astype(np.int32)])
    sizes = (100.0, 2000.0)
    field = Candidates.of_cells(cells, [2], (None, None), (None, None), sizes, [np.array([999.0, 0.0])]).at(
        0.5, np.ones(2, bool)
    )
    pairs = np.array([0])
    ends = [np.zeros((1, 2000), np.float32), np.full((1, 2000), 0.002, np.float32)]
    found = field._lowest_between(pairs, *ends, rng.standard_exponential((1, 2000), dtype=np.float32))[0]
    covariance = covariance_of(field)
    variance = covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]
    steps = rng.normal(0, np.sqrt(variance / 1000), (4000, 1000)).cumsum(axis=1)
    bridge = steps - steps[:, -1:] * np.arange(1, 1001) / 1000 + 0.002 * np.arange(1, 1001) / 1000
    walked = np.minimum(bridge[:, :-1].min(axis=1), 0.0)
    for share in (0.1, 0.5, 0.9):
        assert np.quantile(found, share) == pytest.approx(np.quantile(walked, share), abs=0.05 * np.sqrt(variance))
