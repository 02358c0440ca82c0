"""Bands for the normalized expected cost of one classifier, from error counts at each operating point or of folds."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.progress import track
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_POINTS,
    FloatArray,
    Rng,
    check_choice,
    check_integer,
    check_laplace,
    check_level,
    check_positive,
    check_resampling,
    check_rng,
    check_unit_array,
    frozen,
)
from costcurves.inference.bands.critical import fixed_critical, moving_critical
from costcurves.inference.bands.error_rates import ErrorRates, nested_counts, order_limits, positive_share
from costcurves.inference.bands.methods import BAND_METHODS, Options, cost_strata, wilson_limits
from costcurves.inference.bands.results import SAMPLINGS, Band, check_pc
from costcurves.inference.kernel.distribution import BootstrapDistribution, exact_distribution
from costcurves.inference.kernel.strata import Stratum
from costcurves.inference.rates import check_counts, critical, mended_wilson, mid_p_at
from costcurves.inference.simultaneous import chosen


def cost_band(
    fn: npt.ArrayLike,
    n_pos: float,
    fp: npt.ArrayLike,
    n_neg: float,
    pc: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    method: str = "wilson",
    sampling: str = "stratified",
    simultaneous: bool = False,
    laplace: float = 0.0,
    prevalence_uncertainty: tuple[float, float] | None = None,
    effective: tuple[float, float] | None = None,
    known: npt.ArrayLike = False,
    cuts: npt.ArrayLike | None = None,
    critical_value: float | tuple[FloatArray, FloatArray] | None = None,
    n_resamples: int = 2000,
    rng: Rng = 0,
) -> Band:
    """Return a band for NE(pc) = pc · fnr + (1 - pc) · fpr from counts of errors.

    Parameters
    ----------
    fn, fp : int, or arrays of shape (points,)
        Misses and false alarms at the threshold in use at each operating point; a single number each for a classifier
        with a fixed threshold, whose cost is a line.
    n_pos, n_neg : float
        Examples of each class.
    pc : array of shape (points,)
        Operating points, increasing in [0, 1].
    level, method, sampling, simultaneous, laplace, n_resamples, rng
        As for `CostCurve.band`. "wilson" combines the limits of `mended_wilson` by `mover`. Under full sampling, costs
        are those that give `pc` at the class frequencies of the test set.
    prevalence_uncertainty : (a, b), optional
        The deployment prevalence is Beta(a, b), not fixed: its uncertainty is added to that of the rates.
        The costs are those that give `pc` at the mean a/(a+b). Not with "exact", because every prevalence has its own
        distribution and no error bound is known for a mixture of them; "resample" draws prevalences.
    effective : (n_pos, n_neg), optional
        Effective sample sizes (Σw)²/Σw² of weighted data; the counts are then sums of weights.
    known : bool, or array of shape (points,)
        Where the rates are not estimates, because every case is predicted to be of the same class, whatever its score.
        Both limits are the cost itself there, unless the prevalence is uncertain.
    cuts : array of shape (points,), optional
        The threshold at each point, for simultaneous bands: at equal thresholds the true rates are equal. By default
        no two points have the same one.
    critical_value : float, or two arrays of shape (points,), optional
        A simultaneous critical value that was found before; the band is then simultaneous. Or those of the lower and of
        the upper limits of "wilson", which then combines mid-P limits.

    Notes
    -----
    The Gaussian interval has width zero where both rates are 0 or 1 (the breaks that the 2008 paper reports), and so
    have the intervals of the bootstrap, which cannot draw an error that is not in the data. Wilson's interval has not.
    Limits are kept between 0 and the largest cost that is possible. That is 1 if the share of positives is fixed.
    Otherwise (full sampling, an uncertain prevalence) it is max(pc/m, (1-pc)/(1-m)), where m is the share of positives
    that pc stands for: costs are in units of always being wrong at that share, and there may be more cases of the
    expensive class than it says.

    With a prevalence P ~ Beta(a, b) of mean m and variance v, stratified sampling describes pc · P/m · fnr + (1-pc) ·
    (1-P)/(1-m) · fpr, with P independent of the estimated rates. Full sampling describes a new sample of the test set's
    size n from the population on which the classifier will be used: P is drawn, then n examples, each of them a miss
    with probability P · fnr or a false alarm with probability (1-P) · fpr, which cost pc/(m n) and (1-pc)/((1-m) n).
    With d = pc · fnr/m - (1-pc) · fpr/(1-m), the change of cost with the prevalence, the variance is (pc² fnr/m +
    (1-pc)² fpr/(1-m) - NE²)/n + (1 - 1/n) v d².

    Simultaneous bands use a larger critical value in the same intervals. For a line it has a closed form
    (`line_critical`). For a moving threshold it is about 3, at which the tails of Wilson's interval are wrong, so that
    "wilson" then uses mid-P limits of the rates. It finds the critical value by simulating the counts themselves: 1,999
    data sets are drawn at smoothed rates (seeded by the data), and the value is the smallest at which the bands of a
    share `level` of them cover those rates at all points (`calibrated_critical`). The other methods take theirs from
    the Gaussian process of the rates (`process_critical`).

    MOVER's lower limit cannot come near zero if there are errors in both classes, however large the critical value is.
    Joint bands of a moving threshold therefore go down to both rates' limits at z/√2 where that is lower.

    Measured joint coverage at nominal 95 % of binormal curves at given thresholds (6,000 data sets, standard error 0.3
    to 1.2 points): 0.92 to 0.98 with an AUC of 0.7, 0.9, 0.98 or 0.999, classes of 30 and 30, 50 and 500, 500 and 50 or
    1,000 and 1,000, and thresholds that move with every pc or take eight values; of lines (3,000 runs), 0.945 with 25
    per class, 0.953 with 250 and 0.951 with 1,000.

    Examples
    --------
    >>> from costcurves.inference.bands.one_curve import cost_band
    >>> band = cost_band(fn=4, n_pos=20, fp=4, n_neg=10, pc=[0.2, 0.8], level=0.9, method="gaussian")
    >>> band.lower.round(3), band.upper.round(3)
    (array([0.154, 0.112]), array([0.566, 0.368]))
    """
    level, points = check_level(level), check_pc(pc)
    how = BAND_METHODS[check_choice("method", method, BAND_METHODS)]
    sampling = check_choice("sampling", sampling, SAMPLINGS)
    n_pos, n_neg = check_positive("n_pos", n_pos), check_positive("n_neg", n_neg)
    laplace, size = check_laplace(laplace), check_resampling(n_resamples, rng)
    miss, _ = check_counts("fn", fn, n_pos)
    alarm, _ = check_counts("fp", fp, n_neg)
    for name, counts in (("fn", miss), ("fp", alarm)):
        if counts.size not in (1, points.size) or counts.ndim > 1:
            raise InputError(f"`{name}` must be a number or match `pc`, got shape {counts.shape}")
    miss, alarm = np.broadcast_to(miss, points.shape), np.broadcast_to(alarm, points.shape)
    if effective is not None and how.whole_counts:
        others = " or ".join(repr(name) for name, other in BAND_METHODS.items() if not other.whole_counts)
        raise InputError(f"`method` must be {others} for weighted data, got {method!r}")
    beta = prevalence_uncertainty
    if beta is not None and not how.uncertain_prevalence:
        raise InputError(
            f"`prevalence_uncertainty` must not come with {method!r}, whose resamples have one prevalence: "
            "use 'resample', which draws the prevalence too, or 'wilson'"
        )
    if how.whole_counts and not (_whole(n_pos, n_neg) and _whole(miss, alarm)):
        raise InputError(f"`method={method!r}` must have whole counts; for weighted data use 'wilson'")
    size_pos, size_neg = (check_positive("effective", size) for size in (effective or (n_pos, n_neg)))

    share = positive_share(n_pos, n_neg, beta)
    seen = ErrorRates(points, miss / n_pos, alarm / n_neg, size_pos, size_neg, sampling, share, laplace, beta)
    rates = seen.corrected()
    z = critical(level)
    sure = np.broadcast_to(np.asarray(known, dtype=np.bool_), points.shape)
    unsure = np.flatnonzero(~sure)
    fixed = all(np.ptp(counts[unsure]) == 0 for counts in (miss, alarm)) if unsure.size else True
    limits = mended_wilson if fixed else mid_p_at
    apart = critical_value if isinstance(critical_value, tuple) else None
    if critical_value is not None and apart is None:
        z, simultaneous = check_positive("critical_value", critical_value), True
    elif simultaneous and unsure.size and apart is None:
        if fixed and sampling == "stratified" and beta is None:
            z = fixed_critical(rates.at(unsure), level)
        else:
            some = unsure if beta is None else np.arange(points.size)
            moved = np.arange(points.size) if cuts is None else np.asarray(cuts)
            z = moving_critical(seen.at(some), level, how, limits, moved[some])
    options = Options(mended_wilson, size, rng)
    if simultaneous:
        options = options._replace(limits=limits, joint=not fixed)
    if apart is None:
        lower, upper = how.limits(rates, z, options)
    else:
        options = options._replace(limits=mid_p_at, prevalence=float(apart[0].max()) if simultaneous else z)
        lower, upper = wilson_limits(rates, apart[0], options)[0], wilson_limits(rates, apart[1], options)[1]
    estimate = rates.cost
    if sure.any():
        low, high = seen.prevalence_limits(z)
        estimate = np.where(sure, seen.cost, estimate)
        lower, upper = np.where(sure, seen.cost + low, lower), np.where(sure, seen.cost + high, upper)
    estimate, lower, upper = (np.clip(a, 0.0, rates.largest) for a in (estimate, lower, upper))
    mean = None if beta is None else share
    return Band(points, estimate, lower, upper, level, method, sampling, bool(simultaneous), float(z), prevalence=mean)


def cost_distribution(
    fn: npt.ArrayLike,
    fp: npt.ArrayLike,
    n_pos: int,
    n_neg: int,
    pc: npt.ArrayLike,
    *,
    sampling: str = "stratified",
    laplace: float = 0.0,
    known: bool = False,
) -> BootstrapDistribution:
    """Return the exact bootstrap distribution of NE at one operating point; a single value if the cost is `known`."""
    points = check_pc(pc)
    sampling = check_choice("sampling", sampling, SAMPLINGS)
    laplace = check_laplace(laplace)
    miss, alarm = (np.atleast_1d(check_counts(m, c, n)[0]) for m, c, n in (("fn", fn, n_pos), ("fp", fp, n_neg)))
    if known:
        return exact_distribution(Stratum(1, [1.0], points * miss / n_pos + (1 - points) * alarm / n_neg))
    share = n_pos / (n_pos + n_neg)
    rates = ErrorRates(points, miss / n_pos, alarm / n_neg, n_pos, n_neg, sampling, share, laplace, None).corrected()
    return exact_distribution(cost_strata(points, rates.fnr, rates.fpr, n_pos, n_neg, sampling))


def reoptimised_band(
    fn: npt.ArrayLike,
    n_pos: int,
    fp: npt.ArrayLike,
    n_neg: int,
    pc: npt.ArrayLike,
    *,
    level: float = DEFAULT_LEVEL,
    n_resamples: int = 1000,
    rng: Rng = 0,
) -> Band:
    """Return a band whose threshold is chosen anew in every resample (the lower envelope of each).

    Parameters
    ----------
    fn, fp : arrays of shape (thresholds,)
        Misses and false alarms at every threshold that may be chosen, in the order of the thresholds.
    n_pos, n_neg, pc, level, n_resamples, rng
        As in `cost_band`.

    Notes
    -----
    Each resample is judged at its own best thresholds, so the band describes how an optimistic estimate varies, and not
    the cost of a threshold that is in use, for which see `cost_band`. It is optimistic twice, for the data and for the
    resample, and so lies too low: for two normals one standard deviation apart and 100 examples per class, a 95 % band
    at pc = 0.5 covered the best possible cost in about 82 % of 120 runs, and lay below it in nearly all others.
    """
    level, points = check_level(level), check_pc(pc)
    n_pos, n_neg = check_integer("n_pos", n_pos, 1), check_integer("n_neg", n_neg, 1)
    miss, alarm = (np.atleast_1d(check_counts(m, c, n)[0]) for m, c, n in (("fn", fn, n_pos), ("fp", fp, n_neg)))
    if miss.shape != alarm.shape or miss.ndim != 1:
        raise InputError(f"`fn` and `fp` must match, got shapes {miss.shape} and {alarm.shape}")
    size = check_integer("n_resamples", n_resamples, 2, MOST_POINTS)
    generator = check_rng(rng)
    costs = np.empty((size, points.size))
    sides = [(miss / n_pos, n_pos), (alarm / n_neg, n_neg)]
    # Which class is drawn first does not depend on which is called positive.
    forms = [(n_pos, n_neg, miss, alarm, points), (n_neg, n_pos, alarm[::-1], miss[::-1], 1 - points[::-1])]
    first = chosen(forms)
    for b in track(range(size), "resampling"):
        drawn = {side: nested_counts(*sides[side], 1, generator)[0] / sides[side][1] for side in (first, 1 - first)}
        costs[b] = _envelope(drawn[0], drawn[1], points)
    estimate = _envelope(miss / n_pos, alarm / n_neg, points)
    lower, upper = order_limits(costs, level)
    return Band(points, estimate, lower, upper, level, "reoptimised", "stratified", False, critical(level))


def _envelope(fnr: FloatArray, fpr: FloatArray, pc: FloatArray) -> FloatArray:
    lowest = np.full(pc.size, np.inf)
    for start in range(0, fnr.size, 1024):
        some = slice(start, start + 1024)
        lines = np.multiply.outer(fnr[some], pc) + np.multiply.outer(fpr[some], 1 - pc)
        lowest = np.minimum(lowest, lines.min(axis=0))
    return lowest


def between_folds_band(
    costs: npt.ArrayLike, pc: npt.ArrayLike, *, level: float = DEFAULT_LEVEL, max_error: npt.ArrayLike = 0.0
) -> Band:
    """Return the mean cost curve of k folds with Student's interval from how the folds differ.

    It answers how much the mean would change with other training and test folds. The training sets of a
    cross-validation overlap, so the folds are not independent and the interval is somewhat too narrow.

    Parameters
    ----------
    costs : array of shape (folds, points)
        NE of each fold's classifier on its own test fold.
    pc : array of shape (points,)
    level : float
    max_error : float, or array of shape (folds,)
        The most by which the costs of each fold can be too high because scores were binned; the limits are wider by its
        effect on the mean and on the spread of the folds.
    """
    from scipy.special import stdtrit

    level, points = check_level(level), check_pc(pc)
    table = check_unit_array("costs", costs)
    if table.ndim != 2 or table.shape[1] != points.size:
        raise InputError(f"`costs` must have shape (folds, {points.size}), got {table.shape}")
    k = table.shape[0]
    if k < 2:
        raise DataError(f"`costs` must hold two folds or more, got {k}")
    z = float(stdtrit(k - 1, 0.5 + 0.5 * level))
    mean = table.mean(axis=0)
    half = z * table.std(axis=0, ddof=1) / np.sqrt(k)
    lower, upper = (frozen(np.clip(x, 0.0, 1.0)) for x in (mean - half, mean + half))
    band = Band(frozen(points), frozen(mean), lower, upper, level, "between-folds", "folds", False, z)
    errors = np.broadcast_to(np.asarray(max_error, dtype=np.float64), (k,))
    # Numbers between 0 and E have a standard deviation of at most E/2 * sqrt(k / (k - 1)).
    return band.with_error(float(errors.mean()), spread=float(z * errors.max() / (2 * np.sqrt(k - 1))))


def within_folds_band(
    fn: npt.ArrayLike,
    n_pos: npt.ArrayLike,
    fp: npt.ArrayLike,
    n_neg: npt.ArrayLike,
    pc: npt.ArrayLike,
    **options: Any,
) -> Band:
    """Return the mean cost curve of k folds with an interval for the randomness of the test examples alone.

    It answers how well these test examples determine the mean cost of these k classifiers. The variation between
    training sets is not included.

    Parameters
    ----------
    fn, fp : arrays of shape (folds, points)
        Errors of each fold at each operating point.
    n_pos, n_neg : arrays of shape (folds,)
    pc : array of shape (points,)
    **options
        `level`, `method` ("wilson" or "gaussian"), `simultaneous`, `known`, as in `cost_band`.

    Notes
    -----
    The mean of the fold rates has the variance of a rate from k² / Σ 1/n_i examples, which is the number of all
    examples if the folds have the same size; the intervals of `cost_band` use that number.
    """
    points = check_pc(pc)
    rates, sizes = [], []
    for name, counts, totals in (("fn", fn, n_pos), ("fp", fp, n_neg)):
        total = np.atleast_1d(np.asarray(totals, dtype=np.float64))
        count = np.asarray(counts, dtype=np.float64)
        if count.ndim != 2 or total.shape != (count.shape[0],) or count.shape[1] not in (1, points.size):
            raise InputError(f"`{name}` must have shape (folds, {points.size}), got {count.shape}")
        count, _ = check_counts(name, count, total[:, None])
        rates.append(np.broadcast_to((count / total[:, None]).mean(axis=0), points.shape))
        sizes.append(float(total.size**2 / (1 / total).sum()))
    misses, alarms = (np.minimum(r, 1.0) * n for r, n in zip(rates, sizes, strict=True))
    band = cost_band(misses, sizes[0], alarms, sizes[1], points, effective=(sizes[0], sizes[1]), **options)
    return replace(band, method=f"within-folds {band.method}")


def _whole(*values: Any) -> bool:
    return all(bool(np.all(np.asarray(v) == np.floor(v))) for v in values)
