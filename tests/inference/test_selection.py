"""The candidates of a choice vary together as their errors on the same cases do."""

from __future__ import annotations

import numpy as np
import pytest

from costcurves.inference.selection import Candidates, _both_wrong
from laws import random_worlds


def cells_of(rng, sizes, numbers):
    """Return, for each class, the number of thresholds that each case's score reaches, for several classifiers."""
    return tuple([rng.integers(0, k + 1, n).astype(np.int32) for k in numbers] for n in sizes)


@pytest.mark.law
def test_cases_that_two_classifiers_both_get_wrong_are_counted_one_by_one():
    for rng in random_worlds(50, stream=1802):
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
    for rng in random_worlds(50, stream=1803):
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


def test_draws_vary_as_the_covariance_says():
    rng = np.random.default_rng(6)
    cells = cells_of(rng, (60, 90), [4, 5])
    field = Candidates.of_cells(cells, [4, 5], (None, None), (None, None), (60.0, 90.0)).at(0.4, np.ones(9, bool))
    assert field.hopeful.all()
    seen = np.cov(field.draws)
    scale = np.sqrt(np.multiply.outer(np.diag(field.covariance), np.diag(field.covariance)))
    assert np.abs((seen - field.covariance) / scale).max() < 0.12  # 2,000 draws
