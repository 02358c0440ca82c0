"""Bands for the normalized expected cost of one classifier, from error counts at each operating point."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    MOST_POINTS,
    FloatArray,
    IntArray,
    check_choice,
    check_integer,
    check_laplace,
    check_level,
    check_positive,
    frozen,
)
from costcurves.inference.bands.resampled import drawn_errors, drawn_weights, positive_share, resampled_band
from costcurves.inference.bands.results import SAMPLINGS, Band, check_pc
from costcurves.inference.bands.shared_draws import SharedDraws
from costcurves.inference.kernel.distribution import BootstrapDistribution, Stratum, exact_distribution, exact_quantiles
from costcurves.inference.rates import (
    Limits,
    check_counts,
    critical,
    mended_wilson,
    mid_p_at,
    mover,
    pointwise_level,
)
from costcurves.inference.simultaneous import (
    SIMULATIONS,
    calibrated_critical,
    curve_covariance,
    line_critical,
    moving_points,
    process_critical,
    seeded_by,
    tabulated,
)
from costcurves.inference.symmetry import chosen, exact_weights

BAND_METHODS = ("wilson", "gaussian", "exact", "resample")


def cost_band(
    fn: npt.ArrayLike,
    n_pos: float,
    fp: npt.ArrayLike,
    n_neg: float,
    pc: npt.ArrayLike,
    *,
    level: float = 0.95,
    method: str = "wilson",
    sampling: str = "stratified",
    simultaneous: bool = False,
    laplace: float = 0.0,
    prevalence_uncertainty: tuple[float, float] | None = None,
    effective: tuple[float, float] | None = None,
    known: npt.ArrayLike = False,
    critical_value: float | None = None,
    n_resamples: int = 2000,
    rng: Any = None,
) -> Band:
    """Return a band for NE(pc) = pc · fnr + (1 - pc) · fpr from counts of errors.

    Parameters
    ----------
    fn, fp : int, or arrays of shape (points,)
        Misses and false alarms at the threshold that each operating point uses; one number each for a
        classifier of fixed threshold (a line).
    n_pos, n_neg : float
        Examples of each class.
    pc : array of shape (points,)
        Operating points, increasing in [0, 1].
    level : float
    method : {"wilson", "gaussian", "exact", "resample"}
        "wilson": Wilson intervals of the two rates (`mended_wilson`), combined (MOVER). "gaussian": the 2008
        paper, normal with the exact bootstrap moments. "exact": quantiles of the exact bootstrap distribution.
        "resample": quantiles of `n_resamples` resamples (the 2005 paper).
    sampling : {"stratified", "full"}
        "stratified": class frequencies are fixed. "full": they vary as in a new sample of the size of the
        test set; costs are those that give `pc` at the test set's frequencies.
    simultaneous : bool
        Whether the band holds at all points of `pc` jointly.
    laplace : float
        Added to each cell before the rates are formed.
    prevalence_uncertainty : (a, b), optional
        The deployment prevalence is Beta(a, b), not fixed: its uncertainty is added to that of the rates.
        The costs are those that give `pc` at the mean a/(a+b). Not with "exact": every prevalence has its own
        distribution, and no error bound is known here for a mixture of some of them; "resample" draws prevalences.
    effective : (n_pos, n_neg), optional
        Effective sample sizes (Σw)²/Σw² of weighted data; the counts are then sums of weights.
    known : bool, or array of shape (points,)
        Where the rates are no estimates, because everybody is predicted to be of the same class whatever the score. The
        limits are the cost itself there, or where the prevalence is uncertain, what that makes of it.
    critical_value : float, optional
        A simultaneous critical value found elsewhere; the band is then simultaneous.
    n_resamples, rng
        For "resample" only.

    Returns
    -------
    Band

    Notes
    -----
    The Gaussian interval has width zero where both rates are 0 or 1 (the breaks that the 2008 paper reports);
    so have the bootstrap's, which cannot draw an error that the data do not show. Wilson's does not. Limits
    are kept in [0, 1].

    With a prevalence P ~ Beta(a, b) of mean m and variance v, stratified sampling describes
    pc · P/m · fnr + (1-pc) · (1-P)/(1-m) · fpr, with P independent of the estimated rates. Full sampling describes a
    new sample of the test set's size n from where the classifier will be used: P is drawn, then n examples, each
    a miss with probability P · fnr or a false alarm with probability (1-P) · fpr, which cost pc/(m n) and
    (1-pc)/((1-m) n). With d = pc · fnr/m - (1-pc) · fpr/(1-m), the change of cost with the prevalence, the variance is
    (pc² fnr/m + (1-pc)² fpr/(1-m) - NE²)/n + (1 - 1/n) v d².

    Simultaneous bands put a larger critical value into the same intervals. For a line it has a closed form
    (`line_critical`). For a moving threshold "wilson" takes mid-P limits of the rates, because critical values
    are then about 3, far from where Wilson's tails are right, and finds the critical value by simulating the
    counts themselves: 1,999 data sets are drawn at smoothed rates (seeded by the data), and the value is the
    smallest at which the bands of a share `level` of them hold those rates at all points (`calibrated_critical`).
    The other methods take theirs from the Gaussian process of the rates (`process_critical`).

    Measured joint coverage at nominal 95 % of binormal curves (scale 3, best thresholds, pc = 0.01, ..., 0.99; 20,000
    data sets with 250 a class and 12,000 with more, standard error 0.2 points), for μ = 0.75, 1, 2 and 3: 0.954, 0.950,
    0.945 and 0.949 with 250 a class; 0.950, 0.952, 0.951 and 0.950 with 1,000; 0.950, 0.952, 0.953 and 0.950 with
    2,500; of lines (3,000 runs), 0.945 with 25 a class, 0.953 with 250 and 0.951 with 1,000. On finer grids (μ = 2),
    the values found for eight data sets cover about 0.95 of 2,000 others: 201 points with 250 a class, 1,001 points
    with 250 and with 2,500.

    Examples
    --------
    >>> from costcurves.inference.bands.one_curve import cost_band
    >>> band = cost_band(fn=4, n_pos=20, fp=4, n_neg=10, pc=[0.2, 0.8], level=0.9, method="gaussian")
    >>> band.lower.round(3), band.upper.round(3)
    (array([0.154, 0.112]), array([0.566, 0.368]))
    """
    level, points = check_level(level), check_pc(pc)
    method = check_choice("method", method, BAND_METHODS)
    sampling = check_choice("sampling", sampling, SAMPLINGS)
    n_pos, n_neg = check_positive("n_pos", n_pos), check_positive("n_neg", n_neg)
    laplace = check_laplace(laplace)
    miss, _ = check_counts("fn", fn, n_pos)
    alarm, _ = check_counts("fp", fp, n_neg)
    for name, counts in (("fn", miss), ("fp", alarm)):
        if counts.size not in (1, points.size) or counts.ndim > 1:
            raise InputError(f"`{name}` must be a number or match `pc`, got shape {counts.shape}")
    miss, alarm = np.broadcast_to(miss, points.shape), np.broadcast_to(alarm, points.shape)
    weighted = effective is not None
    if weighted and method in ("exact", "resample"):
        raise InputError(f"`method` must be 'wilson' or 'gaussian' for weighted data, got {method!r}")
    if prevalence_uncertainty is not None and method == "exact":
        raise InputError(
            "`prevalence_uncertainty` must not come with 'exact', whose resamples have one prevalence: "
            "use 'resample', which draws the prevalence too, or 'wilson'"
        )
    if method in ("exact", "resample") and not (_whole(n_pos, n_neg) and _whole(miss, alarm)):
        raise InputError(f"`method={method!r}` must have whole counts; for weighted data use 'wilson'")
    size_pos, size_neg = effective if effective is not None else (n_pos, n_neg)
    size_pos, size_neg = check_positive("effective", size_pos), check_positive("effective", size_neg)

    share = positive_share(n_pos, n_neg, prevalence_uncertainty)
    fnr, fpr = _rates(miss / n_pos, alarm / n_neg, size_pos, size_neg, share, sampling, laplace)
    estimate = points * fnr + (1 - points) * fpr

    z = critical(level)
    sure = np.broadcast_to(np.asarray(known, dtype=np.bool_), points.shape)
    open_points = np.flatnonzero(~sure)
    fixed = all(np.ptp(counts[open_points]) == 0 for counts in (miss, alarm)) if open_points.size else True
    limits = mended_wilson if fixed else mid_p_at
    if critical_value is not None:
        z, simultaneous = check_positive("critical_value", critical_value), True
    elif simultaneous and open_points.size:
        if fixed and sampling == "stratified" and prevalence_uncertainty is None:
            spread = [
                float(np.sqrt(soft[0] * (1 - soft[0]) / n))
                for soft, n in (
                    (_softened(fnr[open_points], size_pos), size_pos),
                    (_softened(fpr[open_points], size_neg), size_neg),
                )
            ]
            span = points[open_points[0]], points[open_points[-1]]
            z = line_critical(level, span, sd_pos=spread[0], sd_neg=spread[1])
        else:
            where = open_points if prevalence_uncertainty is None else np.arange(points.size)
            z = _simulated_critical(
                (miss[where] / n_pos, alarm[where] / n_neg), (size_pos, size_neg), exact_weights(points[where]),
                prevalence_uncertainty, level, method, sampling, laplace, limits,
            )  # fmt: skip

    if method == "wilson":
        lower, upper = _rate_band(
            points, fnr, fpr, size_pos, size_neg, z, sampling, share, laplace, prevalence_uncertainty,
            limits if simultaneous else mended_wilson,
        )  # fmt: skip
    elif method == "gaussian":
        sd = _gaussian_sd(points, fnr, fpr, size_pos, size_neg, sampling, share, prevalence_uncertainty)
        lower, upper = estimate - z * sd, estimate + z * sd
    elif method == "exact":
        lower, upper = _exact_band(points, fnr, fpr, int(n_pos), int(n_neg), sampling, pointwise_level(z))
    else:
        lower, upper = resampled_band(
            points, fnr, fpr, int(n_pos), int(n_neg), pointwise_level(z), sampling, prevalence_uncertainty,
            check_integer("n_resamples", n_resamples, 2, MOST_POINTS), rng,
        )  # fmt: skip
    if sure.any():
        exact = points * (miss / n_pos) + (1 - points) * (alarm / n_neg)
        moved: tuple[FloatArray | float, FloatArray | float] = (0.0, 0.0)
        if prevalence_uncertainty is not None:
            moved = _beta_distances(points, miss / n_pos, alarm / n_neg, prevalence_uncertainty, z)
        estimate, lower, upper = (
            np.where(sure, value, found)
            for value, found in ((exact, estimate), (exact + moved[0], lower), (exact + moved[1], upper))
        )
    estimate, lower, upper = (frozen(np.clip(a, 0.0, 1.0)) for a in (estimate, lower, upper))
    mean = None if prevalence_uncertainty is None else share
    return Band(
        frozen(points), estimate, lower, upper, level, method, sampling, bool(simultaneous), float(z), prevalence=mean
    )


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
    """Return the exact bootstrap distribution of NE at one operating point; one value where the cost is `known`.

    Examples
    --------
    >>> from costcurves.inference.bands.one_curve import cost_distribution
    >>> cost_distribution(4, 4, 20, 10, 0.5)
    BootstrapDistribution(mean=0.3, std=0.0894, 41 atoms)
    """
    points = check_pc(pc)
    sampling = check_choice("sampling", sampling, SAMPLINGS)
    laplace = check_laplace(laplace)
    miss, alarm = (np.atleast_1d(check_counts(m, c, n)[0]) for m, c, n in (("fn", fn, n_pos), ("fp", fp, n_neg)))
    if known:
        return exact_distribution(Stratum(1, [1.0], points * miss / n_pos + (1 - points) * alarm / n_neg))
    fnr, fpr = _rates(miss / n_pos, alarm / n_neg, n_pos, n_neg, n_pos / (n_pos + n_neg), sampling, laplace)
    return exact_distribution(cost_strata(points, fnr, fpr, n_pos, n_neg, sampling))


def _rates(
    fnr: FloatArray, fpr: FloatArray, n_pos: float, n_neg: float, share: float, sampling: str, laplace: float
) -> tuple[FloatArray, FloatArray]:
    """Return fnr and fpr with the Laplace correction: two cells a class, or four cells of all examples."""
    if sampling == "stratified":
        return (fnr * n_pos + laplace) / (n_pos + 2 * laplace), (fpr * n_neg + laplace) / (n_neg + 2 * laplace)
    size = n_pos + n_neg
    total = size + 4 * laplace
    return (fnr * size + laplace / share) / total, (fpr * size + laplace / (1 - share)) / total


def cost_strata(
    pc: FloatArray, fnr: FloatArray, fpr: FloatArray, n_pos: int, n_neg: int, sampling: str = "stratified"
) -> list[Stratum]:
    """Return the strata of NE at each operating point: one a class, or one of all draws for full sampling.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.bands.one_curve import cost_strata
    >>> from costcurves.inference.kernel.distribution import exact_distribution
    >>> pc, fnr, fpr = np.array([0.5]), np.array([0.2]), np.array([0.4])
    >>> exact_distribution(cost_strata(pc, fnr, fpr, 20, 10))
    BootstrapDistribution(mean=0.3, std=0.0894, 41 atoms)
    """
    if sampling == "stratified":
        return [
            Stratum(n_pos, fnr[:, None], pc[:, None] / n_pos),
            Stratum(n_neg, fpr[:, None], (1 - pc[:, None]) / n_neg),
        ]
    n = n_pos + n_neg
    q = np.stack([fnr * n_pos / n, fpr * n_neg / n], axis=1)
    return [Stratum(n, q, np.stack([pc / n_pos, (1 - pc) / n_neg], axis=1))]


def _exact_band(
    pc: FloatArray, fnr: FloatArray, fpr: FloatArray, n_pos: int, n_neg: int, sampling: str, level: float
) -> tuple[FloatArray, FloatArray]:
    """Return the limits that the exact bootstrap distribution exceeds to either side with half of 1 - level."""
    tail = 0.5 * (1 - level)
    strata = cost_strata(pc, fnr, fpr, n_pos, n_neg, sampling)
    if sampling == "stratified":
        lower, upper = exact_quantiles(strata, [tail, 1 - tail])
        return lower, upper
    (whole,) = strata
    q = np.insert(whole.probabilities, [1, 2], 0.0, axis=1)  # nothing takes an error away
    return SharedDraws(whole.draws, q, pc / n_pos, (1 - pc) / n_neg).limits(tail)


def _whole(*values: Any) -> bool:
    return all(bool(np.all(np.asarray(v) == np.floor(v))) for v in values)


def _beta_part(pc: FloatArray, fnr: FloatArray, fpr: FloatArray, beta: tuple[float, float]) -> tuple[FloatArray, float]:
    """Return d cost / d prevalence at each point, and the variance of the prevalence."""
    mean = beta[0] / (beta[0] + beta[1])
    return pc * fnr / mean - (1 - pc) * fpr / (1 - mean), mean * (1 - mean) / (beta[0] + beta[1] + 1)


def _gaussian_sd(
    pc: FloatArray,
    fnr: FloatArray,
    fpr: FloatArray,
    n_pos: float,
    n_neg: float,
    sampling: str,
    share: float,
    beta: tuple[float, float] | None,
) -> FloatArray:
    if sampling == "full":
        n = n_pos + n_neg
        mean = pc * fnr + (1 - pc) * fpr
        second = pc**2 * fnr / share + (1 - pc) ** 2 * fpr / (1 - share)
        total = np.maximum(second - mean**2, 0.0) / n
        if beta is not None:
            shift, variance = _beta_part(pc, fnr, fpr, beta)
            total = total + (1 - 1 / n) * variance * shift**2
        return np.asarray(np.sqrt(total))
    pos, neg = pc**2 * fnr * (1 - fnr) / n_pos, (1 - pc) ** 2 * fpr * (1 - fpr) / n_neg
    if beta is None:
        return np.asarray(np.sqrt(pos + neg))
    shift, variance = _beta_part(pc, fnr, fpr, beta)
    p = beta[0] / (beta[0] + beta[1])
    pos, neg = pos * (1 + variance / p**2), neg * (1 + variance / (1 - p) ** 2)
    return np.asarray(np.sqrt(pos + neg + variance * shift**2))


def _rate_band(
    pc: FloatArray,
    fnr: FloatArray,
    fpr: FloatArray,
    n_pos: float,
    n_neg: float,
    z: float,
    sampling: str,
    share: float,
    laplace: float,
    beta: tuple[float, float] | None,
    limits: Limits,
) -> tuple[FloatArray, FloatArray]:
    if sampling == "full":
        n = n_pos + n_neg + 4 * laplace
        q, r = fnr * share, fpr * (1 - share)
        # Cells of one multinomial repel each other; half an example a cell keeps "all wrong" from certainty.
        soft_q, soft_r = (q * n + 0.5) / (n + 2), (r * n + 0.5) / (n + 2)
        repel = -np.sqrt(soft_q * soft_r / ((1 - soft_q) * (1 - soft_r)))
        weights = (pc / share, (1 - pc) / (1 - share))
        cells = (limits(q * n, n, z), limits(r * n, n, z))
        lower, upper = mover(weights, (q, r), cells, repel)
        if beta is None:
            return lower, upper
        estimate = pc * fnr + (1 - pc) * fpr
        low, high = _beta_distances(pc, fnr, fpr, beta, z)
        return np.asarray(estimate - np.hypot(estimate - lower, low)), np.asarray(
            estimate + np.hypot(upper - estimate, high)
        )
    size_pos, size_neg = n_pos + 2 * laplace, n_neg + 2 * laplace
    intervals = (limits(fnr * size_pos, size_pos, z), limits(fpr * size_neg, size_neg, z))
    if beta is None:
        return mover((pc, 1 - pc), (fnr, fpr), intervals)
    low, high = _beta_distances(pc, fnr, fpr, beta, z)
    mean, variance = share, _beta_part(pc, fnr, fpr, beta)[1]
    grow = np.sqrt(1 + variance / mean**2), np.sqrt(1 + variance / (1 - mean) ** 2)
    estimate = pc * fnr + (1 - pc) * fpr
    below = (pc * grow[0] * (fnr - intervals[0][0]), (1 - pc) * grow[1] * (fpr - intervals[1][0]), low)
    above = (pc * grow[0] * (intervals[0][1] - fnr), (1 - pc) * grow[1] * (intervals[1][1] - fpr), high)
    return (
        np.asarray(estimate - np.sqrt(sum(x * x for x in below))),
        np.asarray(estimate + np.sqrt(sum(x * x for x in above))),
    )


def _beta_distances(
    pc: FloatArray, fnr: FloatArray, fpr: FloatArray, beta: tuple[float, float], z: float
) -> tuple[FloatArray, FloatArray]:
    """Return how far an uncertain prevalence moves the cost down (negative) and up, at critical value z."""
    from scipy.special import betaincinv

    shift, _ = _beta_part(pc, fnr, fpr, beta)
    tail = 0.5 * (1 - pointwise_level(z))
    ends = betaincinv(beta[0], beta[1], [tail, 1 - tail]) - beta[0] / (beta[0] + beta[1])
    # A cost that falls with the prevalence has its lower limit at the upper end.
    return np.minimum(shift * ends[0], shift * ends[1]), np.maximum(shift * ends[0], shift * ends[1])


def _simulated_critical(
    rates: tuple[FloatArray, FloatArray],
    sizes: tuple[float, float],
    pc: FloatArray,
    beta: tuple[float, float] | None,
    level: float,
    method: str,
    sampling: str,
    laplace: float,
    limits: Limits,
) -> float:
    """Return the simultaneous critical value of a moving threshold, by simulation; the same in both class orders."""
    turned = (
        (rates[1][::-1], rates[0][::-1]),
        (sizes[1], sizes[0]),
        1 - pc[::-1],
        None if beta is None else (beta[1], beta[0]),
    )
    forms = [(rates, sizes, pc, beta), turned]
    rates, sizes, pc, beta = forms[chosen([(*rate, size, where) for rate, size, where, _ in forms])]
    share = positive_share(*sizes, beta)
    if method == "wilson":
        soft = [_plug_in(rate, n) for rate, n in zip(rates, sizes, strict=True)]
    else:
        corrected = _rates(*rates, *sizes, share, sampling, laplace)
        soft = [_softened(rate, n) for rate, n in zip(corrected, sizes, strict=True)]
    covariance = curve_covariance(soft[0], soft[1], pc, *sizes, sampling=sampling, share=share)
    if beta is not None:
        shift, variance = _beta_part(pc, soft[0], soft[1], beta)
        covariance = covariance + variance * np.multiply.outer(shift, shift)
    if method != "wilson":
        return process_critical(covariance, level)
    used = moving_points(covariance)
    n_pos, n_neg = (max(1, round(n)) for n in sizes)
    return _calibrated(pc[used], soft[0][used], soft[1][used], n_pos, n_neg, level, sampling, laplace, beta, limits)


def _softened(rate: FloatArray, n: float) -> FloatArray:
    """Return rates with half an error and half a right decision more."""
    return np.asarray(np.minimum((rate * n + 0.5) / (n + 1), 1.0))


def _plug_in(rate: FloatArray, n: float) -> FloatArray:
    """Return rates to simulate at: (k + ½)/(n + 1), and falling on where a moving threshold leaves none (or all) wrong.

    Over such points at an end of the range, the rate of what was not seen goes down to a thousandth, evenly in
    its logarithm: a constant rate there would leave out that a first error may come long before it is expected.
    """
    soft = _softened(rate, n)
    for edge in (0.0, 1.0):
        at = np.flatnonzero(rate == edge)
        if 1 < at.size < rate.size:
            rare = np.geomspace(1.0, 1e-3, at.size)[:: -1 if at[0] == 0 else 1] * 0.5 / (n + 1)
            soft[at] = np.abs(edge - rare)
    return soft


def _calibrated(
    pc: FloatArray,
    fnr: FloatArray,
    fpr: FloatArray,
    n_pos: int,
    n_neg: int,
    level: float,
    sampling: str,
    laplace: float,
    beta: tuple[float, float] | None,
    limits: Limits,
) -> float:
    """Return the critical value at which the band covers in a share `level` of data sets drawn at these rates."""
    rng = seeded_by(fnr, fpr)
    share = positive_share(n_pos, n_neg, beta)
    miss, alarm = drawn_errors(fnr, fpr, n_pos, n_neg, sampling, beta, SIMULATIONS, rng)
    drawn = _rates(miss, alarm, n_pos, n_neg, share, sampling, laplace)
    weight_pos, weight_neg = drawn_weights(pc, beta, sampling, SIMULATIONS, rng)
    true = np.broadcast_to(weight_pos * fnr + weight_neg * fpr, miss.shape)
    table = tabulated(limits, laplace)

    def covers(z: float, which: IntArray) -> npt.NDArray[np.bool_]:
        r, f = drawn[0][which], drawn[1][which]
        lower, upper = _rate_band(pc, r, f, n_pos, n_neg, z, sampling, share, laplace, beta, table)
        return np.asarray(((lower <= true[which] + 1e-12) & (true[which] <= upper + 1e-12)).all(axis=1))

    return calibrated_critical(covers, SIMULATIONS, level)
