"""What k classes cost: labelled cost matrices, expected cost, the cheapest decision, the nine cost models.

Rows are true classes and columns are predicted classes everywhere. The 2000 paper writes the transpose,
C(predicted, true); `CostMatrix(paper_table).T` turns it round.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.frames import TableLike, read_table
from costcurves._base.results import Result
from costcurves._base.validation import (
    MOST_COST,
    MOST_POINTS,
    Column,
    FloatArray,
    Rng,
    check_choice,
    check_flag,
    check_integer,
    check_rng,
    frozen,
    number_array,
    shown,
)
from costcurves.counting.class_labels import (
    Label,
    Labels,
    LabelsLike,
    check_labels,
    check_weights,
    code_columns,
    listed,
)
from costcurves.counting.confusion import pair_counts
from costcurves.counting.square_tables import read_square, square_text

OWNER = "the cost matrix"


@dataclass(frozen=True, slots=True, eq=False, init=False, repr=False)
class CostMatrix(Result):
    """What each decision costs: rows are true classes, columns are predicted classes.

    Parameters
    ----------
    table : array-like of shape (k, k), or dataframe
        Costs, finite and not negative, k >= 2; a right decision may cost something too. A pandas frame is
        matched by the names of its index and columns, in any order. A frame with one column more than rows
        has the true labels in its first column (polars and pyarrow have no index). A frame of k rows and k
        columns without an index has its rows in the order of its columns.
    labels : sequence, optional
        The classes in order. By default the frame's row labels, or 0, 1, …, k-1 for an array.

    Attributes
    ----------
    labels : tuple
        The classes, in the order of rows and columns.
    values : ndarray of float, shape (k, k)
        The costs, read-only.

    Raises
    ------
    InputError
        If the table is not square, holds a negative, missing or infinite cost, is zero throughout (no
        decision would matter), or if labels repeat.
    DataError
        If row and column labels are not the same.

    Notes
    -----
    The 2000 paper's tables are C(predicted, true): its Table 1 is `CostMatrix(table).T` here. Benefits are
    costs of the other decision: add to a row what makes it non-negative, which changes no comparison. The frame of
    `to_frame` has the true labels in column `true` and one column per predicted class, so that
    ``CostMatrix(costs.to_frame())`` is `costs` again.

    Examples
    --------
    >>> import costcurves as cc
    >>> costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
    >>> costs
    CostMatrix, rows true, columns predicted
            good  bad
      good     0    1
      bad      5    0
    >>> costs.cost("bad", "good")
    5.0
    """

    labels: Labels
    values: FloatArray

    def __init__(self, table: CostMatrix | TableLike, labels: LabelsLike | None = None) -> None:
        """Check the table and take its labels."""
        if isinstance(table, CostMatrix):
            values, names = _reordered(table, labels)
        else:
            values, names = read_square("costs", table, labels)
        if len(names) < 2:
            raise InputError(f"`costs` must have at least 2 classes, got {len(names)}")
        for rule, bad in (
            ("finite", ~np.isfinite(values)),
            (f"at most {MOST_COST:g}", values > MOST_COST),
            (">= 0 (shift a row to turn a benefit into a cost)", values < 0),
        ):
            if bad.any():
                t, p = np.argwhere(bad)[0]
                raise InputError(
                    f"`costs` must be {rule}, got {shown(values[t, p])} "
                    f"for true {shown(names[t])}, predicted {shown(names[p])}"
                )
        if not values.any():
            raise InputError("`costs` must not be zero throughout: no decision would matter")
        object.__setattr__(self, "labels", names)
        object.__setattr__(self, "values", frozen(np.array(values)))

    @property
    def T(self) -> CostMatrix:  # noqa: N802 (the name that arrays use)
        """The transpose: turns the papers' C(predicted, true) into rows true, columns predicted, and back."""
        return CostMatrix(self.values.T, self.labels)

    def cost(self, true: Label, predicted: Label) -> float:
        """Return the cost of predicting one class when another is true."""
        return float(self.values[self._position("true", true), self._position("predicted", predicted)])

    def class_weights(self) -> dict[Any, float]:
        """Return the mean cost of each true class over all predictions, as weights for training.

        Notes
        -----
        Margineantu & Dietterich (2000) weight the training examples of their trees so, after Breiman et al. (1984).
        Most classifiers of scikit-learn take the weights as ``class_weight``. With two classes and free right
        decisions, they are in the ratio of the costs of a miss and a false alarm. With more classes, they blur
        costs that depend on the predicted class; decisions at the least expected cost
        (`MinimumExpectedCostClassifier`) do not.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"]).class_weights()
        {'good': 0.5, 'bad': 2.5}
        """
        return dict(zip(self.labels, self.values.mean(axis=1).tolist(), strict=True))

    def draws(self, high: CostsLike, n_draws: int = 100, *, log: bool = False, rng: Rng = 0) -> tuple[CostMatrix, ...]:
        """Return matrices drawn between this one and a higher one, every cell uniformly and independently.

        Parameters
        ----------
        high : CostMatrix or table
            The highest cost of each cell; equal to this one's where a cost is certain.
        n_draws : int
        log : bool
            Whether logarithms of costs are uniform, as for costs known to an order of magnitude (costs above 0 only).
        rng : numpy.random.Generator, int or None, default 0

        Examples
        --------
        >>> import costcurves as cc
        >>> low, high = cc.CostMatrix([[0, 1], [3, 0]]), cc.CostMatrix([[0, 1], [8, 0]])
        >>> [round(one.cost(1, 0), 2) for one in low.draws(high, 3)]
        [3.2, 6.03, 7.08]
        """
        top = as_cost_matrix(high)
        if top.labels != self.labels:
            raise InputError(f"`high` must have the labels {list(self.labels)}, got {list(top.labels)}")
        if (top.values < self.values).any():
            raise InputError("`high` must be at least as high as the other matrix in every cell")
        moving = top.values > self.values
        if check_flag("log", log) and not (self.values[moving] > 0).all():
            raise InputError("`log` must come with costs above 0 where they are uncertain")
        part = check_rng(rng).random((check_integer("n_draws", n_draws, 1, MOST_POINTS), *self.values.shape))
        if log:
            low = np.where(moving, self.values, 1.0)
            drawn = np.where(moving, low * (np.where(moving, top.values, 1.0) / low) ** part, self.values)
        else:
            drawn = self.values + part * (top.values - self.values)
        return tuple(CostMatrix(one, self.labels) for one in drawn)

    def error_costs(self, pos_label: Label | None) -> tuple[float, float]:
        """Return (cost_fp, cost_fn) of a two-class matrix: what an error costs more than the right decision.

        Parameters
        ----------
        pos_label : label
            The positive class.
        """
        if len(self.labels) != 2:
            raise UnsupportedError(f"`error_costs` needs two classes, got {len(self.labels)}")
        pos = self._position("pos_label", pos_label)
        neg = 1 - pos
        fp = float(self.values[neg, pos] - self.values[neg, neg])
        fn = float(self.values[pos, neg] - self.values[pos, pos])
        for name, extra in (("cost_fp", fp), ("cost_fn", fn)):
            if extra < 0:
                raise InputError(f"`{name}` must be >= 0: the error is cheaper than the right decision by {-extra:g}")
        return fp, fn

    def _position(self, name: str, label: Any) -> int:
        try:
            return dict(zip(self.labels, range(len(self.labels)), strict=True))[label]
        except (KeyError, TypeError):
            raise InputError(
                f"`{name}` must be a label of {OWNER} ({listed(self.labels)}), got {shown(label)}"
            ) from None

    def _columns(self) -> dict[str, Any]:
        table: dict[str, Any] = {"true": list(self.labels)}
        for j, label in enumerate(self.labels):
            if str(label) in table:
                raise UnsupportedError(f"`to_frame` needs labels with distinct texts, got {shown(label)} twice")
            table[str(label)] = self.values[:, j]
        return table

    def __repr__(self) -> str:
        return "CostMatrix, rows true, columns predicted\n" + square_text(self.labels, self.values)


def _reordered(matrix: CostMatrix, labels: Any) -> tuple[FloatArray, Labels]:
    if labels is None:
        return matrix.values, matrix.labels
    names = check_labels("labels", labels)
    if set(names) != set(matrix.labels):
        raise DataError(f"`labels` must be those of the cost matrix ({listed(matrix.labels)}), got {listed(names)}")
    at = [matrix.labels.index(x) for x in names]
    return matrix.values[np.ix_(at, at)], names


# What stands for a cost matrix: one, or its table as an array or a dataframe. Class probabilities are in the order of
# the labels, or by label.
CostsLike = CostMatrix | TableLike
PriorsLike = npt.ArrayLike | Mapping[Any, float]


def as_cost_matrix(costs: CostsLike) -> CostMatrix:
    """Return a cost matrix, made from a table unless it is one already."""
    return costs if isinstance(costs, CostMatrix) else CostMatrix(costs)


def constant_name(label: Any) -> str:
    """Return the name of the classifier that always predicts one class, such as "always 'good'"."""
    return f"always {label!r}" if isinstance(label, str) else f"always {label}"


def constant_names(argument: str, names: Sequence[str], labels: Labels) -> tuple[str, ...]:
    """Return the names of the k constant classifiers, which no other classifier may have."""
    always = tuple(constant_name(label) for label in labels)
    for name in names:
        if name in always:
            raise InputError(
                f"`{argument}` must not name a classifier {shown(name)}: that is the one that always predicts "
                f"{shown(labels[always.index(name)])}"
            )
    if len(set(always)) != len(always):
        twice = next(name for i, name in enumerate(always) if name in always[:i])
        raise InputError(f"`labels` must have distinct texts, got {shown(twice.removeprefix('always '))} twice")
    return always


def cheapest_constant(costs: CostMatrix, shares: FloatArray) -> tuple[str, float]:
    """Return the constant classifier that costs least at some class frequencies, and what it costs."""
    means = shares @ costs.values
    cheapest = int(np.argmin(means))
    return constant_name(costs.labels[cheapest]), float(means[cheapest])


def check_priors(name: str, priors: Any, labels: Labels | None) -> tuple[FloatArray, Labels]:
    """Return class probabilities in the order of the labels: finite, not negative, with sum one."""
    if isinstance(priors, Mapping):
        given = check_labels(name, priors)
        if labels is None:
            labels = given
        if set(given) != set(labels):
            wrong = [x for x in given if x not in set(labels)] or [x for x in labels if x not in set(given)]
            raise DataError(
                f"`{name}` must have one value for each of the labels ({listed(labels)}); see {listed(wrong)}"
            )
        priors = [priors[label] for label in labels]
    values = np.array(number_array(name, priors, booleans=False))
    if values.ndim != 1 or (labels is not None and values.size != len(labels)) or values.size < 2:
        rule = f"one value for each of the {len(labels)} classes" if labels is not None else "one value per class"
        raise InputError(f"`{name}` must have {rule}, got shape {values.shape}")
    bad = ~(np.isfinite(values) & (values >= 0))
    if bad.any():
        raise InputError(f"`{name}` must be finite and >= 0, got {shown(values[bad][0])}")
    with np.errstate(over="ignore"):
        total = float(values.sum())
    if abs(total - 1.0) > 1e-6:
        raise InputError(f"`{name}` must have a sum of 1, got {total:g}")
    return frozen(values / total), tuple(range(values.size)) if labels is None else labels


def expected_cost(
    y_true: Column, y_pred: Column, costs: CostsLike, *, sample_weight: npt.ArrayLike | None = None
) -> float:
    """Return the mean cost of the predictions.

    Parameters
    ----------
    y_true, y_pred : sequence of labels, shape (n,)
        Arrays, lists or dataframe columns; every label must be one of the cost matrix.
    costs : CostMatrix or table
        Rows true, columns predicted.
    sample_weight : array-like of shape (n,), optional
        Weights of the examples, not negative.

    Returns
    -------
    float

    Examples
    --------
    >>> import costcurves as cc
    >>> costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
    >>> cc.expected_cost(["good", "good", "bad", "bad"], ["good", "bad", "bad", "good"], costs)
    1.5
    """
    costs = as_cost_matrix(costs)
    k = len(costs.labels)
    _, (true, predicted) = code_columns({"y_true": y_true, "y_pred": y_pred}, costs.labels, OWNER)
    weights = check_weights(sample_weight, true.size)
    counts = pair_counts(true, predicted, k, weights)
    total = counts.sum()
    with np.errstate(over="ignore"):
        cost = float((counts * costs.values).sum() / total)
    return cost if np.isfinite(cost) else float((counts / total * costs.values).sum())


def _in_order(labels: Sequence[Any]) -> bool:
    """Return whether labels are sorted, as scikit-learn sorts a classifier's classes."""
    try:
        return list(labels) == sorted(labels)
    except TypeError:
        return False


def minimum_cost_predictions(
    probabilities: TableLike, costs: CostsLike, *, classes: LabelsLike | None = None
) -> npt.NDArray[Any]:
    """Return the class of least expected cost for each example.

    Parameters
    ----------
    probabilities : array-like of shape (n, k), or dataframe
        Class probabilities, or a frame with one column per label, matched by name.
    costs : CostMatrix or table
        Rows true, columns predicted.
    classes : sequence of labels, optional
        The label of each column of `probabilities`, such as a classifier's ``classes_``. Needed for an array unless
        the labels of `costs` are in sorted order, the order in which scikit-learn has the columns of `predict_proba`.

    Returns
    -------
    ndarray of shape (n,)
        Labels of the cost matrix.

    Notes
    -----
    The decision minimises Σ_t P(t|x) costs[t, p] over p. Of equal expected costs the label that comes first in
    the cost matrix is taken.

    Examples
    --------
    >>> import costcurves as cc
    >>> costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
    >>> cc.minimum_cost_predictions([[0.9, 0.1], [0.8, 0.2]], costs, classes=["good", "bad"]).tolist()
    ['good', 'bad']
    """
    costs = as_cost_matrix(costs)
    k = len(costs.labels)
    read = read_table(probabilities)
    if read is not None:
        columns, cells, _ = read
        by_text = {str(label): label for label in costs.labels}
        names = [c if c in costs.labels else by_text.get(str(c), c) for c in columns]
        if set(names) != set(costs.labels) or len(names) != k:
            raise DataError(f"`probabilities` must have the columns {listed(costs.labels)}, got {listed(columns)}")
        probabilities = np.array([cells[names.index(label)] for label in costs.labels]).T
    elif classes is None and not _in_order(costs.labels):
        raise InputError(
            "`classes` must name the columns of `probabilities` where the cost matrix's labels are not sorted, "
            f"got None and labels {listed(costs.labels)}: pass the classifier's classes_"
        )
    p = number_array("probabilities", probabilities)
    if p.ndim != 2 or p.shape[1] != k:
        raise InputError(f"`probabilities` must have shape (n, {k}), one column per class, got {p.shape}")
    if read is None and classes is not None:
        order = check_labels("classes", classes)
        if len(order) != k or set(order) != set(costs.labels):
            raise DataError(f"`classes` must be the labels {listed(costs.labels)}, got {listed(order)}")
        p = p[:, [order.index(label) for label in costs.labels]]
    bad = ~(np.isfinite(p) & (p >= 0))
    if bad.any():
        row = int(np.argwhere(bad)[0][0])
        raise DataError(f"`probabilities` must be finite and >= 0, got {shown(p[bad][0])} in row {row}")
    off = np.abs(p.sum(axis=1) - 1.0) > 1e-3
    if off.any():
        row = int(np.flatnonzero(off)[0])
        raise DataError(f"`probabilities` must have rows with a sum of 1, got {p[row].sum():g} in row {row}")
    chosen = np.argmin(p @ costs.values, axis=1)
    return np.asarray(label_array(costs.labels)[chosen])


def label_array(labels: Labels) -> npt.NDArray[Any]:
    """Return labels as an array that keeps their type: mixed types stay objects."""
    if len({type(label) for label in labels}) == 1 and isinstance(labels[0], (bool, int, float, str)):
        return np.array(labels)
    out = np.empty(len(labels), dtype=object)
    out[:] = labels
    return out


# Table 4 of the 2000 paper: largest cost of an error, whether and how it is scaled by the class
# frequencies (+1: predicted over true, -1: true over predicted), and largest cost of a right decision.
_MODELS = {
    "M1": (10.0, 0, 0.0),
    "M2": (100.0, 0, 0.0),
    "M3": (100.0, 0, 10.0),
    "M4": (1000.0, 0, 0.0),
    "M5": (10000.0, 0, 0.0),
    "M6": (1000.0, 1, 0.0),
    "M7": (1000.0, -1, 0.0),
    "M8": (10000.0, 0, 1000.0),
    "M9": (2000.0, 1, 1000.0),
}


def cost_models(model: str, priors: PriorsLike, *, rng: Rng = 0) -> CostMatrix:
    """Draw a cost matrix from one of the nine cost models of the 2000 paper (its Table 4).

    Parameters
    ----------
    model : {"M1", ..., "M9"}
    priors : mapping of label to probability, or array-like of shape (k,)
        Class frequencies; they set the scale of M6, M7 and M9 and must be positive there.
    rng : numpy.random.Generator, int or None, default 0
        A generator, or the seed of one. By default the same matrix is drawn each time; None draws another.

    Returns
    -------
    CostMatrix
        Rows true, columns predicted (the paper's table is the transpose, and is turned round here).

    Notes
    -----
    Errors cost Unif[0, 10], [0, 100], [0, 100], [0, 1000] and [0, 10000] in M1 to M5, and [0, 10000] in M8.
    With true class t and predicted class p they cost Unif[0, 1000 P(p)/P(t)] in M6 (mistaking a rare class
    for a common one is expensive), Unif[0, 1000 P(t)/P(p)] in M7 and Unif[0, 2000 P(p)/P(t)] in M9. Right
    decisions cost Unif[0, 10] in M3, Unif[0, 1000] in M8 and M9, and nothing in the others.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.cost_models("M1", {"a": 0.2, "b": 0.8}, rng=0)
    CostMatrix, rows true, columns predicted
                a        b
      a         0  2.69787
      b  0.409735        0
    """
    check_choice("model", model, _MODELS)
    p, labels = check_priors("priors", priors, None)
    largest, direction, right = _MODELS[model]
    if direction and not p.all():
        raise InputError(f"`priors` must be > 0 for model {model}, got 0 for {shown(labels[int(np.argmin(p))])}")
    generator = check_rng(rng)
    k = p.size
    limits = np.full((k, k), largest)
    if direction:
        ratio = p[None, :] / p[:, None]
        limits = largest * (ratio if direction > 0 else ratio.T)
    np.fill_diagonal(limits, right)
    return CostMatrix(generator.random((k, k)) * limits, labels)
