"""BCost and BDeltaCost for k classes: what a classifier costs, which of two is cheaper, and how sure that is.

The bootstrap of Margineantu and Dietterich (2000), exact instead of simulated. Rows of every matrix are true
classes and columns are predicted classes.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, SmallSampleWarning
from costcurves._base.results import Result
from costcurves._base.validation import (
    MOST_POINTS,
    FloatArray,
    check_choice,
    check_integer,
    check_laplace,
    check_level,
    check_positive,
    check_rng,
    check_two_names,
    frozen,
    shown,
)
from costcurves.conditions.cost_matrix import OWNER, CostMatrix, as_cost_matrix, cheapest_constant, check_priors
from costcurves.counting.class_labels import Labels, code_columns
from costcurves.counting.confusion import ConfusionMatrix, JointConfusion, pair_counts
from costcurves.inference import multiclass
from costcurves.inference.kernel.distribution import exact_distribution
from costcurves.inference.kernel.strata import Stratum, resample
from costcurves.inference.rates import cells_interval
from costcurves.inference.tilted import TiltCells, tilted_limits, tilted_tails_at

METHODS = ("exact", "resample")
# With uncertain priors the distribution is drawn; so many draws put the interval's ends within 1 % of their
# level.
_DIRICHLET_DRAWS = 100_000
# A cell seen this often is judged from the data; below it, its rate is mostly unknown.
_FEW = 5
# A cell is a risk when it may add this many half-widths. An error that carries all of the cost by itself adds
# 1.9 half-widths when it was seen once, 1.55 when twice, 1.4 when three times: one or two are no basis.
_OUTWEIGHS = 1.5
# So many half-widths may a Laplace correction move an interval before it is said.
_MOVES = 0.5
# The smallest p-value of a normal test that is told apart from 0, and how many standard errors mid-P limits go.
_SMALLEST_P = 1e-300
_SMALLEST_TILTED = 1e-12
_FARTHEST = 8.0


@dataclass(frozen=True, slots=True)
class CellRisk:
    """An error that is expensive and too rare in the data to be judged from them.

    Attributes
    ----------
    true, predicted : label
        The cell of the confusion matrix.
    cost : float
        What one such error costs.
    count : int
        How many were seen; of a difference, where the costs of the two classifiers differ.
    excess : float
        What the error may add to the expected cost: cost times (upper bound of its rate minus the rate seen).
    needed : int or None
        About how many examples would bring the excess below the width that the other errors give the interval, or
        below the advantage of a difference; None when no error was seen at all and nothing can be scaled.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.CellRisk(true="crash", predicted="safe", cost=1e6, count=0, excess=2995.7, needed=90_000)
    CellRisk(true='crash', predicted='safe', cost=1000000.0, count=0, excess=2995.7, needed=90000)
    """

    true: Any
    predicted: Any
    cost: float
    count: int
    excess: float
    needed: int | None


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostInterval(Result):
    """An interval for the expected cost of one classifier.

    Attributes
    ----------
    estimate : float
        The mean cost of the test examples (weighted to the deployment priors where those are given).
    lower, upper : float
        The interval.
    level : float
        Its confidence level.
    method : {"exact", "resample", "z", "mid-p", "tilted"}
    laplace : float
        What was added to every cell. It moves the interval, whose centre is `distribution.mean`.
    n : int
        Number of test examples.
    distribution : BootstrapDistribution, ResampledDistribution or None
        The bootstrap distribution: `mean`, `std`, `cdf`, `quantile`, `sample`. None for normal and mid-P intervals.
    risks : tuple of CellRisk
        Errors that the data cannot judge, the most threatening first; empty when the data suffice.
    constant : str
        The cheapest of the k constant classifiers, which always predict one class, such as "always 'good'".
    constant_cost : float
        What it costs at the same class frequencies; where that is less than the estimate, the classifier is not worth
        using.

    Examples
    --------
    >>> import costcurves as cc
    >>> ci = cc.bcost.from_confusion([[90, 10], [4, 16]], [[0, 1], [5, 0]])
    >>> ci
    CostInterval: expected cost 0.25, 95 % in [0.116667, 0.466667] (n = 120, exact, laplace 0.625)
    """

    estimate: float
    lower: float
    upper: float
    level: float
    method: str
    laplace: float
    n: int
    distribution: Any
    risks: tuple[CellRisk, ...]
    constant: str
    constant_cost: float

    def _columns(self) -> dict[str, Any]:
        names = ("estimate", "lower", "upper", "level", "method", "laplace", "n", "constant", "constant_cost")
        return {name: [getattr(self, name)] for name in names}

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        about = f"n = {self.n}, {self.method}" + (f", laplace {self.laplace:.3g}" if self.method in METHODS else "")
        many = "error" if len(self.risks) == 1 else "errors"
        risks = f"; {len(self.risks)} rare, expensive {many} cannot be judged: see .risks" if self.risks else ""
        dear = self.constant_cost < self.estimate
        less = f"; {self.constant} costs less: {self.constant_cost:.6g}" if dear else ""
        return (
            f"CostInterval: expected cost {self.estimate:.6g}, {100 * self.level:g} % in "
            f"[{self.lower:.6g}, {self.upper:.6g}] ({about}){less}{risks}"
        )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDifference(Result):
    """The difference in expected cost of two classifiers, a minus b, on the same examples.

    Attributes
    ----------
    difference : float
        Mean cost of a minus mean cost of b; negative where a is cheaper.
    lower, upper : float
        The interval.
    p_value : float
        Twice the smaller of the bootstrap probabilities of a difference <= 0 and >= 0. It is at most 1 - level exactly
        where the interval leaves out zero, and never below `smallest_p`.
    level, method, laplace, n, distribution, constant, constant_cost
        As in `CostInterval`.
    names : tuple of str
        Names of a and b.
    costs : tuple of float
        Mean costs of a and b.
    risks : tuple of CellRisk
        Errors of the one that is shown to be cheaper that are too rare in the data to be judged and could make up for
        its advantage; counted where the costs of the two differ. The test is then not to be relied on:
        `bdeltacost.tilted_test` allows for such errors and has no risks.
    smallest_p : float
        The smallest p-value that can be computed; a `p_value` equal to it means "at most this".

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 50 + [1] * 50
    >>> a = [0] * 45 + [1] * 5 + [1] * 50
    >>> b = [0] * 45 + [1] * 5 + [1] * 35 + [0] * 15
    >>> cc.bdeltacost(y, a, b, [[0, 1], [5, 0]])
    CostDifference: a costs 0.75 less than b, 95 % in [-1.1, -0.4], p = 1.75e-07: a is cheaper (n = 100,
    exact)
    """

    difference: float
    lower: float
    upper: float
    p_value: float
    level: float
    method: str
    laplace: float
    n: int
    names: tuple[str, str]
    costs: tuple[float, float]
    distribution: Any
    risks: tuple[CellRisk, ...]
    smallest_p: float
    constant: str
    constant_cost: float

    @property
    def significant(self) -> bool:
        """Whether the interval leaves out zero: the paper's test of equal expected costs."""
        return self.lower > 0 or self.upper < 0

    @property
    def cheaper(self) -> str | None:
        """The name of the classifier that is significantly cheaper, or None when the data do not decide."""
        if not self.significant:
            return None
        return self.names[0] if self.upper < 0 else self.names[1]

    def reversed(self) -> CostDifference:
        """Return the same comparison as b minus a; the distribution is left out, which is that of a minus b."""
        return replace(
            self,
            difference=-self.difference,
            lower=-self.upper,
            upper=-self.lower,
            names=self.names[::-1],
            costs=self.costs[::-1],
            distribution=None,
        )

    def _columns(self) -> dict[str, Any]:
        names = ("difference", "lower", "upper", "p_value", "significant", "level", "method", "laplace", "n")
        more = ("constant", "constant_cost")
        return {"a": [self.names[0]], "b": [self.names[1]]} | {name: [getattr(self, name)] for name in (*names, *more)}

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        a, b = self.names
        how = f"{abs(self.difference):.6g} {'less' if self.difference <= 0 else 'more'} than"
        verdict = f"{self.cheaper} is cheaper" if self.cheaper else "not decided"
        many = "error" if len(self.risks) == 1 else "errors"
        risks = f"; {len(self.risks)} rare, expensive {many} cannot be judged: see .risks" if self.risks else ""
        less = f"; {self.constant} costs less than both" if self.constant_cost < min(self.costs) else ""
        return (
            f"CostDifference: {a} costs {how} {b}, {100 * self.level:g} % in "
            f"[{self.lower:.6g}, {self.upper:.6g}], {self._p_in_words()}: {verdict} "
            f"(n = {self.n}, {self.method}){less}{risks}"
        )

    def _p_in_words(self) -> str:
        """Return the p-value, or the smallest that can be computed where it is below that."""
        return f"p = {self.p_value:.3g}" if self.p_value > self.smallest_p else f"p < {self.smallest_p:.2g}"


@dataclass(frozen=True, slots=True)
class Options:
    """What the bootstrap procedures take, checked."""

    level: float
    laplace: float
    method: str
    n_resamples: int
    rng: np.random.Generator
    priors: FloatArray | None
    priors_size: float | None

    @classmethod
    def check(
        cls,
        labels: Labels,
        *,
        level: Any,
        laplace: Any,
        method: Any,
        n_resamples: Any,
        rng: Any,
        priors: Any,
        priors_size: Any,
    ) -> Options:
        """Return the options, checked against the labels of the cost matrix."""
        if priors is None and priors_size is not None:
            raise InputError("`priors_size` must come with `priors`, got no priors")
        level, method = check_level(level), check_choice("method", method, METHODS)
        size = check_integer("n_resamples", n_resamples, 1, MOST_POINTS)
        needed = math.ceil(2 / (1 - level) - 1e-6)
        if method == "resample" and size < needed:
            raise InputError(f"`n_resamples` must be at least {needed} to find limits at level {level:.6g}, got {size}")
        return cls(
            level,
            multiclass.default_laplace(len(labels)) if laplace is None else check_laplace(laplace),
            method,
            size,
            check_rng(rng),
            None if priors is None else check_priors("priors", priors, labels)[0],
            None if priors_size is None else check_positive("priors_size", priors_size),
        )

    def shares(self, class_counts: npt.NDArray[Any], labels: Labels) -> FloatArray:
        """Return the class weights: the deployment priors; a class without examples must have none."""
        assert self.priors is not None
        return _seen_shares(self.priors, class_counts, labels)

    def distribution(self, strata: list[Stratum], shares: FloatArray | None) -> Any:
        """Return the distribution of the statistic; uncertain priors weight strata built with weight one."""
        if self.priors_size is not None and shares is not None:
            used = shares[shares > 0]
            size = self.n_resamples if self.method == "resample" else _DIRICHLET_DRAWS
            draws = multiclass.dirichlet_draws(strata, self.priors_size * used, size, self.rng)
            return multiclass.ResampledDistribution.from_draws(draws)
        if self.method == "exact":
            return exact_distribution(strata)
        return multiclass.ResampledDistribution.from_draws(resample(strata, self.n_resamples, self.rng))

    @property
    def tail(self) -> float:
        """What may lie beyond each end of the interval."""
        return (1 - self.level) / 2

    def weights(self, shares: FloatArray) -> FloatArray:
        """Return the weights that strata carry: the priors, or one where the priors are drawn."""
        return shares if self.priors_size is None else (shares > 0).astype(np.float64)


def _normal_quantile(level: float) -> float:
    from scipy.special import ndtri

    return float(ndtri((1 + level) / 2))


class _BCost:
    """Return an interval for the expected cost of a classifier: BCost of the 2000 paper, exactly.

    Call it with predictions, `bcost(y_true, y_pred, C)`, or with counts, `bcost.from_confusion(counts, C)`.
    `bcost.z_interval` is the normal-theory baseline; `bcost.tilted_interval` holds where costly errors are rare.

    Parameters
    ----------
    y_true, y_pred : sequence of labels, shape (n,)
        True and predicted classes: arrays, lists or dataframe columns. A class of the cost matrix may be
        absent from the data; a label that the cost matrix does not have is an error.
    C : CostMatrix or table
        Rows true, columns predicted.
    level : float, default 0.95
    laplace : float, optional
        λ, added to each of the k² cells; with 0 an error that was not seen cannot happen. By default 2.5/k², which is
        the paper's 0.1 at its five classes: all cells together weigh 2.5 examples, however many classes there are.
    method : {"exact", "resample"}
        "exact": quantiles of the bootstrap distribution itself, the limit of infinitely many resamples.
        "resample": the paper's procedure, `n_resamples` multinomial draws and their order statistics (the
        26th and the 975th of 1000).
    priors : mapping of label to probability, or array-like of shape (k,), optional
        Class frequencies where the classifier will be used. The test set then counts as a sample stratified
        by true class; λ is added to the k cells of each class. By default the test set's frequencies count,
        and vary with it.
    priors_size : float, optional
        How many examples the priors are worth: they are then uncertain, Dirichlet(priors_size · priors), and
        the distribution is drawn (100,000 draws with method "exact"). By default they are certain.
    n_resamples : int, default 1000
    rng : numpy.random.Generator or seed, optional

    Returns
    -------
    CostInterval

    Warns
    -----
    SmallSampleWarning
        When an error that was seen less than 5 times could, at its upper confidence bound, add more to the
        expected cost than 1.5 times the half-width that the observed errors give the interval. The message
        names such errors and says how many examples would be needed. Also when λk² is more than 2.5 examples and
        moves the interval by more than half of its half-width.

    Notes
    -----
    The statistic is Σ M̃·C/n with M̃ multinomial: n draws from (M + λ)/(n + λk²) (Table 2 of the paper). Its
    distribution comes from the kernel, so the time does not depend on n.

    Examples
    --------
    >>> import costcurves as cc
    >>> C = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
    >>> y_true = ["good"] * 100 + ["bad"] * 20
    >>> y_pred = ["good"] * 90 + ["bad"] * 10 + ["good"] * 4 + ["bad"] * 16
    >>> ci = cc.bcost(y_true, y_pred, C)
    >>> ci.estimate, round(ci.lower, 4), round(ci.upper, 4)
    (0.25, 0.1167, 0.4667)
    >>> cc.bcost(y_true, y_pred, C, priors={"good": 0.9, "bad": 0.1})
    CostInterval: expected cost 0.19, 95 % in [0.104, 0.315] (n = 120, exact, laplace 0.625)
    """

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        C: Any,
        *,
        level: float = 0.95,
        laplace: float | None = None,
        method: str = "exact",
        priors: Any = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Any = None,
    ) -> CostInterval:
        """Return an interval for the expected cost from predictions."""
        C = as_cost_matrix(C)
        options = Options.check(
            C.labels,
            level=level,
            laplace=laplace,
            method=method,
            n_resamples=n_resamples,
            rng=rng,
            priors=priors,
            priors_size=priors_size,
        )
        return _bcost(_count(y_true, y_pred, C), C, options)

    def from_confusion(
        self,
        confusion: Any,
        C: Any,
        *,
        level: float = 0.95,
        laplace: float | None = None,
        method: str = "exact",
        priors: Any = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Any = None,
    ) -> CostInterval:
        """Return an interval for the expected cost from counts.

        Parameters
        ----------
        confusion : ConfusionMatrix, array-like of shape (k, k), or dataframe
            Counts, rows true and columns predicted. A labelled frame is matched by name. An array must be in the
            order of the cost matrix's labels; scikit-learn's `confusion_matrix` sorts them unless it gets
            ``labels=C.labels``.
        C, level, laplace, method, priors, priors_size, n_resamples, rng
            As in `bcost`.
        """
        C = as_cost_matrix(C)
        options = Options.check(
            C.labels,
            level=level,
            laplace=laplace,
            method=method,
            n_resamples=n_resamples,
            rng=rng,
            priors=priors,
            priors_size=priors_size,
        )
        return _bcost(counts_of(confusion, C), C, options)

    def z_interval(self, y_true: Any, y_pred: Any, C: Any, *, level: float = 0.95) -> CostInterval:
        """Return the normal-theory interval: mean ± z·s/√n of the examples' costs.

        Parameters
        ----------
        y_true, y_pred, C, level
            As in `bcost`.

        Notes
        -----
        The paper reports that its normal interval covered always; mean ± z·s/√n, given here, does not: it
        is too narrow where a rare, expensive error was not seen.
        """
        C = as_cost_matrix(C)
        return self.z_interval_from_confusion(_count(y_true, y_pred, C), C, level=level)

    def z_interval_from_confusion(self, confusion: Any, C: Any, *, level: float = 0.95) -> CostInterval:
        """Return the normal-theory interval from counts.

        Parameters
        ----------
        confusion, C, level
            As in `bcost.from_confusion`.
        """
        C, level = as_cost_matrix(C), check_level(level)
        counts = counts_of(confusion, C).counts
        n, mean, half = _z_half_width(C.values.ravel(), counts.ravel(), level)
        constant = cheapest_constant(C, counts.sum(axis=1) / n)
        return CostInterval(mean, mean - half, mean + half, level, "z", 0.0, n, None, (), *constant)

    def mid_p_interval(
        self, y_true: Any, y_pred: Any, C: Any, *, level: float = 0.95, priors: Any = None
    ) -> CostInterval:
        """Return an interval that holds its level where expensive errors are rare, and needs no λ.

        Parameters
        ----------
        y_true, y_pred, C, level, priors
            As in `bcost`.

        Notes
        -----
        Mid-P limits of the rate of each cost, combined (MOVER) like standard deviations: an error that was not seen
        adds what it may still cost. Errors of equal cost are one. With many different costs, each seen a few times,
        its lower limit is too high: `tilted_interval` holds there too.
        """
        C = as_cost_matrix(C)
        return self.mid_p_interval_from_confusion(_count(y_true, y_pred, C), C, level=level, priors=priors)

    def mid_p_interval_from_confusion(
        self, confusion: Any, C: Any, *, level: float = 0.95, priors: Any = None
    ) -> CostInterval:
        """Return the mid-P interval from counts.

        Parameters
        ----------
        confusion, C, level, priors
            As in `bcost.from_confusion`.
        """
        C, level = as_cost_matrix(C), check_level(level)
        counts = counts_of(confusion, C).counts
        cells, shares = _cost_cells(counts, C, priors)
        limits = cells_interval([(one.counts, one.values) for one in cells], _normal_quantile(level))
        mean, lower, upper = (float(x) for x in limits)
        constant = cheapest_constant(C, shares)
        return CostInterval(mean, lower, upper, level, "mid-p", 0.0, int(counts.sum()), None, (), *constant)

    def tilted_interval(
        self, y_true: Any, y_pred: Any, C: Any, *, level: float = 0.95, priors: Any = None
    ) -> CostInterval:
        """Return an interval that holds its level whatever the costs are and however rare the errors, without λ.

        Parameters
        ----------
        y_true, y_pred, C, level, priors
            As in `bcost`.

        Notes
        -----
        A cost is inside the interval unless the observed mean lies in the tails of the bootstrap from the most likely
        rates that have this cost; what is equal to the observed mean counts half (mid-P). Errors that were not seen
        may have a rate there too. This is Efron's (1981) nonparametric tilting with exact tails instead of resamples.
        For one kind of error it is the mid-P interval of its rate. With 100 and 500 examples it covered 93 to 99 % at
        nominal 95 % (300 data sets each): graded costs with 2 to 50 classes, uniform costs with up to 20. It takes
        about twenty exact distributions.

        Examples
        --------
        >>> import costcurves as cc
        >>> y, predicted = [0] * 100, [0] * 97 + [1] * 3
        >>> cc.bcost.tilted_interval(y, predicted, [[0, 1], [50, 0]])
        CostInterval: expected cost 0.03, 95 % in [0.00768659, 1.52445] (n = 100, tilted); always 0 costs less: 0
        """
        C = as_cost_matrix(C)
        return self.tilted_interval_from_confusion(_count(y_true, y_pred, C), C, level=level, priors=priors)

    def tilted_interval_from_confusion(
        self, confusion: Any, C: Any, *, level: float = 0.95, priors: Any = None
    ) -> CostInterval:
        """Return the tilted interval from counts.

        Parameters
        ----------
        confusion, C, level, priors
            As in `bcost.from_confusion`.
        """
        C, level = as_cost_matrix(C), check_level(level)
        counts = counts_of(confusion, C).counts
        cells, shares = _cost_cells(counts, C, priors)
        lower, upper = tilted_limits(cells, (1 - level) / 2)
        mean = float(sum(one.mean for one in cells))
        constant = cheapest_constant(C, shares)
        return CostInterval(mean, lower, upper, level, "tilted", 0.0, int(counts.sum()), None, (), *constant)

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        return "<costcurves.bcost: call it with (y_true, y_pred, C)>"


def _cost_cells(counts: npt.NDArray[Any], C: CostMatrix, priors: Any) -> tuple[list[TiltCells], FloatArray]:
    """Return the counts of each cost, in one stratum or in one for each class with a prior, and the class weights."""
    sizes = counts.sum(axis=1)
    if priors is None:
        return [TiltCells.pooled(counts, C.values)], sizes / sizes.sum()
    shares = _seen_shares(check_priors("priors", priors, C.labels)[0], sizes, C.labels)
    classes = np.flatnonzero(shares > 0)
    return [TiltCells.pooled(counts[t], shares[t] * C.values[t]) for t in classes], shares


def _seen_shares(priors: FloatArray, class_counts: npt.NDArray[Any], labels: Labels) -> FloatArray:
    """Return the class weights: the deployment priors; a class without examples must have none."""
    for t in np.flatnonzero((class_counts == 0) & (priors > 0)):
        raise DataError(f"`priors` must be 0 for a class without examples, got {priors[t]:g} for {shown(labels[t])}")
    return priors


def _z_half_width(values: FloatArray, counts: npt.NDArray[Any], level: float) -> tuple[int, float, float]:
    """Return n, the mean of the values and the half-width z·s/√n."""
    n = int(counts.sum())
    if n < 2:
        raise DataError(f"a standard deviation needs at least 2 examples, got {n}")
    mean = float(values @ counts) / n
    variance = float(((values - mean) ** 2) @ counts) / (n - 1)
    return n, mean, _normal_quantile(level) * math.sqrt(variance / n)


def _count(y_true: Any, y_pred: Any, C: CostMatrix) -> ConfusionMatrix:
    _, (true, predicted) = code_columns({"y_true": y_true, "y_pred": y_pred}, C.labels, OWNER)
    return ConfusionMatrix(C.labels, frozen(pair_counts(true, predicted, len(C.labels))))


def counts_of(confusion: Any, C: CostMatrix) -> ConfusionMatrix:
    """Return counts in the order of the cost matrix's labels; an array is taken to be in that order."""
    if isinstance(confusion, ConfusionMatrix):
        return confusion.aligned(C.labels, OWNER)
    return ConfusionMatrix.from_table(confusion, C.labels)


def joint_of(joint: Any, C: CostMatrix) -> JointConfusion:
    """Return joint counts in terms of the cost matrix's labels; an array is taken to be in that order."""
    if isinstance(joint, JointConfusion):
        return joint.aligned(C.labels, OWNER)
    return JointConfusion.from_table(joint, C.labels)


def _bcost(confusion: ConfusionMatrix, C: CostMatrix, options: Options) -> CostInterval:
    counts, costs = confusion.counts, C.values
    n = confusion.n
    if options.priors is None:
        strata, shares = multiclass.cost_strata(counts, costs, options.laplace), None
        rates = np.full(len(C.labels), 1.0 / n)
    else:
        sizes = counts.sum(axis=1)
        shares = options.shares(sizes, C.labels)
        strata = multiclass.cost_strata_by_class(counts, costs, options.laplace, options.weights(shares))
        rates = np.where(sizes > 0, shares / np.maximum(sizes, 1), 0.0)
    estimate = float((rates[:, None] * counts * costs).sum())
    distribution = options.distribution(strata, shares)
    lower, upper = multiclass.limits(distribution, options.tail, options.tail)
    risks = _risks(confusion, C, options, rates)
    if risks:
        _warn(risks, n)
    added = options.laplace * counts.size
    moved = abs(float(distribution.mean) - estimate) / max(0.5 * (upper - lower), 1e-300)
    if added > multiclass.ADDED * (1 + 1e-9) and moved > _MOVES:
        warnings.warn(
            f"`laplace` = {options.laplace:g} adds {added:g} examples to {n} and moves the interval by {moved:.2g} "
            f"half-widths; the default for {len(C.labels)} classes is {multiclass.default_laplace(len(C.labels)):.3g}",
            SmallSampleWarning,
            stacklevel=3,
        )
    constant = cheapest_constant(C, rates * counts.sum(axis=1))
    return CostInterval(
        estimate,
        lower,
        upper,
        options.level,
        options.method,
        options.laplace,
        n,
        distribution,
        risks,
        *constant,
    )


def _risks(confusion: ConfusionMatrix, C: CostMatrix, options: Options, rates: FloatArray) -> tuple[CellRisk, ...]:
    """Return the errors of one classifier whose unseen part could outweigh all that was seen: 1.5 half-widths."""
    counts, costs = confusion.counts, C.values
    if options.priors is None:
        plain = multiclass.cost_strata(counts, costs, 0.0)
    else:
        plain = multiclass.cost_strata_by_class(counts, costs, 0.0, options.priors)
    limit = _OUTWEIGHS * _normal_quantile(options.level) * multiclass.spread(plain)
    # The excess of an unseen cell falls as 1/n, the half-width as 1/√n.
    return _cell_risks(counts, costs, counts.sum(axis=1), C, options, rates, limit, 2)


def difference_risks(
    joint: JointConfusion, C: CostMatrix, options: Options, ends: tuple[float, float]
) -> tuple[CellRisk, ...]:
    """Return the errors of the one that is shown to be cheaper whose unseen part could make up for its advantage.

    Such an error costs what it costs more than the cheapest prediction for its class. It counts as seen where the costs
    of the two differ. It is a risk when cost times (upper bound of its rate - rate) exceeds the limit of the advantage,
    and 1.5 half-widths as in `_risks`.
    """
    if ends[0] <= 0 <= ends[1]:
        return ()
    own, least = (joint.a, -ends[1]) if ends[1] < 0 else (joint.b, ends[0])
    k = len(C.labels)
    differ = differences(joint, C) != 0
    seen = np.bincount((joint.true * k + own)[differ], weights=joint.counts[differ], minlength=k * k).reshape(k, k)
    sizes = np.bincount(joint.true, weights=joint.counts, minlength=k)
    shares = sizes / joint.n if options.priors is None else options.priors
    rates = np.where(sizes > 0, shares / np.maximum(sizes, 1), 0.0 if options.priors is not None else 1.0 / joint.n)
    more = C.values - C.values.min(axis=1, keepdims=True)
    plain, _ = difference_strata(joint, C, replace(options, laplace=0.0, priors_size=None))
    wide = _OUTWEIGHS * _normal_quantile(options.level) * multiclass.spread(plain)
    limit, growth = (least, 1) if least >= wide else (wide, 2)
    return _cell_risks(seen.astype(np.int64), more, sizes, C, options, rates, limit, growth)


def _cell_risks(
    counts: npt.NDArray[Any],
    costs: FloatArray,
    sizes: npt.NDArray[Any],
    C: CostMatrix,
    options: Options,
    rates: FloatArray,
    limit: float,
    growth: int,
) -> tuple[CellRisk, ...]:
    """Return the cells whose unseen part could cost more than a limit.

    A cell seen m < 5 times may have a rate of up to U(m)/n (Poisson upper bound; U(0) = 3.0 at 95 %), but
    no more than its class. It is a risk when cost times (bound - rate) exceeds the limit. With n times (excess/limit)
    to the power `growth` examples it would not.
    """
    n = int(sizes.sum())
    few = (counts < _FEW) & (costs > 0) & (rates[:, None] > 0)
    # Most tables have nothing to fear; the largest conceivable excess settles it without looking at cells.
    from scipy.special import gammaincinv

    upper = gammaincinv(np.arange(1, _FEW + 1), options.level)
    if not few.any() or float((rates * costs.max(axis=1)).max()) * float(upper[-1]) <= limit:
        return ()
    true, predicted = np.nonzero(few)
    seen = counts[true, predicted]
    if options.priors is None:
        most = gammaincinv(sizes + 1.0, options.level)
    else:
        most = sizes.astype(np.float64)
    excess = costs[true, predicted] * rates[true] * (np.minimum(upper[seen], most[true]) - seen)
    order = np.argsort(-excess, kind="stable")
    order = order[excess[order] > max(limit, 1e-12 * float(costs.max()))]

    def needed(amount: float) -> int | None:
        return math.ceil(n * (amount / limit) ** growth) if limit > 0 else None

    return tuple(
        CellRisk(
            C.labels[true[i]],
            C.labels[predicted[i]],
            float(C.values[true[i], predicted[i]]),
            int(seen[i]),
            float(excess[i]),
            needed(float(excess[i])),
        )
        for i in order
    )


def risks_in_words(risks: tuple[CellRisk, ...]) -> str:
    """Return the errors that the data cannot judge, the first few by name."""
    cells = "; ".join(
        f"true {shown(r.true)} predicted {shown(r.predicted)} (cost {r.cost:g}, seen {r.count} times)"
        for r in risks[:3]
    )
    return cells + (f" and {len(risks) - 3} more" if len(risks) > 3 else "")


def _warn(risks: tuple[CellRisk, ...], n: int) -> None:
    most = risks[0].needed
    enough = (
        f"about {most} examples would be needed"
        if most is not None
        else "no costly error was seen, so the interval rests on `laplace` alone"
    )
    warnings.warn(
        f"{n} examples cannot support the interval: {risks_in_words(risks)} could outweigh the errors that were seen; "
        f"{enough}",
        SmallSampleWarning,
        stacklevel=4,
    )


def warn_of_difference(risks: tuple[CellRisk, ...], n: int, stacklevel: int) -> None:
    """Warn that a test of a difference cannot be relied on."""
    warnings.warn(
        f"{n} examples cannot support the test: {risks_in_words(risks)} could make up for the advantage that was seen; "
        "bdeltacost.tilted_test allows for such errors",
        SmallSampleWarning,
        stacklevel=stacklevel,
    )


class _BDeltaCost:
    """Test the difference in expected cost of two classifiers: BDeltaCost of the 2000 paper, exactly.

    Call it with predictions, `bdeltacost(y_true, pred_a, pred_b, C)`, or with joint counts,
    `bdeltacost.from_joint(counts, C)`. `bdeltacost.z_test` is the normal-theory baseline, and
    `bdeltacost.tilted_test` holds its level where few examples differ or errors are rare and expensive.

    Parameters
    ----------
    y_true, pred_a, pred_b : sequence of labels, shape (n,)
        True classes and the predictions of a and b on the same examples.
    C : CostMatrix or table
        Rows true, columns predicted.
    level : float, default 0.95
    laplace : float, default 0.0
        λ, added to each of the k³ cells. The paper found that it should be 0 here.
    method, priors, priors_size, n_resamples, rng
        As in `bcost`.
    names : pair of str, default ("a", "b")

    Returns
    -------
    CostDifference

    Warns
    -----
    SmallSampleWarning
        When an error of the one that is shown to be cheaper, seen less than 5 times, could at its upper confidence
        bound make up for its advantage. The test can then be wrong much more often than its level says.

    Notes
    -----
    Each of n draws adds C[true, a] - C[true, b]; cells with equal differences are one, so only the distinct
    triples that occur are ever held. With λ > 0 the k³ cells enter by the histogram of their differences
    (on a lattice of 3e-5 of the range of costs when there are more than four million).

    Like every percentile bootstrap the test is optimistic when only a handful of examples have different
    costs: with 5 discordant examples that all favour one classifier p is about 2·exp(-5) = 0.013, and the
    sign test says 0.06.

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 50 + [1] * 50
    >>> a = [0] * 45 + [1] * 5 + [1] * 50
    >>> b = [0] * 45 + [1] * 5 + [1] * 35 + [0] * 15
    >>> cmp = cc.bdeltacost(y, a, b, [[0, 1], [5, 0]])
    >>> cmp.difference, cmp.significant, cmp.cheaper
    (-0.75, True, 'a')
    """

    def __call__(
        self,
        y_true: Any,
        pred_a: Any,
        pred_b: Any,
        C: Any,
        *,
        level: float = 0.95,
        laplace: float = 0.0,
        method: str = "exact",
        priors: Any = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Any = None,
        names: tuple[str, str] = ("a", "b"),
    ) -> CostDifference:
        """Return the difference in expected cost from predictions."""
        C = as_cost_matrix(C)
        options = Options.check(
            C.labels,
            level=level,
            laplace=laplace,
            method=method,
            n_resamples=n_resamples,
            rng=rng,
            priors=priors,
            priors_size=priors_size,
        )
        return _warned(bdeltacost_of_joint(_count_joint(y_true, pred_a, pred_b, C), C, options, names))

    def from_joint(
        self,
        joint: Any,
        C: Any,
        *,
        level: float = 0.95,
        laplace: float = 0.0,
        method: str = "exact",
        priors: Any = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Any = None,
        names: tuple[str, str] = ("a", "b"),
    ) -> CostDifference:
        """Return the difference in expected cost from joint counts.

        Parameters
        ----------
        joint : JointConfusion, or array-like of shape (k, k, k)
            Counts [true, prediction of a, prediction of b], in the order of the cost matrix's labels.
        C, level, laplace, method, priors, priors_size, n_resamples, rng, names
            As in `bdeltacost`.
        """
        C = as_cost_matrix(C)
        options = Options.check(
            C.labels,
            level=level,
            laplace=laplace,
            method=method,
            n_resamples=n_resamples,
            rng=rng,
            priors=priors,
            priors_size=priors_size,
        )
        return _warned(bdeltacost_of_joint(joint_of(joint, C), C, options, names))

    def z_test(
        self,
        y_true: Any,
        pred_a: Any,
        pred_b: Any,
        C: Any,
        *,
        level: float = 0.95,
        names: tuple[str, str] = ("a", "b"),
    ) -> CostDifference:
        """Return the normal-theory interval and test of the paired differences.

        Parameters
        ----------
        y_true, pred_a, pred_b, C, level, names
            As in `bdeltacost`.
        """
        C = as_cost_matrix(C)
        return self.z_test_from_joint(_count_joint(y_true, pred_a, pred_b, C), C, level=level, names=names)

    def z_test_from_joint(
        self, joint: Any, C: Any, *, level: float = 0.95, names: tuple[str, str] = ("a", "b")
    ) -> CostDifference:
        """Return the normal-theory interval and test from joint counts.

        Parameters
        ----------
        joint, C, level, names
            As in `bdeltacost.from_joint`.
        """
        from scipy.special import ndtr

        C, level = as_cost_matrix(C), check_level(level)
        table = joint_of(joint, C)
        _, mean, half = _z_half_width(differences(table, C), table.counts, level)
        if half > 0:
            p = 2 * float(ndtr(-abs(mean) / half * _normal_quantile(level)))
        else:
            p = 1.0 if mean == 0 else 0.0
        return _difference(table, C, mean, (mean - half, mean + half), p, _SMALLEST_P, level, "z", names)

    def tilted_test(
        self,
        y_true: Any,
        pred_a: Any,
        pred_b: Any,
        C: Any,
        *,
        level: float = 0.95,
        priors: Any = None,
        names: tuple[str, str] = ("a", "b"),
    ) -> CostDifference:
        """Return the test that holds its level where errors are rare and expensive, or few examples differ.

        Parameters
        ----------
        y_true, pred_a, pred_b, C, level, priors, names
            As in `bdeltacost`.

        Notes
        -----
        The interval of `bcost.tilted_interval` for the differences in cost; the largest difference that the cost
        matrix allows may have a rate in either direction, seen or not. Let one classifier make an error of rate 0.1
        and the other a rare one that costs 50, 100 or 200 times as much at a rate of 0.002, 0.001 or 0.0005, so that
        both cost the same: of data sets of 1,000 examples `bdeltacost` calls them different in 14, 39 and 60 %, and
        this test in less than 1 %.

        Examples
        --------
        >>> import costcurves as cc
        >>> y, a, b = [0] * 1000, [0] * 1000, [0] * 990 + [1] * 10
        >>> cc.bdeltacost.tilted_test(y, a, b, [[0, 1], [50, 0]]).cheaper is None
        True
        >>> cc.bdeltacost.tilted_test(y, a, b, [[0, 1], [1, 0]]).cheaper
        'a'
        """
        C = as_cost_matrix(C)
        joint = _count_joint(y_true, pred_a, pred_b, C)
        return self.tilted_test_from_joint(joint, C, level=level, priors=priors, names=names)

    def tilted_test_from_joint(
        self,
        joint: Any,
        C: Any,
        *,
        level: float = 0.95,
        priors: Any = None,
        names: tuple[str, str] = ("a", "b"),
    ) -> CostDifference:
        """Return the tilted test from joint counts.

        Parameters
        ----------
        joint, C, level, priors, names
            As in `bdeltacost.from_joint`.
        """
        C, level = as_cost_matrix(C), check_level(level)
        table = joint_of(joint, C)
        cells, shares = _difference_cells(table, C, priors)
        ends = tilted_limits(cells, (1 - level) / 2)
        p = min(1.0, 2 * min(tilted_tails_at(cells, 0.0)))
        mean = float(sum(one.mean for one in cells))
        return _difference(table, C, mean, ends, p, _SMALLEST_TILTED, level, "tilted", names, shares=shares)

    def mid_p_test_from_joint(
        self, joint: Any, C: Any, *, level: float = 0.95, names: tuple[str, str] = ("a", "b")
    ) -> CostDifference:
        """Return the test that holds its level where few examples differ, from joint counts.

        Parameters
        ----------
        joint, C, level, names
            As in `bdeltacost.from_joint`.

        Notes
        -----
        Mid-P limits of the rate of each difference in cost, combined as in `bcost.mid_p_interval`. The p-value is the
        level at which the interval just reaches zero.
        """
        from scipy.special import ndtr

        C, level = as_cost_matrix(C), check_level(level)
        table = joint_of(joint, C)
        k = len(C.labels)
        counts = np.zeros((k, k, k), dtype=np.int64)
        counts[table.true, table.a, table.b] = table.counts
        cells = TiltCells.pooled(counts, C.values[:, :, None] - C.values[:, None, :])
        strata = [(cells.counts, cells.values)]
        mean, lower, upper = (float(x) for x in cells_interval(strata, _normal_quantile(level)))
        p = _level_that_reaches_zero(strata)
        return _difference(table, C, mean, (lower, upper), p, 2 * float(ndtr(-_FARTHEST)), level, "mid-p", names)

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        return "<costcurves.bdeltacost: call it with (y_true, pred_a, pred_b, C)>"


def _warned(found: CostDifference) -> CostDifference:
    if found.risks:
        warn_of_difference(found.risks, found.n, stacklevel=4)
    return found


def _difference_cells(joint: JointConfusion, C: CostMatrix, priors: Any) -> tuple[list[TiltCells], FloatArray | None]:
    """Return the counts of each difference in cost, with the largest that may occur in either direction."""
    values = differences(joint, C)
    ranges = np.ptp(C.values, axis=1)

    def cells(own: npt.NDArray[Any], weight: float, most: float) -> TiltCells:
        counts = np.append(joint.counts[own], [0, 0])
        return TiltCells.pooled(counts, weight * np.append(values[own], [-most, most]))

    if priors is None:
        return [cells(np.ones(values.size, dtype=bool), 1.0, float(ranges.max()))], None
    sizes = np.bincount(joint.true, weights=joint.counts, minlength=len(C.labels))
    shares = _seen_shares(check_priors("priors", priors, C.labels)[0], sizes, C.labels)
    classes = np.flatnonzero(shares > 0)
    return [cells(joint.true == t, float(shares[t]), float(ranges[t])) for t in classes], shares


def _level_that_reaches_zero(strata: list[tuple[npt.NDArray[Any], FloatArray]]) -> float:
    """Return the p-value of no difference: one minus the level of the mid-P interval that ends at zero."""
    from scipy.special import ndtr

    near, far = 0.0, _FARTHEST
    for _ in range(40):
        z = 0.5 * (near + far)
        _, lower, upper = cells_interval(strata, z)
        near, far = (near, z) if lower <= 0 <= upper else (z, far)
    return float(2 * ndtr(-far))


def _count_joint(y_true: Any, pred_a: Any, pred_b: Any, C: CostMatrix) -> JointConfusion:
    columns = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    _, (true, a, b) = code_columns(columns, C.labels, OWNER)
    return JointConfusion._from_codes(C.labels, true, a, b)


def differences(joint: JointConfusion, C: CostMatrix) -> FloatArray:
    """Return what a costs more than b in each distinct triple."""
    return np.asarray(C.values[joint.true, joint.a] - C.values[joint.true, joint.b], dtype=np.float64)


def difference_distribution(joint: JointConfusion, C: CostMatrix, options: Options) -> tuple[float, Any, float]:
    """Return the mean difference, its bootstrap distribution, and up to which size a difference counts as zero."""
    values = differences(joint, C)
    n = joint.n
    strata, shares = difference_strata(joint, C, options)
    if shares is None:
        difference = float(values @ joint.counts) / n
    else:
        sizes = np.bincount(joint.true, weights=joint.counts, minlength=len(C.labels))
        rates = shares / np.maximum(sizes, 1)
        difference = float((rates[joint.true] * values) @ joint.counts)
    distribution = options.distribution(strata, shares)
    # Gains and losses that cancel leave rounding errors, which must not decide on which side of zero an end is.
    zero = max(1e-12 * float(np.abs(values).max(initial=0.0)), 1e-9 * float(distribution.std))
    return difference, distribution, zero


def difference_strata(
    joint: JointConfusion, C: CostMatrix, options: Options
) -> tuple[list[Stratum], FloatArray | None]:
    """Return what the bootstrap of a difference draws from, and the class weights where priors are given."""
    values = differences(joint, C)
    if options.priors is None:
        return multiclass.difference_strata(values, joint.counts, joint.n, C.values, options.laplace), None
    sizes = np.bincount(joint.true, weights=joint.counts, minlength=len(C.labels))
    shares = options.shares(sizes, C.labels)
    strata = multiclass.difference_strata_by_class(
        joint.true, values, joint.counts, C.values, options.laplace, options.weights(shares)
    )
    return strata, shares


def bdeltacost_of_joint(joint: JointConfusion, C: CostMatrix, options: Options, names: Any) -> CostDifference:
    """Return the difference in expected cost of two classifiers from their joint counts."""
    difference, distribution, zero = difference_distribution(joint, C, options)
    ends = multiclass.limits(distribution, options.tail, options.tail, zero)
    p = min(1.0, 2 * min(multiclass.tails(distribution, zero)))
    return _difference(
        joint,
        C,
        difference,
        ends,
        p,
        multiclass.smallest_p(distribution),
        options.level,
        options.method,
        names,
        options,
        distribution,
    )


def p_beside(ends: tuple[float, float], p: float, smallest: float, alpha: float) -> float:
    """Return a p-value that says what its interval says: at most alpha exactly where zero lies outside.

    Both come from one distribution, so that only rounding is put right here, and p-values that are too small to be
    computed.
    """
    p = max(p, smallest)
    outside = ends[0] > 0 or ends[1] < 0
    return min(p, alpha) if outside else max(p, math.nextafter(alpha, 1.0))


def _difference(
    joint: JointConfusion,
    C: CostMatrix,
    difference: float,
    ends: tuple[float, float],
    p: float,
    smallest: float,
    level: float,
    method: str,
    names: Any,
    options: Options | None = None,
    distribution: Any = None,
    shares: FloatArray | None = None,
) -> CostDifference:
    sizes = np.bincount(joint.true, weights=joint.counts, minlength=len(C.labels))
    if shares is None:
        shares = sizes / joint.n if options is None or options.priors is None else options.priors
    rates = (shares / np.maximum(sizes, 1))[joint.true] * joint.counts
    costs = (float(C.values[joint.true, joint.a] @ rates), float(C.values[joint.true, joint.b] @ rates))
    return CostDifference(
        difference,
        *ends,
        p_beside(ends, p, smallest, 1 - level),
        level,
        method,
        0.0 if options is None else options.laplace,
        joint.n,
        check_two_names(names),
        costs,
        distribution,
        () if options is None else difference_risks(joint, C, options, ends),
        smallest,
        *cheapest_constant(C, shares),
    )


bcost = _BCost()
bdeltacost = _BDeltaCost()
