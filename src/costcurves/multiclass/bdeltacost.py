"""BDeltaCost for k classes: which of two classifiers is cheaper, and how sure that is.

The question is that of Margineantu and Dietterich (2000). Rows of every matrix are true classes and columns are
predicted classes.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import SmallSampleWarning
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import DEFAULT_LEVEL, Column, FloatArray, Rng, check_two_names
from costcurves.conditions.cost_matrix import CostMatrix, CostsLike, PriorsLike, as_cost_matrix, cheapest_constant
from costcurves.counting.confusion import JointConfusion
from costcurves.inference.bands.results import p_beside
from costcurves.inference.cost_cells import CostCells, difference_cells, mean_of_cells
from costcurves.inference.cost_methods import DEFAULT_METHOD, CostMethodName
from costcurves.multiclass.options import Options, count_joint, joint_of
from costcurves.multiclass.risks import Risks, difference_risks, difference_warning, how_many
from costcurves.multiclass.training_sets import TrainingSpread, over_training
from costcurves.multiclass.uncertain_costs import CostSpread, spread_over


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CostDifference(Result):
    """The difference in expected cost of two classifiers, a minus b, on the same examples.

    Attributes
    ----------
    estimate : float
        Mean cost of a minus mean cost of b; negative where a is cheaper.
    lower, upper : float
        The interval.
    p_value : float
        Twice the smaller of the one-sided p-values of a difference <= 0 and >= 0. It is at most 1 - level exactly
        where the interval leaves out zero, and never below `smallest_p`.
    level, method, laplace, n, distribution, constant, constant_cost
        As in `CostInterval`.
    names : tuple of str
        Names of a and b.
    costs : tuple of float
        Mean costs of a and b.
    risks : tuple of CellRisk
        For methods that do not allow for errors that were not seen ("exact", "resample" and "gaussian"): errors of the
        one that is shown to be cheaper that are too rare in the data to be judged and could make up for its advantage,
        counted where the costs of the two differ. The test is then not to be relied on.
    smallest_p : float
        The smallest p-value that can be computed; a `p_value` equal to it means "at most this".

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 50 + [1] * 50
    >>> a = [0] * 45 + [1] * 5 + [1] * 50
    >>> b = [0] * 45 + [1] * 5 + [1] * 35 + [0] * 15
    >>> cc.bdeltacost(y, a, b, [[0, 1], [5, 0]])
    CostDifference: a costs 0.75 less than b, 95 % in [-1.15124, -0.4489], p = 0.000149: a is cheaper (n = 100,
    tilted)
    """

    estimate: float
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
    risks: Risks
    smallest_p: float
    constant: str
    constant_cost: float

    _column_names = (
        "estimate",
        "lower",
        "upper",
        "p_value",
        "level",
        "method",
        "laplace",
        "n",
        "constant",
        "constant_cost",
    )

    def significant(self) -> bool:
        """Say whether the interval leaves out zero: the paper's test of equal expected costs."""
        return self.lower > 0 or self.upper < 0

    @property
    def cheaper(self) -> str | None:
        """The name of the classifier that is significantly cheaper, or None when the data do not decide."""
        if not self.significant():
            return None
        return self.names[0] if self.upper < 0 else self.names[1]

    def reversed(self) -> CostDifference:
        """Return the same comparison as b minus a; the distribution is left out, which is that of a minus b."""
        return replace(
            self,
            estimate=-self.estimate,
            lower=-self.upper,
            upper=-self.lower,
            names=self.names[::-1],
            costs=self.costs[::-1],
            distribution=None,
        )

    def _columns(self) -> dict[str, Any]:
        said = {"a": [self.names[0]], "b": [self.names[1]], "significant": [self.significant()]}
        return said | Result._columns(self)

    def __repr__(self) -> str:
        a, b = self.names
        how = f"{abs(self.estimate):.6g} {'less' if self.estimate <= 0 else 'more'} than"
        verdict = f"{self.cheaper} is cheaper" if self.cheaper else "not decided"
        risks = f"; {how_many(self.risks)} cannot be judged: see .risks" if self.risks else ""
        less = f"; {self.constant} costs less than both" if self.constant_cost < min(self.costs) else ""
        return (
            f"CostDifference: {a} costs {how} {b}, {level_text(self.level)} in "
            f"[{self.lower:.6g}, {self.upper:.6g}], {self._p_in_words()}: {verdict} "
            f"(n = {self.n}, {self.method}){less}{risks}"
        )

    def _p_in_words(self) -> str:
        """Return the p-value, or the smallest that can be computed where it is below that."""
        return f"p = {self.p_value:.3g}" if self.p_value > self.smallest_p else f"p < {self.smallest_p:.2g}"


class _BDeltaCost:
    """Test the difference in expected cost of two classifiers: BDeltaCost of the 2000 paper, with a level that holds.

    Call it with predictions, `bdeltacost(y_true, pred_a, pred_b, costs)`, or with joint counts,
    `bdeltacost.from_joint(counts, costs)`.

    Parameters
    ----------
    y_true, pred_a, pred_b : sequence of labels, shape (n,)
        True classes and the predictions of a and b on the same examples.
    costs : CostMatrix or table
        Rows true, columns predicted.
    level : float, default 0.95
    method : {"tilted", "exact", "resample", "mid-p", "gaussian"}
        As in `bcost`. With "tilted", the default, the largest difference that the cost matrix allows may have a rate in
        either direction, seen or not. "exact" and "resample" are the paper's BDeltaCost.
    laplace : float, optional
        λ of "exact" and "resample", added to each of the k³ cells. By default 0, as the paper recommends here.
    priors, priors_size, n_resamples, rng
        As in `bcost`.
    names : pair of str, default ("a", "b")

    Returns
    -------
    CostDifference

    Warns
    -----
    SmallSampleWarning
        For "exact", "resample" and "gaussian", when an error of the one that is shown to be cheaper, seen less than 5
        times, could at its upper confidence bound make up for its advantage. The test can then be wrong much more often
        than its level says.

    Notes
    -----
    Each of n draws adds costs[true, a] - costs[true, b]; cells with equal differences are one, so only the distinct
    triples that occur are ever held. With λ > 0 the k³ cells enter by the histogram of their differences
    (on a lattice of 3e-5 of the range of costs when there are more than four million).

    Let one classifier make an error of rate 0.1 and the other a rare one that costs 50, 100 or 200 times as much at a
    rate of 0.002, 0.001 or 0.0005, so that both cost the same: of data sets of 1,000 examples "exact" calls them
    different in 14, 39 and 60 %, and "tilted" in less than 1 %. The percentile bootstrap is also optimistic when only a
    handful of examples have different costs: with 5 discordant examples that all favour one classifier its p-value is
    about 2·exp(-5) = 0.013, and the sign test says 0.06.

    Examples
    --------
    >>> import costcurves as cc
    >>> y = [0] * 50 + [1] * 50
    >>> a = [0] * 45 + [1] * 5 + [1] * 50
    >>> b = [0] * 45 + [1] * 5 + [1] * 35 + [0] * 15
    >>> cmp = cc.bdeltacost(y, a, b, [[0, 1], [5, 0]])
    >>> cmp.estimate, cmp.significant(), cmp.cheaper
    (-0.75, True, 'a')
    """

    def __call__(
        self,
        y_true: Column,
        pred_a: Column,
        pred_b: Column,
        costs: CostsLike,
        *,
        level: float = DEFAULT_LEVEL,
        method: CostMethodName = DEFAULT_METHOD,
        laplace: float | None = None,
        priors: PriorsLike | None = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Rng = 0,
        names: tuple[str, str] = ("a", "b"),
    ) -> CostDifference:
        """Return the difference in expected cost from predictions."""
        matrix = as_cost_matrix(costs)
        options = Options.check(matrix.labels, level, method, laplace, priors, priors_size, n_resamples, rng)
        return _warned(difference_of_joint(count_joint(y_true, pred_a, pred_b, matrix), matrix, options, names))

    def from_joint(
        self,
        joint: JointConfusion | npt.ArrayLike,
        costs: CostsLike,
        *,
        level: float = DEFAULT_LEVEL,
        method: CostMethodName = DEFAULT_METHOD,
        laplace: float | None = None,
        priors: PriorsLike | None = None,
        priors_size: float | None = None,
        n_resamples: int = 1000,
        rng: Rng = 0,
        names: tuple[str, str] = ("a", "b"),
    ) -> CostDifference:
        """Return the difference in expected cost from joint counts.

        Parameters
        ----------
        joint : JointConfusion, or array-like of shape (k, k, k)
            Counts [true, prediction of a, prediction of b], in the order of the cost matrix's labels.
        costs, level, method, laplace, priors, priors_size, n_resamples, rng, names
            As in `bdeltacost`.
        """
        matrix = as_cost_matrix(costs)
        options = Options.check(matrix.labels, level, method, laplace, priors, priors_size, n_resamples, rng)
        return _warned(difference_of_joint(joint_of(joint, matrix), matrix, options, names))

    def over_costs(
        self,
        joint: JointConfusion | npt.ArrayLike,
        costs: Sequence[CostsLike],
        *,
        weights: npt.ArrayLike | None = None,
        names: tuple[str, str] = ("a", "b"),
        **options: Any,
    ) -> CostSpread:
        """Return the difference at each of several cost matrices, and how likely each verdict is over them.

        Parameters
        ----------
        joint : JointConfusion, or array-like of shape (k, k, k)
        costs, weights
            As for `bcost.over_costs`. A difference can be largest at any corner of a range, so that draws from the
            range are better than its two ends.
        names, **options
            As for `bdeltacost.from_joint`.
        """
        return spread_over(costs, lambda one: self.from_joint(joint, one, names=names, **options), weights, names)

    def over_training(
        self,
        y_true: Column,
        preds_a: Sequence[Column],
        preds_b: Sequence[Column],
        costs: CostsLike,
        *,
        level: float = DEFAULT_LEVEL,
        method: CostMethodName = DEFAULT_METHOD,
        names: tuple[str, str] = ("a", "b"),
    ) -> TrainingSpread:
        """Return an interval for the difference in cost of two learning algorithms, over training sets of this size.

        Parameters
        ----------
        y_true : sequence of labels, shape (n,)
        preds_a, preds_b : sequences of sequences of labels
            The predictions of both algorithms after training on each of several training sets, the same for both, as
            for `bcost.over_training`.
        costs, level, method, names
            As for `bdeltacost`.
        """
        matrix = as_cost_matrix(costs)
        options = Options.check(matrix.labels, level, method)
        return over_training(y_true, [preds_a, preds_b], matrix, options, check_two_names(names))

    def __repr__(self) -> str:
        return "<costcurves.bdeltacost: call it with (y_true, pred_a, pred_b, costs)>"


def _warned(found: CostDifference) -> CostDifference:
    if found.risks:
        warnings.warn(difference_warning(found.risks, found.n), SmallSampleWarning, stacklevel=3)
    return found


def cells_of_joint(joint: JointConfusion, costs: CostMatrix, options: Options) -> list[CostCells]:
    """Return the cells of the difference in cost of two classifiers, for the method that is asked for."""
    return difference_cells(
        joint.true,
        differences(joint, costs),
        joint.counts,
        costs.values,
        options.priors,
        every=options.method.every_difference or options.resampling.laplace > 0,
    )


def differences(joint: JointConfusion, costs: CostMatrix) -> FloatArray:
    """Return what a costs more than b in each distinct triple."""
    return np.asarray(costs.values[joint.true, joint.a] - costs.values[joint.true, joint.b], dtype=np.float64)


def difference_of_joint(joint: JointConfusion, costs: CostMatrix, options: Options, names: Any) -> CostDifference:
    """Return the difference in expected cost of two classifiers from their joint counts."""
    names = check_two_names(names)
    sizes = np.bincount(joint.true, weights=joint.counts, minlength=len(costs.labels))
    shares = options.shares(sizes, costs.labels)
    cells = cells_of_joint(joint, costs, options)
    law = options.law(cells)
    ends = law.limits(options.tail, options.tail)
    p = min(1.0, 2 * min(law.tails(0.0)))
    each = (shares / np.maximum(sizes, 1))[joint.true] * joint.counts
    return CostDifference(
        mean_of_cells(cells),
        *ends,
        p_beside(ends, p, law.smallest_p, 1 - options.level),
        options.level,
        options.name,
        options.resampling.laplace,
        joint.n,
        names,
        (float(costs.values[joint.true, joint.a] @ each), float(costs.values[joint.true, joint.b] @ each)),
        law.distribution,
        risks_of_joint(joint, costs, options, cells, ends),
        law.smallest_p,
        *cheapest_constant(costs, shares),
    )


def risks_of_joint(
    joint: JointConfusion, costs: CostMatrix, options: Options, cells: list[CostCells], ends: tuple[float, float]
) -> Risks:
    """Return the errors that could overturn what the limits say; there are none if the method allows for them."""
    if options.method.allows_unseen:
        return ()
    return difference_risks(joint, costs, options.level, options.priors, cells, ends)


bdeltacost = _BDeltaCost()
