"""The methods of k-class costs: one registry, one default at every door, and warnings where limits may not hold."""

from __future__ import annotations

import inspect
import warnings

import numpy as np
import pytest

import costcurves as cc
from costcurves.cli import classes
from costcurves.inference.cost_cells import mean_of_cells
from costcurves.inference.cost_methods import COST_METHODS, DEFAULT_METHOD, CostMethod

COSTS = [[0, 1, 2], [3, 0, 1], [9, 2, 0]]
DOORS = [
    cc.bcost.__call__,
    cc.bcost.from_confusion,
    cc.bdeltacost.__call__,
    cc.bdeltacost.from_joint,
    cc.bdeltacost_many,
    cc.covers_cost,
    cc.covers_difference,
    classes.bcost,
    classes.bdeltacost,
]


@pytest.mark.parametrize("door", DOORS, ids=lambda door: door.__qualname__)
def test_every_door_has_the_same_default(door):
    assert inspect.signature(door).parameters["method"].default == DEFAULT_METHOD


class HalfLaw:
    """Limits at half and at twice the estimate."""

    distribution, smallest_p, doubt = None, 0.01, None

    def __init__(self, cells, options):
        self.mean = mean_of_cells(cells)

    def limits(self, lower_tail, upper_tail):
        return tuple(sorted((0.5 * self.mean, 2 * self.mean)))

    def tails(self, at):
        return (0.01, 0.99) if self.mean > at else (0.99, 0.01)

    def bound(self, at):
        return self.tails(at)[1]


def test_a_method_is_one_entry_of_the_registry(monkeypatch):
    monkeypatch.setitem(COST_METHODS, "half", CostMethod(HalfLaw, allows_unseen=True))
    y, a = np.repeat([0, 1, 2], 20), np.repeat([0, 1, 1], 20)
    found = cc.bcost(y, a, COSTS, method="half")
    assert (found.lower, found.upper, found.method) == (found.estimate / 2, 2 * found.estimate, "half")
    assert cc.bdeltacost(y, y, a, COSTS, method="half").cheaper == "a"
    many = cc.bdeltacost_many(y, {"right": y, "a": a}, COSTS, method="half")
    assert (many.best_name, many.sure) == ("right", True)


@pytest.mark.parametrize("method", [name for name in COST_METHODS if name != "resample"])
def test_every_method_takes_priors_and_its_limits_enclose_the_estimate(method):
    rng = np.random.default_rng(5)
    table = rng.multinomial(300, rng.dirichlet(np.ones(9) + 5 * np.eye(3).ravel())).reshape(3, 3)
    y, a, b = rng.integers(0, 3, (3, 300))
    for priors in (None, [0.6, 0.3, 0.1]):
        one = cc.bcost.from_confusion(table, COSTS, method=method, priors=priors)
        assert one.lower < one.estimate < one.upper
        assert one.estimate == pytest.approx(
            float((table * COSTS).sum() / 300)
            if priors is None
            else sum(p * (row @ cost) / row.sum() for p, row, cost in zip(priors, table, np.array(COSTS), strict=True))
        )
        two = cc.bdeltacost(y, a, b, COSTS, method=method, priors=priors)
        assert two.lower < two.estimate < two.upper
        assert two.significant() == (two.p_value <= 0.05)
        assert two.costs[0] - two.costs[1] == pytest.approx(two.estimate)


def test_mid_p_limits_warn_where_many_costs_were_seen_about_once():
    k = 12
    table = np.diag(np.full(k, 20)) + np.roll(np.eye(k, dtype=int), 1, axis=1)
    own = np.arange(k * k, dtype=float).reshape(k, k) + 1
    with pytest.warns(cc.SmallSampleWarning, match="12 costly examples have 12 different costs: limits of 'mid-p'"):
        cc.bcost.from_confusion(table, own * (1 - np.eye(k)), method="mid-p")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        cc.bcost.from_confusion(table, 1 - np.eye(k), method="mid-p")
        cc.bcost.from_confusion(table, own * (1 - np.eye(k)))


def test_only_methods_that_cannot_see_rare_errors_warn_of_them():
    table, costs = [[900, 90], [0, 10]], [[0, 1], [10_000, 0]]
    for method, entry in COST_METHODS.items():
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            found = cc.bcost.from_confusion(table, costs, method=method, rng=0)
        assert bool(told) == (not entry.allows_unseen)
        assert len(found.risks) == 1
        assert ("widen the interval" in repr(found)) == entry.allows_unseen
        assert (found.upper > 10) == (entry.allows_unseen or entry.bootstrap)


@pytest.mark.parametrize("level", [1e-6, 0.05, 0.1, 0.5])
def test_low_levels_have_limits_too(level):
    found = cc.bcost([0, 0, 1, 1, 1], [0, 1, 1, 1, 1], [[0, 1], [50, 0]], level=level)
    assert found.lower <= found.estimate <= found.upper
