"""Paired differences: counting, verdicts, Type I error, power, families."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from costcurves._base.errors import InputError, UnsupportedError
from costcurves.inference.family import co_errors_of_changes, family_critical, holm
from costcurves.inference.kernel.strata import moments
from costcurves.inference.paired.bands import BOOTSTRAPS, DifferenceBand, band_limits, difference_band
from costcurves.inference.paired.critical import difference_covariance
from costcurves.inference.paired.discordant import (
    at_or_below,
    first_positive_point,
    joint_counts,
    overlap,
    paired_counts,
)
from costcurves.inference.paired.limits import difference_strata
from costcurves.inference.paired.rates import PAIRED_METHODS, discordant_interval

DIFFERENCE_METHODS = (*PAIRED_METHODS, *BOOTSTRAPS)

PC = np.linspace(0, 1, 21)

scores = st.lists(st.integers(0, 6), min_size=1, max_size=12)
steps = st.lists(st.integers(-1, 8), min_size=1, max_size=7)


@settings(max_examples=150, deadline=None)
@given(a=scores, ta=steps, data=st.data(), true_class=st.sampled_from(["positive", "negative"]))
def test_counts_equal_the_table_of_all_examples_and_points(a, ta, data, true_class):
    b = data.draw(st.lists(st.integers(0, 6), min_size=len(a), max_size=len(a)))
    tb = data.draw(st.lists(st.integers(-1, 8), min_size=len(ta), max_size=len(ta)))
    ta, tb = sorted(ta, reverse=True), sorted(tb, reverse=True)
    got = paired_counts(true_class, a, b, ta, tb, ranges=True)
    wrong = lambda s, t: (s < t) if true_class == "positive" else (s >= t)  # noqa: E731
    sign = np.array(
        [[int(wrong(x, s)) - int(wrong(y, t)) for s, t in zip(ta, tb, strict=True)] for x, y in zip(a, b, strict=True)]
    )
    np.testing.assert_array_equal(got.only_a, (sign == 1).sum(0))
    np.testing.assert_array_equal(got.only_b, (sign == -1).sum(0))
    np.testing.assert_array_equal(overlap(got.ranges), sign.T @ sign)
    half = len(a) // 2
    if half:
        parts = [paired_counts(true_class, a[s], b[s], ta, tb, ranges=True) for s in (slice(half), slice(half, None))]
        np.testing.assert_array_equal(overlap((parts[0] + parts[1]).ranges), overlap(got.ranges))
        assert (parts[0] + parts[1]).total == len(a)


floats = st.floats(allow_nan=False, width=64)


@settings(max_examples=60, deadline=None)
@given(
    t=st.lists(floats | st.sampled_from([0.0, -0.0, 0.25, 1e-300, 5e-324]), min_size=1, max_size=40),
    few=st.lists(floats, max_size=20),
    seed=st.integers(0, 99),
)
def test_lookup_equals_searchsorted(t, few, seed):
    # Enough values for the table: the thresholds, their neighbours, what lies between them and far out.
    t = np.sort(np.array(t))
    rng = np.random.default_rng(seed)
    near = rng.choice(t, 8_000)
    inner = rng.uniform(*np.clip([t[0], t[-1]], -1e300, 1e300), 10_000) if t[-1] > t[0] else near
    with np.errstate(over="ignore", under="ignore"):
        values = np.concatenate([t, near, np.nextafter(near, np.inf), np.nextafter(near, -np.inf), inner, few])
    np.testing.assert_array_equal(at_or_below(t, values), np.searchsorted(t, values, side="right"))


def test_weights_are_summed_and_infinite_thresholds_allowed():
    got = paired_counts("positive", [0.2, 0.9], [0.8, 0.1], [np.inf, 0.5, -np.inf], [0.5, 0.5, 0.5], weights=[2.0, 0.5])
    np.testing.assert_allclose(got.only_a, [2.0, 2.0, 0.0])
    np.testing.assert_allclose(got.only_b, [0.0, 0.5, 0.5])
    assert got.effective == pytest.approx(2.5**2 / 4.25)
    with pytest.raises(InputError, match="`thresholds_a` must be nonincreasing"):
        paired_counts("positive", [1.0], [1.0], [0.1, 0.5], [0.5, 0.5])


def test_an_example_of_weight_zero_is_no_example():
    rng = np.random.default_rng(8)
    a, b, cuts = rng.normal(size=30), rng.normal(size=30), np.linspace(1, -1, 7)
    weights = rng.integers(0, 3, 30).astype(float)
    used = weights > 0
    assert 0 < used.sum() < 30
    whole = paired_counts("negative", a, b, cuts, cuts, weights=weights)
    part = paired_counts("negative", a[used], b[used], cuts, cuts, weights=weights[used])
    for name in ("only_a", "only_b", "total", "squares"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(part, name))


def joint(pos: list[int], neg: list[int]) -> np.ndarray:
    """Return the table from (both right, only a wrong, only b wrong, both wrong) of each class."""
    table = np.zeros((2, 2, 2))
    right, a, b, wrong = pos
    table[1] = [[wrong, a], [b, right]]
    right, a, b, wrong = neg
    table[0] = [[right, b], [a, wrong]]
    return table


def difference_from_joint(negatives, positives, pc, **options) -> DifferenceBand:
    """Return the band of two fixed classifiers from the joint table of each class."""
    neg, pos = joint_counts(negatives, positives)
    return difference_band(pos.only_a, pos.only_b, pos.total, neg.only_a, neg.only_b, neg.total, pc, **options)


def test_same_marginals_and_other_correlation_give_other_verdicts():
    # As figures 13 and 14 of the 2005 paper: each classifier alone is the same, only the agreement differs.
    high = joint([150, 0, 30, 20], [90, 0, 5, 5])
    low = joint([132, 18, 48, 2], [88, 2, 7, 3])
    for table in (high, low):
        assert table[1][0].sum() == 20  # a misses 20 of 200
        assert table[1][:, 0].sum() == 50  # b misses 50
        assert table[0][1].sum() == 5
        assert table[0][:, 1].sum() == 10
    tight, loose = (difference_from_joint(*t, PC, level=0.95, simultaneous=True) for t in (high, low))
    np.testing.assert_allclose(tight.estimate, loose.estimate, atol=1e-15)
    assert (tight.upper - tight.lower < loose.upper - loose.lower).all()
    assert {v.better for v in tight.significant()} == {"undecided", "a"} or tight.significant()[-1].better == "a"
    assert tight.significant()[-1].low < loose.significant()[-1].low


def test_2005_shape_of_tables_can_flip_the_verdict():
    # a: 4 of 20 positives and 4 of 10 negatives wrong; b: 9 and 5.
    close = joint([11, 0, 5, 4], [5, 0, 1, 4])
    far = joint([7, 4, 9, 0], [1, 4, 5, 0])
    verdicts = [difference_from_joint(*t, [0.9], level=0.9) for t in (close, far)]
    assert verdicts[0].upper[0] < 0
    assert verdicts[1].lower[0] < 0 < verdicts[1].upper[0]
    assert verdicts[0].p_values_at(0.9) < 0.1 < verdicts[1].p_values_at(0.9)


@pytest.mark.parametrize("method", DIFFERENCE_METHODS)
@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_identical_classifiers_do_not_differ(method, sampling):
    diff = difference_band(0, 0, 30, 0, 0, 20, PC, method=method, sampling=sampling, simultaneous=True, n_resamples=50)
    np.testing.assert_array_equal(diff.estimate, 0.0)
    assert ((diff.lower <= 0) & (diff.upper >= 0)).all()
    assert [v.better for v in diff.significant()] == ["undecided"]
    np.testing.assert_array_equal(diff.p_values_at(PC[::5]), 1.0)


@pytest.mark.parametrize("method", DIFFERENCE_METHODS)
@pytest.mark.parametrize("sampling", ["stratified", "full"])
@pytest.mark.parametrize(
    ("counts", "n"),
    [((1, 0, 0, 1), (1, 1)), ((20, 0, 0, 0), (20, 3)), ((0, 20, 0, 30), (20, 30)), ((5, 5, 1, 0), (10, 1))],
)
def test_degenerate_differences_are_finite_and_possible(method, sampling, counts, n):
    a, b, c, d = counts
    diff = difference_band(a, b, n[0], c, d, n[1], PC, method=method, sampling=sampling, n_resamples=50, rng=0)
    share = n[0] / sum(n)
    # With class frequencies that vary, all cases may be of the class whose errors cost more.
    most = np.ones(PC.size) if sampling == "stratified" else np.maximum(PC / share, (1 - PC) / (1 - share))
    for x in (diff.estimate, diff.lower, diff.upper):
        assert np.isfinite(x).all()
        assert (np.abs(x) <= most + 1e-12).all()
    swapped = difference_band(b, a, n[0], d, c, n[1], PC, method="mid-p", sampling=sampling)
    straight = difference_band(a, b, n[0], c, d, n[1], PC, method="mid-p", sampling=sampling)
    np.testing.assert_allclose(straight.lower, -swapped.upper, atol=1e-12)


@pytest.mark.parametrize("method", ["mid-p", "score", "gaussian", "bonett-price", "exact"])
def test_p_value_says_what_the_interval_says(method):
    for counts in ((12, 3, 5, 1), (4, 9, 3, 3), (30, 8, 1, 6)):
        a, b, c, d = counts
        for pc in (0.1, 0.5, 0.9):
            p = float(difference_band(a, b, 100, c, d, 80, [pc], method=method).p_values_at(pc))
            for level in (0.5, 0.8, 0.9, 0.95, 0.99):
                diff = difference_band(a, b, 100, c, d, 80, [pc], level=level, method=method)
                out = diff.lower[0] > 0 or diff.upper[0] < 0
                if abs(p - (1 - level)) > 2e-3:
                    assert out == (p < 1 - level), (counts, pc, level, p)


def test_gaussian_p_values_are_those_of_the_normal_test():
    rng = np.random.default_rng(20)
    a, b, c, d = rng.integers(0, 40, (4, PC.size))
    diff = difference_band(a, b, 200, c, d, 300, PC, method="gaussian")
    p, q, r, s = a / 200, b / 200, c / 300, d / 300
    variance = PC**2 * (p + q - (p - q) ** 2) / 200 + (1 - PC) ** 2 * (r + s - (r - s) ** 2) / 300
    z = (PC * (p - q) + (1 - PC) * (r - s)) / np.sqrt(variance)
    np.testing.assert_allclose(diff.p_values_at(PC), 2 * stats.norm.sf(np.abs(z)), atol=1e-6)


def test_verdicts_come_from_simultaneous_bands_only():
    with pytest.raises(UnsupportedError, match="simultaneous"):
        difference_band(5, 1, 50, 1, 2, 50, PC).significant()
    # a much better on positives, much worse on negatives: a verdict for each end, undecided between.
    diff = difference_band(2, 40, 100, 40, 2, 100, PC, simultaneous=True)
    ranges = diff.significant()
    assert [v.better for v in ranges] == ["b", "undecided", "a"]
    assert ranges[0].high == ranges[1].low < 0.5 < ranges[1].high == ranges[2].low
    coarse = difference_band(2, 40, 100, 40, 2, 100, [0.0, 1.0], simultaneous=True)
    assert [v.better for v in coarse.significant()] == ["undecided"]  # what lies between the two was not judged
    three = difference_band(2, 40, 100, 40, 2, 100, [0.0, 0.1, 1.0], simultaneous=True)
    assert [(v.low, v.high, v.better) for v in three.significant()] == [(0.0, 0.1, "b"), (0.1, 1.0, "undecided")]


def correlated(rng: np.random.Generator, n: int, mean: tuple[float, float], rho: float) -> np.ndarray:
    return rng.multivariate_normal(mean, 9 * np.array([[1, rho], [rho, 1]]), n)


def one_comparison(rng: np.random.Generator, n: int, shift: float, rho: float, moving: bool, **options):
    t = 9 * np.log((1 - PC[1:-1]) / PC[1:-1]) / 4 if moving else np.zeros(19)
    pos, neg = correlated(rng, n, (2.0 + shift, 2.0), rho), correlated(rng, n, (-2.0 - shift, -2.0), rho)
    counts = [paired_counts(c, s[:, 0], s[:, 1], t, t, ranges=True) for c, s in (("positive", pos), ("negative", neg))]
    p, q = counts
    return difference_band(
        p.only_a, p.only_b, n, q.only_a, q.only_b, n, PC[1:-1], ranges=(p.ranges, q.ranges), **options
    )


@pytest.mark.parametrize("rho", [0.3, 0.9])
def test_type_one_error_of_a_pointwise_test(rho):
    rng = np.random.default_rng(8)
    rejected = [one_comparison(rng, 250, 0.0, rho, False).p_values_at(0.3) < 0.05 for _ in range(120)]
    # A test that is wrong in 17 % of cases would be found out 98 times of 100.
    assert np.mean(rejected) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 120)


def test_false_verdicts_of_lines_are_rare():
    rng = np.random.default_rng(9)
    found = [
        any(v.better != "undecided" for v in one_comparison(rng, 250, 0.0, 0.6, False, simultaneous=True).significant())
        for _ in range(400)
    ]
    assert np.mean(found) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 400)


def test_false_verdicts_of_moving_thresholds_are_rare():
    rng = np.random.default_rng(10)
    found = [
        any(v.better != "undecided" for v in one_comparison(rng, 250, 0.0, 0.6, True, simultaneous=True).significant())
        for _ in range(90)
    ]
    assert np.mean(found) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 90)


def test_power_grows_with_the_difference():
    power = []
    for shift in (0.0, 0.7, 1.4):
        rng = np.random.default_rng(11)
        power.append(np.mean([one_comparison(rng, 200, shift, 0.6, False).p_values_at(0.5) < 0.05 for _ in range(60)]))
    assert power[0] < 0.12 < power[1] < power[2]
    assert power[2] > 0.9


@pytest.mark.study
@pytest.mark.parametrize("rho", [0.3, 0.6, 0.9])
def test_joint_coverage_of_differences_of_lines_in_full(rho):
    rng = np.random.default_rng(12)
    held = []
    for _ in range(2000):
        diff = one_comparison(rng, 250, 0.0, rho, False, simultaneous=True)
        held.append(((diff.lower <= 0) & (diff.upper >= 0)).all())
    assert np.mean(held) == pytest.approx(0.95, abs=0.015)


def test_moving_thresholds_need_the_ranges():
    with pytest.raises(InputError, match="`ranges` must be given"):
        difference_band([1, 2], [0, 0], 9, [0, 0], [1, 0], 9, [0.2, 0.8], simultaneous=True)


def test_difference_covariance_is_that_of_resampled_examples():
    rng = np.random.default_rng(13)
    n, pc, t = 200, np.array([0.2, 0.5, 0.8]), np.array([1.0, 0.0, -1.0])
    pos, neg = rng.normal(1, 1, (n, 2)), rng.normal(-1, 1, (n, 2))
    p = paired_counts("positive", pos[:, 0], pos[:, 1], t, t, ranges=True)
    q = paired_counts("negative", neg[:, 0], neg[:, 1], t, t, ranges=True)
    cov = difference_covariance(
        overlap(p.ranges), overlap(q.ranges), (p.only_a, p.only_b, q.only_a, q.only_b), (n, n), pc
    )
    s = (pos[:, :1] < t).astype(float) - (pos[:, 1:] < t)
    r = (neg[:, :1] >= t).astype(float) - (neg[:, 1:] >= t)
    draws = np.array(
        [pc * s[rng.integers(n, size=n)].mean(0) + (1 - pc) * r[rng.integers(n, size=n)].mean(0) for _ in range(20_000)]
    )
    np.testing.assert_allclose(cov, np.cov(draws.T), atol=4e-5)


def test_holm_equals_its_definition():
    p = np.array([0.04, 0.001, 0.03, 0.2])
    adjusted = holm(p)
    for alpha in (0.004, 0.05, 0.08, 0.12, 0.3):
        rejected = set()
        for step, j in enumerate(np.argsort(p)):
            if p[j] > alpha / (4 - step) + 1e-15:
                break
            rejected.add(int(j))
        assert rejected == set(np.flatnonzero(adjusted <= alpha + 1e-12).tolist())


def co_errors(true_class, scores, thresholds):
    changes = [first_positive_point(str(c), scores[:, c], thresholds[:, c])[0] for c in range(scores.shape[1])]
    return co_errors_of_changes(true_class, changes, thresholds.shape[0])


def family_rejects(rng: np.random.Generator, k: int, n: int, pc: np.ndarray) -> bool:
    t = np.tile(-0.5 * np.log(pc / (1 - pc))[:, None], (1, k))
    share = rng.normal(0, 0.7, (2 * n, 1))
    pos, neg = 1 + share[:n] + rng.normal(0, 0.7, (n, k)), -1 + share[n:] + rng.normal(0, 0.7, (n, k))
    both = co_errors("positive", pos, t), co_errors("negative", neg, t)
    c = family_critical(both[0], n, both[1], n, pc, 0.95, n_simulations=1000, rng=rng)
    for a, b in itertools.combinations(range(k), 2):
        p = paired_counts("positive", pos[:, a], pos[:, b], t[:, 0], t[:, 0])
        q = paired_counts("negative", neg[:, a], neg[:, b], t[:, 0], t[:, 0])
        diff = difference_band(p.only_a, p.only_b, n, q.only_a, q.only_b, n, pc, critical_value=c)
        if ((diff.lower > 0) | (diff.upper < 0)).any():
            return True
    return False


def test_family_wise_error_is_controlled():
    rng = np.random.default_rng(14)
    rejected = [family_rejects(rng, 4, 250, np.array([0.2, 0.5, 0.8])) for _ in range(120)]
    assert np.mean(rejected) <= 0.05 + 2.6 * np.sqrt(0.05 * 0.95 / 120)


@pytest.mark.study
@pytest.mark.parametrize("n", [250, 1000])
def test_family_wise_error_of_moving_thresholds_in_full(n):
    rng = np.random.default_rng(16)
    rejected = [family_rejects(rng, 4, n, np.arange(1, 64) / 64) for _ in range(1000)]
    assert np.mean(rejected) <= 0.05 + 0.015


def test_family_critical_value_of_independent_pairs():
    # Three equal classifiers at one point: the differences have correlation ±1/2, as in Tukey's range.
    rng = np.random.default_rng(15)
    cut = np.zeros((1, 3))
    co = [co_errors(c, rng.normal(m, 1, (20_000, 3)), cut) for c, m in (("positive", 1), ("negative", -1))]
    c = family_critical(co[0], 20_000, co[1], 20_000, [0.5], 0.95)
    assert c == pytest.approx(stats.studentized_range.ppf(0.95, 3, 1e6) / np.sqrt(2), abs=0.03)


def test_family_critical_value_is_that_of_tukeys_range():
    # Independent errors of equal variance at one point: the largest difference is the range of normal variables.
    k = 9
    joint = np.full((k, 1, k, 1), 0.04)
    joint[np.arange(k), 0, np.arange(k), 0] = 0.2
    for level in (0.5, 0.9, 0.95, 0.999):
        c = family_critical(joint * 1000, 1000, joint * 500, 500, [0.3], level)
        assert c == pytest.approx(stats.studentized_range.ppf(level, k, 1e6) / np.sqrt(2), abs=0.02)


def test_family_critical_value_is_that_of_plain_simulation():
    rng = np.random.default_rng(17)
    k, pc = 4, np.arange(1, 8) / 8
    scores = [rng.normal(mean, 1, (300, 1)) + rng.normal(0, 0.5, (300, k)) for mean in (0.7, -0.7)]
    t = np.tile(-0.7 * np.log(pc / (1 - pc))[:, None], (1, k))
    co = [co_errors(c, s, t) for c, s in zip(("positive", "negative"), scores, strict=True)]
    found = family_critical(co[0], 300, co[1], 300, pc, 0.9)
    # Examples with random signs have the covariance of the data.
    wrong = (scores[0][:, None] < t) * pc[:, None] / 300, (scores[1][:, None] >= t) * (1 - pc[:, None]) / 300
    centred = np.concatenate([w - w.mean(axis=0) for w in wrong])
    differences = [(centred[:, :, a] - centred[:, :, b]) for a, b in itertools.combinations(range(k), 2)]
    drawn = rng.standard_normal((20_000, 600))
    top = np.max([np.abs(drawn @ d / np.sqrt((d**2).sum(axis=0))).max(axis=1) for d in differences], axis=0)
    assert found == pytest.approx(np.quantile(top, 0.9), abs=0.03)


def test_weighted_differences_refuse_resampling():
    with pytest.raises(InputError, match="weighted"):
        difference_band(1, 2, 9, 0, 1, 9, PC, effective=(5, 5), method="exact")
    same = difference_band(2, 4, 18, 0, 2, 18, PC, effective=(9, 9))
    plain = difference_band(1, 2, 9, 0, 1, 9, PC)
    np.testing.assert_allclose(same.lower, plain.lower, atol=1e-12)


def test_counts_that_cannot_be_are_refused():
    with pytest.raises(InputError, match="`pos_only_a` \\+ `pos_only_b` must be at most `n_pos`"):
        difference_band(6, 6, 9, 0, 1, 9, PC)
    with pytest.raises(InputError, match="`negatives` must hold 2 x 2 counts"):
        difference_from_joint([1, 2], [[3, 4], [5, 6]], PC)


@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_all_methods_agree_in_large_samples(sampling):
    n = 2_000_000
    bands = {
        m: difference_band(n // 5, n // 20, n, n // 3, n // 9, n, [0.2, 0.6], method=m, sampling=sampling, level=0.9)
        for m in DIFFERENCE_METHODS
        if m != "resample"
    }
    middle = bands["exact"]
    sd = (middle.upper - middle.estimate) / 1.645
    for band in bands.values():
        np.testing.assert_allclose((band.lower - middle.lower) / sd, 0.0, atol=0.02)
        np.testing.assert_allclose((band.upper - middle.upper) / sd, 0.0, atol=0.02)


@pytest.mark.parametrize("sampling", ["stratified", "full"])
def test_a_laplace_correction_treats_both_classes_and_both_classifiers_alike(sampling):
    counts = [np.array([float(count)]) for count in (5, 1, 1, 2)]
    pc, laplace = np.array([0.3]), 0.7
    mean, variance = moments(difference_strata(tuple(counts), (20, 10), pc, sampling, laplace))[:2]
    classes = moments(difference_strata(tuple(counts[2:] + counts[:2]), (10, 20), 1 - pc, sampling, laplace))
    assert classes[0] == pytest.approx(mean, rel=1e-12)
    assert classes[1] == pytest.approx(variance, rel=1e-12)
    turned = tuple(counts[k] for k in (1, 0, 3, 2))
    classifiers = moments(difference_strata(turned, (20, 10), pc, sampling, laplace))
    assert classifiers[0] == pytest.approx(-mean, rel=1e-12)
    assert classifiers[1] == pytest.approx(variance, rel=1e-12)


@pytest.mark.parametrize("method", ["mid-p", "gaussian"])
def test_a_difference_that_is_known_has_limits_equal_to_the_costs_of_these_examples(method):
    # One classifier calls everybody positive, the other one nobody: a pays for each negative, b for each positive.
    positives, negatives = 8, 20
    pc = np.array([0.0, 0.25, 0.75, 1.0])
    wrong = [np.zeros(4), np.full(4, positives), np.full(4, negatives), np.zeros(4)]
    known = np.array([True, True, True, False])
    found = band_limits(
        tuple(map(np.asarray, wrong)), (positives, negatives), pc, 1.96, known, method, "stratified", 0.0, None
    )
    for values in found:
        np.testing.assert_allclose(values[:3], [1.0, 0.75 - 0.25, 0.25 - 0.75], rtol=1e-12)
    # And the other way round, with some errors of each kind.
    wrong = [np.full(4, 2.0), np.full(4, 4.0), np.full(4, 5.0), np.full(4, 15.0)]
    for values in band_limits(tuple(wrong), (positives, negatives), pc, 1.96, known, method, "stratified", 0.0, None):
        np.testing.assert_allclose(values[:3], [-0.5, -0.25 * 0.25 - 0.75 * 0.5, -0.75 * 0.25 - 0.25 * 0.5], rtol=1e-12)


def test_counts_that_exceed_their_total_by_rounding_are_the_total():
    every, more = np.array([1.8]), np.array([1.8000000000000003])
    for z in (0.0, 0.5, 1.96):
        exact, rounded = (discordant_interval(count, np.array([0.0]), 1.8, z) for count in (every, more))
        np.testing.assert_allclose(rounded, exact, rtol=1e-12)
        turned = discordant_interval(np.array([-1e-17]), more, 1.8, z)
        np.testing.assert_allclose(turned[0], -exact[1], rtol=1e-12)
