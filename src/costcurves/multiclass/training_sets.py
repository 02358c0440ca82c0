"""What a learning algorithm costs: classifiers of several training sets, judged on one test set."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import FloatArray, items_of, shown
from costcurves.conditions.cost_matrix import OWNER, CostMatrix
from costcurves.counting.class_labels import code_columns
from costcurves.inference.cost_cells import CostCells, difference_cells
from costcurves.multiclass.options import Options


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TrainingSpread(Result):
    """The expected cost of a learning algorithm, or the difference of two, over training sets and test examples.

    Attributes
    ----------
    estimate, lower, upper, level : float
        The mean cost over training sets of this size, with limits that allow for other training sets and other
        test examples.
    costs : array of shape (training sets,)
        The cost (or the difference in cost) of the classifier of each training set.
    training_error, test_error : float
        The standard errors of the estimate that training sets and test examples contribute.
    n : int
        The number of test examples.
    method : str
        How the limits allow for other test examples, as in `bcost`.
    names : (a, b) or None
        The two algorithms whose costs are subtracted, first minus second.

    Notes
    -----
    The limits that test examples contribute are those of `bcost` for the mean cost of each example over the
    classifiers. Those that training sets contribute are Student's, with one degree of freedom less than there are
    training sets. Squares of both are added (MOVER). What an example and a training set contribute together enters
    both, so that the limits are slightly too wide.

    Measured at nominal 95 % on 1,000 random worlds each (standard error at most 0.6 points; method "mid-p",
    studies/training_sets.py), with training sets and test examples: 2 and 200: 0.981; 3 and 100: 0.982; 5 and 500:
    0.968; 10 and 200: 0.967; for differences 0.981 to 0.995. `bcost` of one classifier held the cost of the algorithm
    in 0.54 to 0.80 of these worlds.

    Examples
    --------
    >>> import costcurves as cc
    >>> y_true = [0, 0, 0, 1, 1] * 20
    >>> trained = [[0, 0, 1, 1, 1] * 20, [0, 0, 0, 1, 0] * 20, [0, 1, 1, 1, 1] * 20]
    >>> cc.bcost.over_training(y_true, trained, [[0, 1], [5, 0]])
    TrainingSpread: expected cost 0.5333 over 3 training sets, 95 % in [0, 1.578] (n = 100, tilted)
    """

    estimate: float
    lower: float
    upper: float
    level: float
    costs: FloatArray
    training_error: float
    test_error: float
    n: int
    method: str
    names: tuple[str, str] | None
    _column_names = ("costs", "estimate", "lower", "upper", "training_error", "test_error")

    def __repr__(self) -> str:
        """Return the conclusion in words."""
        what = "expected cost" if self.names is None else "cost of {!r} minus {!r}".format(*self.names)
        return (
            f"TrainingSpread: {what} {self.estimate:.4g} over {self.costs.size} training sets, "
            f"{level_text(self.level)} in [{self.lower:.4g}, {self.upper:.4g}] (n = {self.n}, {self.method})"
        )


def over_training(
    y_true: Any, predictions: Sequence[Sequence[Any]], costs: CostMatrix, options: Options, names: Any = None
) -> TrainingSpread:
    """Return the cost of one algorithm, or the difference of two, from the predictions of each training set."""
    known = ("predictions",) if names is None else ("preds_a", "preds_b")
    for name, given in zip(known, predictions, strict=True):
        if isinstance(given, str) or not hasattr(given, "__len__") or len(items_of(given)) < 2:
            raise InputError(f"`{name}` must have the predictions of 2 training sets or more, got {shown(given)}")
        if len(given) != len(predictions[0]):
            raise InputError(f"`preds_b` must have as many training sets as `preds_a`, got {len(given)}")
    columns = {
        f"{name}[{j}]": one for name, given in zip(known, predictions, strict=True) for j, one in enumerate(given)
    }
    _, (true, *coded) = code_columns({"y_true": y_true, **columns}, costs.labels, OWNER)
    each = np.array([costs.values[true, one] for one in coded])
    sets = len(predictions[0])
    each = each if names is None else each[:sets] - each[sets:]
    # Sums of whole costs are whole, which makes distributions quick, and means would not be.
    (cells,) = _cells(true, each.sum(axis=0), sets * costs.values, options, paired=names is not None)
    by_set = each.mean(axis=1)
    estimate = float(by_set.mean())
    ends = [end / sets for end in options.law([cells]).limits(options.tail, options.tail)]
    error = float(by_set.std(ddof=1)) / math.sqrt(sets)
    from scipy.special import stdtrit

    reach = float(stdtrit(sets - 1, 1 - options.tail)) * error
    lower = estimate - math.hypot(max(estimate - ends[0], 0.0), reach)
    upper = estimate + math.hypot(max(ends[1] - estimate, 0.0), reach)
    if names is None:  # no classifier costs less than the cheapest decisions or more than the dearest
        lower, upper = max(lower, float(costs.values.min())), min(upper, float(costs.values.max()))
    spread = math.sqrt(cells.variance) / sets
    return TrainingSpread(estimate, lower, upper, options.level, by_set, error, spread, true.size, options.name, names)


def _cells(true: Any, values: FloatArray, costs: FloatArray, options: Options, *, paired: bool) -> list[CostCells]:
    """Return the cells of what each example costs, with the costs that no example has as empty cells."""
    # Sums of the same costs in another order differ in their last digits.
    digits = 12 - math.ceil(math.log10(float(np.abs(costs).max()) or 1.0))
    keys, at = np.unique(np.stack([true, values.round(digits)]), axis=1, return_inverse=True)
    counts = np.bincount(at.ravel())
    if paired:
        every = options.method.every_difference
        return difference_cells(keys[0].astype(np.int64), keys[1], counts, costs, every=every)
    copies = np.append(np.zeros(counts.size), np.ones(costs.size))
    each = np.append(counts.astype(np.float64), np.zeros(costs.size))
    return [CostCells(each, np.append(keys[1], costs.ravel()), copies).pooled()]
