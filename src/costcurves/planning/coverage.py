"""How often a confidence band holds, at every condition: summed over all counts that a test set can show."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    FloatArray,
    Rng,
    Sampling,
    check_choice,
    check_flag,
    check_integer,
    check_level,
    check_name,
    check_positive,
    check_rng,
    check_unit_array,
    frozen,
    items_of,
    number_array,
    shown,
)
from costcurves.conditions.condition import PcLike, pc_array
from costcurves.curves.cost_curve import CostCurve, as_cost_curve
from costcurves.inference.bands.error_rates import ErrorRates
from costcurves.inference.bands.methods import BAND_METHODS, Options
from costcurves.inference.bands.results import SAMPLINGS, check_pc
from costcurves.inference.rates import critical, mended_wilson

# Each tail of a binomial is left out from here on; the sum then misses less than 4e-12.
_TAIL = 1e-12
# A band is asked about every pair of counts, which for more examples a class would be too many pairs.
_MOST_EXAMPLES = 100_000
# Points of pc at which both decisions occur less often than this cannot be judged.
_HARDLY = 1e-9
_METHODS = ("wilson", "gaussian")


@dataclass(frozen=True, slots=True)
class Binormal(Result):
    """Scores of positives are N(shift, scale), of negatives N(-shift, scale): the world of the 2008 experiments.

    Parameters
    ----------
    shift, scale : float > 0
        Half the distance of the two means, and the standard deviation of both classes.

    Examples
    --------
    >>> import costcurves as cc
    >>> world = cc.Binormal(shift=3, scale=3)
    >>> fnr, fpr = world.rates(0.5)
    >>> round(float(fnr), 4), round(float(fpr), 4)
    (0.1587, 0.1587)
    """

    shift: float
    scale: float

    _column_names = ("shift", "scale")

    def __post_init__(self) -> None:
        """Check the two numbers."""
        object.__setattr__(self, "shift", check_positive("shift", self.shift))
        object.__setattr__(self, "scale", check_positive("scale", self.scale))

    @property
    def name(self) -> str:
        """What the world is called in pictures."""
        return f"shift {self.shift:g}"

    def rates(self, pc: PcLike) -> tuple[FloatArray, FloatArray]:
        """Return fnr and fpr at the best threshold for each pc.

        Notes
        -----
        The best threshold is where the densities have the ratio (1 - pc) / pc, at
        ``scale² · log((1 - pc) / pc) / (2 · shift)``.
        """
        x = pc_array(pc)
        with np.errstate(divide="ignore"):
            cut = self.scale**2 * (np.log1p(-x) - np.log(x)) / (2 * self.shift)
        return self.rates_at(cut)

    def rates_at(self, threshold: npt.ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Return fnr and fpr at thresholds of the score."""
        from scipy.special import ndtr

        cut = number_array("threshold", threshold, booleans=False)
        fnr: FloatArray = ndtr((cut - self.shift) / self.scale)
        fpr: FloatArray = ndtr(-(cut + self.shift) / self.scale)
        return fnr, fpr

    def draw(self, n_pos: int, n_neg: int, *, rng: Rng = 0) -> tuple[BoolArray, FloatArray]:
        """Draw labels and scores of a test set, positives first.

        Examples
        --------
        >>> import costcurves as cc
        >>> y, score = cc.Binormal(shift=3, scale=3).draw(2, 1)
        >>> y.tolist(), score.round(3).tolist()
        ([True, True, False], [3.377, 2.604, -1.079])
        """
        y = np.arange(check_integer("n_pos", n_pos, 1) + check_integer("n_neg", n_neg, 1)) < n_pos
        return y, np.where(y, self.shift, -self.shift) + self.scale * check_rng(rng).standard_normal(y.size)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Coverage(Result):
    """The chance that a band's limits hold the true cost, at each operating point.

    Attributes
    ----------
    name : str
        Whose true rates were taken.
    pc, probability : arrays of shape (points,)
    level : float
        What the band promises.
    method, sampling : str
        How the band is made.
    n_pos, n_neg : int
        The test set's size.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.coverage(cc.Binormal(3, 3), n_pos=25, n_neg=25, pc=[0.1, 0.5, 0.9], level=0.9)
    Coverage('shift 3', wilson, 25 + 25 examples: 0.879 to 0.933 at nominal 0.9)
    """

    name: str
    pc: FloatArray
    probability: FloatArray
    level: float
    method: str
    sampling: str
    n_pos: int
    n_neg: int

    _column_names = ("name", "method", "pc", "probability")

    def __post_init__(self) -> None:
        """Check the arrays and set them read-only."""
        check_name("name", self.name)
        check_level(self.level)
        pc, probability = check_pc(self.pc), np.array(check_unit_array("probability", self.probability))
        if pc.shape != probability.shape:
            raise InputError(f"`probability` must have one value for each pc, got {probability.size} for {pc.size}")
        object.__setattr__(self, "pc", frozen(pc))
        object.__setattr__(self, "probability", frozen(probability))

    @property
    def worst(self) -> float:
        """The lowest chance over all points."""
        return float(self.probability.min())

    def __repr__(self) -> str:
        how = self.method if self.sampling == "stratified" else f"{self.method}, {self.sampling} sampling"
        return (
            f"Coverage({self.name!r}, {how}, {self.n_pos} + {self.n_neg} examples: "
            f"{self.worst:.3g} to {float(self.probability.max()):.3g} at nominal {self.level:g})"
        )


def coverage(
    truth: Any,
    *,
    n_pos: int,
    n_neg: int,
    level: float = DEFAULT_LEVEL,
    method: Literal["wilson", "gaussian"] = "wilson",
    sampling: Sampling = "stratified",
    test_sets: Sampling = "stratified",
    pc: PcLike | None = None,
    within_scores: bool = False,
    validation: tuple[int, int] | None = None,
    n_draws: int = 2000,
    rng: Rng = 0,
    name: str | None = None,
) -> Coverage:
    """Return how often the pointwise band of a test set would hold the true cost, at each pc, without simulation.

    Parameters
    ----------
    truth : CostCurve, RocCurve, RocHull or Binormal
        Whose rates are taken as the true ones at the threshold used at each pc: a curve's own, or those of two
        normal distributions of scores.
    n_pos, n_neg : int
        The examples of each class in the test set.
    level : float in (0, 1)
        What the band promises.
    method : {"wilson", "gaussian"}
        How the band is made, as in `CostCurve.band`.
    sampling : {"stratified", "full"}
        Which sampling the band assumes.
    test_sets : {"stratified", "full"}
        How the test set comes about: with these numbers of each class, or with as many examples in all, of which each
        is positive with probability n_pos/(n_pos + n_neg). The latter needs a band of full sampling.
    pc : array-like, optional
        Operating points; by default 0.01, 0.02, ..., 0.99.
    within_scores : bool
        Whether to leave out test sets whose scores all lie on one side of the threshold, and with them the points of
        pc at which nearly all test sets are of this kind (all but 1e-9 of them). It needs stratified test sets.
    validation : (n_pos, n_neg), optional
        The size of a validation set on which thresholds are chosen as the best ones, instead of the best of the
        population. It needs a Binormal. The coverage of the cost at the chosen thresholds is then estimated from
        `n_draws` validation sets, each with one test set; its standard error is at most 0.5 / √n_draws.
    n_draws, rng
        The number of validation sets, and a generator or a seed for them.
    name : str, optional
        By default that of `truth`.

    Notes
    -----
    The thresholds are fixed, so misses and false alarms are two independent binomials. The sum of the probabilities
    of all pairs of counts whose interval covers is exact but for tails of 4e-12. Figures 2, 3 and 5 of Dugas &
    Gadoury (2008) estimate the same by 1,000 simulated test sets. Where class sizes vary, misses and false alarms are
    two cells of one trinomial, and costs are those that give pc at the true class frequencies. The sum is over all
    pairs of the two counts, given that both classes are present, and again exact but for tails of that order.

    Examples
    --------
    The Gaussian interval breaks where errors are rare, Wilson's does not:

    >>> import costcurves as cc
    >>> world = cc.Binormal(shift=0.75, scale=3)
    >>> for method in ("gaussian", "wilson"):
    ...     print(round(cc.coverage(world, n_pos=250, n_neg=250, level=0.9, method=method, pc=0.15).worst, 3))
    0.169
    1.0
    """
    level, rng = check_level(level), check_rng(rng)
    method = check_choice("method", method, _METHODS)
    check_sampling(sampling, test_sets)
    n_pos = check_integer("n_pos", n_pos, 1, _MOST_EXAMPLES)
    n_neg = check_integer("n_neg", n_neg, 1, _MOST_EXAMPLES)
    points = np.linspace(0.01, 0.99, 99) if pc is None else check_pc(pc)
    known = np.zeros(points.size, dtype=np.bool_)
    within = check_flag("within_scores", within_scores)
    if within and (test_sets == "full" or validation is not None):
        raise InputError("`within_scores` must come with stratified test sets and without `validation`")
    if validation is not None:
        if not isinstance(truth, Binormal) or test_sets == "full":
            raise InputError(f"`validation` must come with a Binormal and stratified test sets, got {shown(truth)}")
        sizes = tuple(check_integer("validation", size, 1) for size in items_of(validation))
        if len(sizes) != 2:
            raise InputError(f"`validation` must be two sizes, got {shown(validation)}")
        how = {"level": level, "method": method, "sampling": sampling}
        chance = _after_validation(truth, sizes, (n_pos, n_neg), points, check_integer("n_draws", n_draws, 1), rng, how)
        return Coverage(name or truth.name, points, chance, level, method, sampling, n_pos, n_neg)
    if isinstance(truth, Binormal):
        fnr, fpr = truth.rates(points)
    else:
        try:
            curve = as_cost_curve(truth, "truth")
        except InputError:
            raise InputError(
                f"`truth` must be a curve or a Binormal, got {shown(truth)} ({type(truth).__name__})"
            ) from None
        step = curve.step_at(points)
        fnr, fpr, truth = curve.fnr[step], curve.fpr[step], curve
        known = curve.trivial_at(points)
    covered = partial(_covered, within=within) if test_sets == "stratified" else _covered_in_all
    probability = np.array(
        [
            1.0
            if sure
            else covered(miss, n_pos, alarm, n_neg, at, {"level": level, "method": method, "sampling": sampling})
            for miss, alarm, at, sure in zip(fnr.tolist(), fpr.tolist(), points.tolist(), known.tolist(), strict=True)
        ]
    )
    kept = ~np.isnan(probability)
    if not kept.any():
        raise InputError("`within_scores` must leave some points of `pc`, got none at which both decisions occur")
    who = truth.name if name is None else name
    return Coverage(who, points[kept], probability[kept], level, method, sampling, n_pos, n_neg)


def _covered(
    fnr: float, n_pos: int, fpr: float, n_neg: int, pc: float, options: dict[str, Any], *, within: bool
) -> float:
    """Return the probability of the counts whose interval holds the true cost.

    With `within`, it is given that some examples lie on each side of the threshold, and NaN if they hardly ever do.
    """
    (misses, p), (alarms, q) = _likely(fnr, n_pos), _likely(fpr, n_neg)
    fn, fp = np.repeat(misses, alarms.size), np.tile(alarms, misses.size)
    held = _holds(fn / n_pos, fp / n_neg, n_pos, n_neg, pc, pc * fnr + (1 - pc) * fpr, **options)
    mass = np.repeat(p, alarms.size) * np.tile(q, misses.size)
    if not within:
        return min(1.0, float(mass @ held))
    flagged = n_pos - fn + fp
    mass = np.where((flagged > 0) & (flagged < n_pos + n_neg), mass, 0.0)
    return min(1.0, float(mass @ held) / float(mass.sum())) if mass.sum() > _HARDLY else math.nan


def check_sampling(sampling: Any, test_sets: Any) -> None:
    """Check how intervals and test sets are drawn: where class sizes vary, the interval must allow for that."""
    check_choice("sampling", sampling, SAMPLINGS)
    if check_choice("test_sets", test_sets, SAMPLINGS) == "full" and sampling != "full":
        raise InputError(f"`test_sets='full'` must come with `sampling='full'`, got {sampling!r}")


def _after_validation(
    world: Binormal,
    validation: tuple[int, ...],
    sizes: tuple[int, int],
    points: FloatArray,
    n_draws: int,
    rng: Any,
    options: dict[str, Any],
) -> FloatArray:
    """Return the share of drawn test sets whose interval holds the cost at the thresholds of drawn validation sets."""
    generator = check_rng(rng)
    cuts = np.empty((n_draws, points.size))
    for one in cuts:
        chosen = CostCurve.from_predictions(*world.draw(*validation, rng=generator))
        one[:] = chosen.threshold_at(points)
    fnr, fpr = world.rates_at(cuts)
    fn, fp = (generator.binomial(n, rate) / n for n, rate in zip(sizes, (fnr, fpr), strict=True))
    true = points * fnr + (1 - points) * fpr
    held = [_holds(fn[:, i], fp[:, i], *sizes, float(at), true[:, i], **options).mean() for i, at in enumerate(points)]
    return np.array(held)


def _covered_in_all(fnr: float, n_pos: int, fpr: float, n_neg: int, pc: float, options: dict[str, Any]) -> float:
    """Return the same where n_pos + n_neg examples are drawn without regard to their class.

    The class of an example that is right does not enter the interval, so the sum over class sizes and over the errors
    of each class is one over the misses and false alarms among all examples. Test sets in which a class is absent are
    taken out of it.
    """
    n = n_pos + n_neg
    q, r = fnr * n_pos / n, fpr * n_neg / n
    misses, p = _likely(q, n)
    alarms, _ = _likely(r, n)
    fn, fp = np.repeat(misses, alarms.size), np.tile(alarms, misses.size)
    mass = np.repeat(p, alarms.size) * _chance(fp, n - fn, min(r / (1 - q), 1.0) if q < 1 else 0.0)
    share = n_pos / n
    no_positive, no_negative = (1 - share) ** n, share**n
    mass = mass - np.where(fn == 0, no_positive * _chance(fp, float(n), fpr), 0.0)
    mass = mass - np.where(fp == 0, no_negative * _chance(fn, float(n), fnr), 0.0)
    held = _holds(fn / n_pos, fp / n_neg, n_pos, n_neg, pc, pc * fnr + (1 - pc) * fpr, **options)
    return min(1.0, max(0.0, float(mass @ held)) / (1 - no_positive - no_negative))


def _holds(
    fnr: FloatArray, fpr: FloatArray, n_pos: int, n_neg: int, pc: float, true: float | FloatArray,
    *, level: float, method: str, sampling: str,
) -> BoolArray:  # fmt: skip
    """Return whether the limits at these rates hold the true cost.

    Under full sampling, rates are counts divided by the expected size of a class, and may be above 1.
    """
    share = n_pos / (n_pos + n_neg)
    rates = ErrorRates(np.full(fnr.size, pc), fnr, fpr, n_pos, n_neg, sampling, share, 0.0, None)
    lower, upper = BAND_METHODS[method].limits(rates, critical(level), Options(mended_wilson))
    # A limit that equals the truth but for rounding holds it. No true cost is above the largest possible one, so
    # limits that are cut there hold it if these do.
    return np.asarray((lower <= true + 1e-12) & (true <= upper + 1e-12))


def _likely(rate: float, n: int) -> tuple[FloatArray, FloatArray]:
    """Return the counts of a binomial but for its far tails, and their probabilities."""
    from scipy.special import bdtr

    counts = np.arange(n + 1, dtype=np.float64)
    below = bdtr(counts, n, rate)
    first, last = np.searchsorted(below, [_TAIL, 1 - _TAIL])
    k = counts[first : min(last, n) + 1]
    return k, _chance(k, float(n), rate)


def _chance(count: FloatArray, n: FloatArray | float, rate: float) -> FloatArray:
    """Return binomial probabilities; 0 for a count above n."""
    from scipy.special import betaln, xlog1py, xlogy

    rest = np.maximum(n - count, 0.0)
    log_choose = -betaln(count + 1, rest + 1) - np.log(count + rest + 1)
    chance = np.exp(log_choose + xlogy(count, rate) + xlog1py(rest, -rate))
    return np.where(count > n, 0.0, chance)
