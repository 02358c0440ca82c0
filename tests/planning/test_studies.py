"""Coverage that is summed, and intervals of many test sets judged at once, against one interval at a time."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from scipy.stats import binom

import costcurves as cc
from costcurves.inference.kernel.distribution import exact_distribution
from costcurves.inference.kernel.strata import Stratum
from costcurves.inference.levels import Cells, bootstrap_levels
from costcurves.inference.rates import cells_interval, mid_p_at

EXPF5 = np.array([0.2102, 0.4473, 0.2568, 0.0016, 0.0841])


def five_class_sets(model, sets, seed):
    rng = np.random.default_rng(seed)
    C = cc.cost_models(model, EXPF5, rng=rng)
    joint = EXPF5[:, None] * (0.95 * np.eye(5) + 0.05 * rng.dirichlet(np.ones(5), 5))
    tables = rng.multinomial(1000, joint.ravel(), sets).reshape(sets, 5, 5)
    return C, float((joint * C.values).sum()), tables


@pytest.mark.parametrize("model", ["M1", "M6", "M7", "M9"])
@pytest.mark.parametrize("laplace", [0.0, 0.1])
def test_levels_of_many_sets_are_those_of_one_distribution_at_a_time(model, laplace):
    C, truth, tables = five_class_sets(model, 4, seed=3)
    cells = Cells(tables.reshape(4, 25), C.values.ravel() / 1000, laplace)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        one = [cc.bcost.from_confusion(M, C, laplace=laplace, method="exact").distribution for M in tables]
    # Interpolated distributions state a resolution of up to a few hundredths of their spread.
    assert bootstrap_levels([cells], truth) == pytest.approx([float(d.cdf(truth)) for d in one], abs=1e-3)


def test_levels_of_several_strata_are_those_of_the_kernel():
    counts, values = [np.array([[18, 2, 0], [15, 4, 1]]), np.array([[9, 1, 0], [7, 1, 2]])], np.array([0.0, 1.0, 2.7])
    strata = [Cells(c, w * values / c[0].sum(), 0.3) for c, w in zip(counts, (0.2, 0.8), strict=True)]
    for row in range(2):
        parts = [Stratum(s.draws, s.rates()[row], s.values) for s in strata]
        expected = float(exact_distribution(parts).cdf(0.2505))
        assert bootstrap_levels(strata, 0.2505)[row] == pytest.approx(expected, abs=2e-4)


def test_an_atom_at_the_value_counts_half():
    cells = Cells(np.array([[19, 1]]), np.array([0.0, 1 / 20]))
    expected = binom.cdf(0, 20, 0.05) + 0.5 * binom.pmf(1, 20, 0.05)
    assert bootstrap_levels([cells], 1 / 20)[0] == pytest.approx(expected, abs=1e-4)


def test_a_set_without_any_spread_lies_wholly_on_one_side():
    cells = Cells(np.array([[20, 0], [0, 20]]), np.array([0.0, 1 / 20]))
    assert bootstrap_levels([cells], 0.5).tolist() == [1.0, 0.0]
    assert bootstrap_levels([cells], 0.0).tolist() == [0.5, 0.0]


@pytest.mark.parametrize("method", ["tilted", "exact", "gaussian", "mid-p"])
def test_sets_judged_at_once_agree_with_one_interval_at_a_time(method):
    C, truth, tables = five_class_sets("M3", 6, seed=5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        each = [cc.bcost.from_confusion(M, C, method=method) for M in tables]
    for cost in (truth, each[0].lower * 1.01, each[1].upper * 0.99):
        held = [ci.lower <= cost <= ci.upper for ci in each]
        assert cc.covers_cost(tables, C, cost, method=method).tolist() == held


@pytest.mark.filterwarnings("ignore::costcurves.SmallSampleWarning")
@pytest.mark.parametrize("method", ["tilted", "exact", "gaussian", "mid-p"])
def test_differences_judged_at_once_agree_with_one_test_at_a_time(method):
    rng = np.random.default_rng(2)
    C = cc.cost_models("M4", [0.3, 0.3, 0.4], rng=rng)
    joints = rng.multinomial(100, rng.dirichlet(np.full(27, 0.3)), 6).reshape(6, 3, 3, 3)
    each = [cc.bdeltacost.from_joint(joint, C, method=method) for joint in joints]
    middle = float(np.median([e.estimate for e in each]))
    for x in (0.0, middle):
        assert cc.covers_difference(joints, C, x, method=method).tolist() == [e.lower <= x <= e.upper for e in each]


def test_priors_make_classes_strata():
    C, _, _ = five_class_sets("M1", 1, seed=1)
    rng = np.random.default_rng(0)
    sizes = [40, 60, 50, 5, 30]
    tables = np.stack([rng.multinomial(n, [0.6, 0.1, 0.1, 0.1, 0.1], 8) for n in sizes], axis=1)
    priors = np.full(5, 0.2)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", cc.SmallSampleWarning)
        each = [cc.bcost.from_confusion(M, C, priors=priors, method="exact") for M in tables]
    cost = float(np.mean([ci.upper for ci in each]))
    held = cc.covers_cost(tables, C, cost, priors=priors, method="exact")
    assert 0 < held.sum() < 8
    assert held.tolist() == [ci.lower <= cost <= ci.upper for ci in each]
    with pytest.raises(cc.DataError, match="the same number of examples of class 0 in each set, got 39 to 40"):
        cc.covers_cost(
            tables - (np.arange(8) == 3)[:, None, None] * np.eye(5, dtype=int)[0], C, 1.0, priors=priors, method="exact"
        )


@pytest.mark.parametrize(
    ("tables", "options", "message"),
    [
        (np.ones((3, 2, 3)), {}, r"`confusions` must have shape \(sets, 2, 2\), got \(3, 2, 3\)"),
        (np.ones((0, 2, 2)), {}, r"`confusions` must have shape"),
        (-np.ones((1, 2, 2)), {}, "`confusions` must hold counts >= 0, got -1"),
        (np.ones((1, 2, 2)), {"method": "wald"}, "`method` must be one of"),
        (np.ones((1, 2, 2)), {"laplace": 0.1}, "`laplace` must come with method 'exact', got method 'tilted'"),
        (np.ones((1, 2, 2)), {"method": "exact", "laplace": -1}, "`laplace` must be >= 0, got -1"),
    ],
)
def test_bad_sets_are_refused_by_name(tables, options, message):
    with pytest.raises(cc.CostCurvesError, match=message):
        cc.covers_cost(tables, [[0, 1], [5, 0]], 0.1, **options)


def test_differences_in_test_sets_of_random_class_sizes_are_covered_by_the_interval_that_expects_them():
    rates = {"positives": (0.3, 0.0), "negatives": (0.0, 0.2), "n_pos": 300, "n_neg": 300, "pc": [0.9], "level": 0.9}
    options = {"method": "gaussian", "sampling": "full", "rng": 1}
    assert cc.difference_coverage(**rates, **options, test_sets="full").probability == pytest.approx(0.9, abs=0.015)
    assert cc.difference_coverage(**rates, **options).probability[0] > 0.93
    with pytest.raises(cc.InputError, match="`test_sets='full'` must come with `sampling='full'`, got 'stratified'"):
        cc.difference_coverage(**rates, test_sets="full")


def test_the_mid_p_interval_of_one_kind_of_error_is_the_mid_p_interval_of_its_rate():
    low, high = mid_p_at(np.array([3.0]), 100.0, 1.959963984540054)
    ci = cc.bcost.from_confusion([[57, 3], [0, 40]], [[0, 7], [0, 0]], method="mid-p")
    assert (ci.lower, ci.upper) == (pytest.approx(7 * low[0]), pytest.approx(7 * high[0]))


def test_the_mid_p_interval_approaches_the_normal_one_where_errors_are_many():
    C = cc.CostMatrix([[0, 3, 1], [2, 0, 5], [4, 1, 0]])
    table = 10_000 * np.array([[30, 5, 4], [6, 40, 5], [3, 7, 50]])
    z, mid = (cc.bcost.from_confusion(table, C, method=method) for method in ("gaussian", "mid-p"))
    assert (mid.lower, mid.upper) == (pytest.approx(z.lower, rel=1e-4), pytest.approx(z.upper, rel=1e-4))


def test_signed_values_swap_their_limits():
    counts, values = np.array([5, 3, 92]), np.array([1.0, -2.0, 0.5])
    one, low, high = cells_interval([(counts, values)], 1.96)
    other, low_other, high_other = cells_interval([(counts, -values)], 1.96)
    assert (one, low, high) == (-other, pytest.approx(-high_other), pytest.approx(-low_other))


def test_the_p_value_of_the_mid_p_test_is_where_the_interval_reaches_zero():
    joint = np.zeros((2, 2, 2), dtype=int)
    joint[0, 0, 0], joint[0, 1, 0], joint[1, 1, 1], joint[1, 0, 1], joint[1, 1, 0] = 50, 4, 40, 9, 2
    test = cc.bdeltacost.from_joint(joint, [[0, 1], [5, 0]], method="mid-p")
    edge = cc.bdeltacost.from_joint(joint, [[0, 1], [5, 0]], method="mid-p", level=1 - test.p_value)
    assert edge.lower == pytest.approx(0, abs=1e-6)
    assert 0.001 < test.p_value < 0.1


@pytest.mark.parametrize("method", ["wilson", "gaussian"])
@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_summed_coverage_agrees_with_intervals_of_simulated_test_sets(method, sampling):
    fnr, fpr, n, pc = 0.08, 0.3, 30, 0.7
    rates = cc.RocCurve.from_rates(fpr, 1 - fnr)
    truth = cc.CostCurve(rates, policy=cc.thresholds.point(1))
    summed = cc.coverage(truth, n_pos=n, n_neg=n, pc=[pc], level=0.9, method=method, sampling=sampling)
    rng = np.random.default_rng(0)
    fn, fp = rng.binomial(n, fnr, 4000), rng.binomial(n, fpr, 4000)
    pairs, times = np.unique(np.stack([fn, fp]), axis=1, return_counts=True)
    held = 0
    for (misses, alarms), many in zip(pairs.T, times, strict=True):
        table = [[n - alarms, alarms], [misses, n - misses]]
        curve = cc.CostCurve(cc.RocCurve.from_confusion_matrix(table), policy=cc.thresholds.point(1))
        at = curve.band(level=0.9, method=method, sampling=sampling, pc=[pc]).at(pc)
        held += many * (pc * fnr + (1 - pc) * fpr in at)
    assert summed.probability[0] == pytest.approx(held / 4000, abs=0.02)


def test_full_intervals_of_full_test_sets_have_their_level():
    truth = cc.CostCurve(cc.RocCurve.from_rates(0.3, 0.7), policy=cc.thresholds.point(1))
    options = {
        "n_pos": 500,
        "n_neg": 500,
        "pc": [0.1, 0.5, 0.9],
        "level": 0.9,
        "method": "gaussian",
        "sampling": "full",
    }
    both = cc.coverage(truth, **options, test_sets="full")
    assert both.probability == pytest.approx(0.9, abs=0.01)
    # Test sets of fixed class sizes vary less than full intervals expect.
    fixed = cc.coverage(truth, **options)
    assert (fixed.probability >= both.probability - 0.005).all()
    assert fixed.probability[0] > 0.915
    with pytest.raises(cc.InputError, match="`test_sets='full'` must come with `sampling='full'`"):
        cc.coverage(truth, n_pos=5, n_neg=5, test_sets="full")


@pytest.mark.parametrize(("fnr", "fpr", "pc"), [(0.1, 0.25, 0.8), (0.99, 0.01, 0.05), (0.02, 0.98, 0.9)])
def test_coverage_of_test_sets_of_random_class_sizes_agrees_with_simulation(fnr, fpr, pc):
    n = 60
    truth = cc.CostCurve(cc.RocCurve.from_rates(fpr, 1 - fnr), policy=cc.thresholds.point(1))
    summed = cc.coverage(
        truth, n_pos=n, n_neg=n, pc=[pc], level=0.9, method="gaussian", sampling="full", test_sets="full"
    )
    rng = np.random.default_rng(4)
    costs = np.array([pc / 0.5, (1 - pc) / 0.5, 0.0])
    drawn = rng.multinomial(2 * n, [fnr / 2, fpr / 2, 1 - fnr / 2 - fpr / 2], 40_000) / (2 * n)
    mean = drawn @ costs
    half = 1.6448536 * np.sqrt((drawn @ costs**2 - mean**2) / (2 * n))
    held = np.abs(mean - pc * fnr - (1 - pc) * fpr) <= half
    assert summed.probability[0] == pytest.approx(held.mean(), abs=0.006)


def test_difference_coverage_agrees_with_comparisons_of_simulated_joint_tables():
    pos, neg, n, pc = (0.1, 0.05), (0.02, 0.15), 40, 0.4
    drawn = cc.difference_coverage(pos, neg, n, n, pc=[pc], level=0.9, method="gaussian", rng=0)
    rng = np.random.default_rng(1)
    truth = pc * (pos[0] - pos[1]) + (1 - pc) * (neg[0] - neg[1])
    held = 0
    for _ in range(500):
        a, b, rest = rng.multinomial(n, [*pos, 1 - sum(pos)])
        c, d, other = rng.multinomial(n, [*neg, 1 - sum(neg)])
        # Index 1 is positive: only the first wrong on a positive is (true 1, a 0, b 1).
        joint = [[[other, d], [c, 0]], [[0, a], [b, rest]]]
        held += truth in cc.compare.from_joint(
            negatives=joint[0], positives=joint[1], level=0.9, method="gaussian", simultaneous=False, pc=[pc]
        ).at(pc)
    assert drawn.probability[0] == pytest.approx(held / 500, abs=0.05)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: cc.difference_coverage((0.6, 0.6), (0, 0), 9, 9, pc=[0.5]),
            "`positives` must have a sum of at most 1",
        ),
        (lambda: cc.difference_coverage((0.1, 0.1), 0.3, 9, 9, pc=[0.5]), "`negatives` must be a pair"),
        (lambda: cc.difference_coverage((0, 0), (0, 0), 9, 9, pc=[0.5], method="exact"), "`method` must be one of"),
    ],
)
def test_bad_rates_are_refused_by_name(call, message):
    with pytest.raises(cc.InputError, match=message):
        call()
