"""Error rates of one classifier at several operating points, what turns them into a cost, and resamples of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from costcurves._base.progress import track
from costcurves._base.validation import FloatArray, IntArray, Rng, check_positive, check_rng
from costcurves.inference.rates import pointwise_level
from costcurves.inference.simultaneous import chosen

Beta = tuple[float, float]


def positive_share(n_pos: float, n_neg: float, beta: Beta | None) -> float:
    """Return the share of positives in the test set, or the mean of an uncertain prevalence."""
    if beta is None:
        return n_pos / (n_pos + n_neg)
    a, b = (check_positive("prevalence_uncertainty", x) for x in beta)
    return a / (a + b)


def largest_cost(pc: FloatArray, share: float) -> FloatArray:
    """Return the cost of getting every case wrong if all cases are of the class whose errors cost more.

    It is in units of the cost of always being wrong at this share of positives.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.inference.bands.error_rates import largest_cost
    >>> largest_cost(np.array([0.2, 0.5]), 0.2)
    array([1. , 2.5])
    """
    return np.asarray(np.maximum(pc / share, (1 - pc) / (1 - share)))


class ErrorRates(NamedTuple):
    """Rates of misses and of false alarms at each operating point, and how the data behind them were sampled.

    `n_pos` and `n_neg` are the (effective) examples of each class, `share` the share of positives, and `beta` the
    parameters of an uncertain prevalence, of which `share` is then the mean.
    """

    pc: FloatArray
    fnr: FloatArray
    fpr: FloatArray
    n_pos: float
    n_neg: float
    sampling: str
    share: float
    laplace: float
    beta: Beta | None

    @property
    def cost(self) -> FloatArray:
        """The normalized expected cost at each point."""
        return self.pc * self.fnr + (1 - self.pc) * self.fpr

    @property
    def largest(self) -> FloatArray:
        """The largest possible cost at each point: 1, or more if the share of positives is not fixed.

        A test set (or a population) may consist of cases of the more expensive class alone, all of them wrong.
        """
        if self.sampling == "stratified" and self.beta is None:
            return np.ones_like(self.pc)
        return largest_cost(self.pc, self.share)

    def at(self, some: IntArray) -> ErrorRates:
        """Return the rates at some of the points."""
        return self._replace(pc=self.pc[some], fnr=self.fnr[some], fpr=self.fpr[some])

    def corrected(self) -> ErrorRates:
        """Return the rates with the Laplace correction: two cells per class, or four cells of all examples."""
        if self.sampling == "stratified":
            totals = self.n_pos + 2 * self.laplace, self.n_neg + 2 * self.laplace
            fnr = (self.fnr * self.n_pos + self.laplace) / totals[0]
            return self._replace(fnr=fnr, fpr=(self.fpr * self.n_neg + self.laplace) / totals[1])
        size = self.n_pos + self.n_neg
        total = size + 4 * self.laplace
        fnr = (self.fnr * size + self.laplace / self.share) / total
        return self._replace(fnr=fnr, fpr=(self.fpr * size + self.laplace / (1 - self.share)) / total)

    def canonical(self) -> tuple[ErrorRates, bool]:
        """Return the rates in one of the two orders of the classes, and whether that is the other order.

        Simulations use that order, so that they do not depend on which class is called positive.
        """
        beta = None if self.beta is None else (self.beta[1], self.beta[0])
        other = self._replace(
            pc=1 - self.pc[::-1],
            fnr=self.fpr[::-1],
            fpr=self.fnr[::-1],
            n_pos=self.n_neg,
            n_neg=self.n_pos,
            share=positive_share(self.n_neg, self.n_pos, beta),
            beta=beta,
        )
        forms = (self, other)
        which = chosen([(form.fnr, form.fpr, form.n_pos, form.n_neg, form.pc) for form in forms])
        return forms[which], which == 1

    def prevalence_effect(self) -> tuple[FloatArray, float]:
        """Return how the cost changes with the prevalence at each point, and the variance of the prevalence.

        Without an uncertain prevalence both are zero.
        """
        if self.beta is None:
            return np.zeros_like(self.pc), 0.0
        a, b = self.beta
        mean = a / (a + b)
        return self.pc * self.fnr / mean - (1 - self.pc) * self.fpr / (1 - mean), mean * (1 - mean) / (a + b + 1)

    def prevalence_limits(self, z: float) -> tuple[FloatArray, FloatArray]:
        """Return how far an uncertain prevalence moves the cost down (negative) and up, at critical value z."""
        shift, _ = self.prevalence_effect()
        if self.beta is None:
            return shift, shift
        from scipy.special import betaincinv

        a, b = self.beta
        tail = 0.5 * (1 - pointwise_level(z))
        ends = betaincinv(a, b, [tail, 1 - tail]) - a / (a + b)
        # A cost that falls with the prevalence has its lower limit at the upper end.
        return np.minimum(shift * ends[0], shift * ends[1]), np.maximum(shift * ends[0], shift * ends[1])


def nested_counts(rates: FloatArray, draws: int | IntArray, size: int, rng: np.random.Generator) -> FloatArray:
    """Return resampled error counts (size, points) of one score at several thresholds, jointly.

    Only the counts between neighbouring thresholds are drawn, so the points of one resample belong together.
    """
    levels, where = np.unique(rates, return_inverse=True)
    steps = np.diff(levels, prepend=0.0)
    cells = np.append(steps, max(0.0, 1.0 - steps.sum()))
    # An array of draws (full sampling) holds one number per resample.
    drawn = rng.multinomial(draws, cells, size if isinstance(draws, int) else None)
    return np.asarray(np.cumsum(drawn[:, :-1], axis=1)[:, where], dtype=np.float64)


def drawn_errors(rates: ErrorRates, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return rates of misses and false alarms (size, points) in simulated data sets.

    Under full sampling the class sizes vary; the rates are then counts divided by the expected class size.
    """
    n_pos, n_neg, share = int(rates.n_pos), int(rates.n_neg), rates.share
    if rates.sampling == "stratified":
        return nested_counts(rates.fnr, n_pos, size, rng) / n_pos, nested_counts(rates.fpr, n_neg, size, rng) / n_neg
    n = n_pos + n_neg
    positives = rng.binomial(n, share if rates.beta is None else rng.beta(*rates.beta, size), size)
    # With a Laplace correction the expected errors of a class may be more than its examples.
    miss = nested_counts(np.minimum(rates.fnr, 1.0), positives, size, rng)
    alarm = nested_counts(np.minimum(rates.fpr, 1.0), n - positives, size, rng)
    return miss / (n * share), alarm / (n * (1 - share))


def drawn_weights(rates: ErrorRates, size: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
    """Return the cost of a miss rate and of a false-alarm rate: pc and 1 - pc, or those of drawn prevalences.

    Under full sampling the class sizes already have the drawn prevalences.
    """
    pc, beta = rates.pc, rates.beta
    if beta is None or rates.sampling == "full":
        return pc, 1 - pc
    mean = beta[0] / (beta[0] + beta[1])
    p = rng.beta(beta[0], beta[1], size)[:, None]
    return pc * p / mean, (1 - pc) * (1 - p) / (1 - mean)


def resampled_limits(rates: ErrorRates, level: float, size: int, rng: Rng) -> tuple[FloatArray, FloatArray]:
    """Return percentile limits of the cost over resamples, and over prevalences if these are uncertain."""
    rates, turned = rates.canonical()  # so that the same seed gives the same band in both orders of the classes
    generator = check_rng(rng)
    costs = np.empty((size, rates.pc.size))
    block = max(1, min(size, 2**20 // rates.pc.size))
    for start in track(range(0, size, block), "resampling"):
        some = slice(start, min(size, start + block))
        miss, alarm = drawn_errors(rates, some.stop - some.start, generator)
        weight_pos, weight_neg = drawn_weights(rates, some.stop - some.start, generator)
        costs[some] = weight_pos * miss + weight_neg * alarm
    low, high = order_limits(costs, level)
    return (low[::-1], high[::-1]) if turned else (low, high)


def order_limits(samples: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return the percentile limits of resamples (first axis): of 100 at 90 %, the fifth lowest and highest."""
    size = samples.shape[0]
    rank = max(1, int(np.ceil(size * 0.5 * (1 - level) - 1e-9)))
    part = np.partition(samples, (rank - 1, size - rank), axis=0)
    return np.asarray(part[rank - 1]), np.asarray(part[size - rank])
