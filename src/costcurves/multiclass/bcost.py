"""BCost for k classes: what a classifier costs, and how sure that is.

The question is that of Margineantu and Dietterich (2000). Rows of every matrix are true classes and columns are
predicted classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import SmallSampleWarning
from costcurves._base.frames import TableLike
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import DEFAULT_LEVEL, Column, Rng
from costcurves.conditions.cost_matrix import CostMatrix, CostsLike, PriorsLike, as_cost_matrix, cheapest_constant
from costcurves.counting.confusion import ConfusionMatrix
from costcurves.inference.cost_cells import ADDED, cost_cells, default_laplace, mean_of_cells
from costcurves.inference.cost_methods import COST_METHODS, DEFAULT_METHOD, CostMethodName
from costcurves.multiclass.options import Options, count, counts_of
from costcurves.multiclass.risks import Risks, cost_risks, how_many, interval_warning
from costcurves.multiclass.training_sets import TrainingSpread, over_training
from costcurves.multiclass.uncertain_costs import CostSpread, spread_over

# A Laplace correction may move an interval by this many half-widths before a warning says so.
_MOVES = 0.5


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
    method : {"tilted", "exact", "resample", "mid-p", "gaussian"}
    laplace : float
        What the bootstrap methods added to every cell. It moves the interval, whose centre is `distribution.mean`.
    n : int
        Number of test examples.
    distribution : BootstrapDistribution, ResampledDistribution or None
        The bootstrap distribution: `mean`, `std`, `cdf`, `quantile`, `sample`. None for methods without a bootstrap.
    risks : tuple of CellRisk
        Errors that are expensive and too rare in the data to be judged, the most threatening first; empty when the data
        suffice. The limits of "tilted" and "mid-p" allow for them, those of the other methods do not.
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
    CostInterval: expected cost 0.25, 95 % in [0.127103, 0.472477] (n = 120, tilted)
    """

    estimate: float
    lower: float
    upper: float
    level: float
    method: str
    laplace: float
    n: int
    distribution: Any
    risks: Risks
    constant: str
    constant_cost: float

    _column_names = ("estimate", "lower", "upper", "level", "method", "laplace", "n", "constant", "constant_cost")

    def __repr__(self) -> str:
        method = COST_METHODS[self.method]
        about = f"n = {self.n}, {self.method}" + (f", laplace {self.laplace:.3g}" if method.bootstrap else "")
        effect = "widen the interval" if method.allows_unseen else "cannot be judged"
        risks = f"; {how_many(self.risks)} {effect}: see .risks" if self.risks else ""
        dear = self.constant_cost < self.estimate
        less = f"; {self.constant} costs less: {self.constant_cost:.6g}" if dear else ""
        return (
            f"CostInterval: expected cost {self.estimate:.6g}, {level_text(self.level)} in "
            f"[{self.lower:.6g}, {self.upper:.6g}] ({about}){less}{risks}"
        )


class _BCost:
    """Return an interval for the expected cost of a classifier: BCost of the 2000 paper, with limits that hold.

    Call it with predictions, `bcost(y_true, y_pred, costs)`, or with counts, `bcost.from_confusion(counts, costs)`.

    Parameters
    ----------
    y_true, y_pred : sequence of labels, shape (n,)
        True and predicted classes: arrays, lists or dataframe columns. A class of the cost matrix may be
        absent from the data; a label that the cost matrix does not have is an error.
    costs : CostMatrix or table
        Rows true, columns predicted.
    level : float, default 0.95
    method : {"tilted", "exact", "resample", "mid-p", "gaussian"}
        How the limits are found:

        - "tilted", the default: a cost is inside the interval unless the observed mean lies in the tails of the
          bootstrap from the most likely rates that have this cost. Errors that were not seen may have a rate there. It
          needs no λ, and holds its level with few examples, rare expensive errors and many different costs.
        - "exact": the paper's BCost. Quantiles of its bootstrap distribution, the limit of infinitely many resamples.
        - "resample": the paper's procedure, `n_resamples` multinomial draws and their order statistics (the
          26th and the 975th of 1000).
        - "mid-p": mid-P limits of the rate of each cost, combined (MOVER) like standard deviations. Errors of equal
          cost are one. It is the quickest that allows for errors that were not seen, and meant for few different costs.
        - "gaussian": the normal-theory baseline, mean ± z·s/√n of the examples' costs.
    laplace : float, optional
        λ of "exact" and "resample", added to each of the k² cells; with 0 an error that was not seen cannot happen.
        By default 2.5/k², which is the paper's 0.1 at its five classes: all cells together weigh 2.5 examples, however
        many classes there are.
    priors : mapping of label to probability, or array-like of shape (k,), optional
        Class frequencies where the classifier will be used. The test set then counts as a sample stratified
        by true class; λ is added to the k cells of each class. By default the test set's frequencies count,
        and vary with it.
    priors_size : float, optional
        How many examples the priors are worth, for "exact" and "resample": they are then uncertain,
        Dirichlet(priors_size · priors), and the distribution is drawn (100,000 draws with "exact"). By default they are
        certain.
    n_resamples : int, default 1000
    rng : numpy.random.Generator, int or None, default 0
        A generator, or the seed of one. By default the answer is the same each time; None draws fresh numbers.

    Returns
    -------
    CostInterval

    Warns
    -----
    SmallSampleWarning
        For methods that do not allow for errors that were not seen ("exact", "resample" and "gaussian"), when an error
        that was seen less than 5 times could, at its upper confidence bound, add more to the expected cost than 1.5
        times the half-width that the observed errors give the interval. The message names such errors and says how
        many examples would be needed. Also when λk² is more than 2.5 examples and moves the interval by more than half
        of its half-width, and for "mid-p" when the costly examples have many different costs, each seen once or
        twice.

    Notes
    -----
    The statistic is Σ M̃·C/n with M̃ multinomial. The paper draws n examples from (M + λ)/(n + λk²) (its Table 2). Here
    the distribution comes from the kernel, so that the time does not depend on n. "tilted" is Efron's (1981)
    nonparametric tilting with exact tails instead of resamples, in which what is equal to the observed mean counts half
    (mid-P); for one kind of error it is the mid-P interval of its rate. How often the methods hold is measured in
    the documentation (Explanation, k classes).

    Examples
    --------
    >>> import costcurves as cc
    >>> costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
    >>> y_true = ["good"] * 100 + ["bad"] * 20
    >>> y_pred = ["good"] * 90 + ["bad"] * 10 + ["good"] * 4 + ["bad"] * 16
    >>> ci = cc.bcost(y_true, y_pred, costs)
    >>> ci.estimate, round(ci.lower, 4), round(ci.upper, 4)
    (0.25, 0.1271, 0.4725)
    >>> cc.bcost(y_true, y_pred, costs, priors={"good": 0.9, "bad": 0.1}, method="exact")
    CostInterval: expected cost 0.19, 95 % in [0.104, 0.315] (n = 120, exact, laplace 0.625)
    """

    def __call__(
        self,
        y_true: Column,
        y_pred: Column,
        costs: CostsLike,
        *,
        level: float = DEFAULT_LEVEL,
        method: CostMethodName = DEFAULT_METHOD,
        laplace: float | None = None,
        priors: PriorsLike | None = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Rng = 0,
    ) -> CostInterval:
        """Return an interval for the expected cost from predictions."""
        matrix = as_cost_matrix(costs)
        options = _options(matrix, level, method, laplace, priors, priors_size, n_resamples, rng)
        return _bcost(count(y_true, y_pred, matrix), matrix, options)

    def from_confusion(
        self,
        confusion: ConfusionMatrix | TableLike,
        costs: CostsLike,
        *,
        level: float = DEFAULT_LEVEL,
        method: CostMethodName = DEFAULT_METHOD,
        laplace: float | None = None,
        priors: PriorsLike | None = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Rng = 0,
    ) -> CostInterval:
        """Return an interval for the expected cost from counts.

        Parameters
        ----------
        confusion : ConfusionMatrix, array-like of shape (k, k), or dataframe
            Counts, rows true and columns predicted. A labelled frame is matched by name. An array must be in the
            order of the cost matrix's labels; scikit-learn's `confusion_matrix` sorts them unless it gets
            ``labels=costs.labels``.
        costs, level, method, laplace, priors, priors_size, n_resamples, rng
            As in `bcost`.
        """
        matrix = as_cost_matrix(costs)
        options = _options(matrix, level, method, laplace, priors, priors_size, n_resamples, rng)
        return _bcost(counts_of(confusion, matrix), matrix, options)

    def over_costs(
        self,
        confusion: ConfusionMatrix | TableLike,
        costs: Sequence[CostsLike],
        *,
        weights: npt.ArrayLike | None = None,
        **options: Any,
    ) -> CostSpread:
        """Return intervals for the expected cost at each of several cost matrices, if the costs are not known exactly.

        Parameters
        ----------
        confusion : ConfusionMatrix, array-like of shape (k, k), or dataframe
            As for `bcost.from_confusion`.
        costs : sequence of CostMatrix or tables
            Matrices that may be the true one: the two ends of a range, whose limits hold for all matrices between them,
            or draws from a distribution, such as ``low.draws(high, 100)``.
        weights : array-like, optional
            How likely each matrix is; equally by default.
        **options
            As for `bcost.from_confusion`.
        """
        return spread_over(costs, lambda one: self.from_confusion(confusion, one, **options), weights, None)

    def over_training(
        self,
        y_true: Column,
        predictions: Sequence[Column],
        costs: CostsLike,
        *,
        level: float = DEFAULT_LEVEL,
        method: CostMethodName = DEFAULT_METHOD,
    ) -> TrainingSpread:
        """Return an interval for the expected cost of a learning algorithm, over training sets of this size.

        `bcost` is about one classifier; trained again on other data, it would be another one with another cost.

        Parameters
        ----------
        y_true : sequence of labels, shape (n,)
            True classes of the test examples.
        predictions : sequence of sequences of labels
            The predictions for these examples after training on each of several training sets, which must be
            independent of each other and of the test set. Training sets that overlap, as those of cross-validation do,
            vary less than new ones, and the limits are then too narrow.
        costs, level, method
            As for `bcost`.
        """
        matrix = as_cost_matrix(costs)
        return over_training(y_true, [predictions], matrix, _options(matrix, level, method))

    def __repr__(self) -> str:
        return "<costcurves.bcost: call it with (y_true, y_pred, costs)>"


def _options(costs: CostMatrix, *asked: Any) -> Options:
    """Return the options, checked; by default all cells together get the λ of the paper's five classes."""
    return Options.check(costs.labels, *asked, default_laplace=default_laplace(len(costs.labels)))


def _bcost(confusion: ConfusionMatrix, costs: CostMatrix, options: Options) -> CostInterval:
    counts, n, added = confusion.counts, confusion.n, options.resampling.laplace
    sizes = counts.sum(axis=1)
    shares = options.shares(sizes, costs.labels)
    cells = cost_cells(counts, costs.values, options.priors)
    law = options.law(cells)
    estimate = mean_of_cells(cells)
    lower, upper = law.limits(options.tail, options.tail)
    # Without priors a class that was not seen may still occur, and one example of it would count for 1/n.
    rates = np.full(sizes.size, 1.0 / n) if options.priors is None else shares / np.maximum(sizes, 1)
    risks = cost_risks(counts, costs, options.level, options.priors, rates)
    if risks and not options.method.allows_unseen:
        warnings.warn(interval_warning(risks, n), SmallSampleWarning, stacklevel=3)
    if law.doubt is not None:
        warnings.warn(f"{law.doubt}: limits of {options.name!r} are too narrow", SmallSampleWarning, stacklevel=3)
    if added * counts.size > ADDED * (1 + 1e-9):
        moved = abs(float(law.distribution.mean) - estimate) / max(0.5 * (upper - lower), 1e-300)
        if moved > _MOVES:
            warnings.warn(
                f"`laplace` = {added:g} adds {added * counts.size:g} examples to {n} and moves the interval by "
                f"{moved:.2g} half-widths; the default for {sizes.size} classes is {default_laplace(sizes.size):.3g}",
                SmallSampleWarning,
                stacklevel=3,
            )
    return CostInterval(
        estimate,
        lower,
        upper,
        options.level,
        options.name,
        added,
        n,
        law.distribution,
        risks,
        *cheapest_constant(costs, shares),
    )


bcost = _BCost()
