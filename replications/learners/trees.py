"""A C4.5-like decision tree for two classes, with four criteria, pessimistic pruning and Laplace estimates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from scipy.special import betaincinv

from costcurves import InputError
from replications.learners.splits import CRITERIA, NOTHING, Columns, Floats, Integers, Split, best_split

# A subtree is kept only if it promises at least this many errors fewer than a leaf, as in C4.5.
SLACK = 0.1


def pessimistic_errors(errors: Floats, cases: Floats, confidence: float) -> Floats:
    """The expected errors of leaves: cases times the upper limit of a binomial rate at the given `confidence`.

    Notes
    -----
    The limit U solves P(X <= errors; cases, U) = confidence and is a quantile of a beta distribution, which
    also allows fractions of cases. C4.5 itself interpolates and approximates this limit, but here it is exact.
    """
    errors, cases = np.broadcast_arrays(np.asarray(errors, dtype=np.float64), np.asarray(cases, dtype=np.float64))
    sure = errors >= cases
    rest = np.where(sure, 1.0, cases - errors)
    return np.where(sure, cases, cases * betaincinv(errors + 1, rest, 1 - confidence))


@dataclass(frozen=True, slots=True)
class Nodes:
    """A grown tree as arrays with one entry per node. A node comes before its branches, which are consecutive.

    Attributes
    ----------
    column : array of int
        The column on which the node splits, or -1 for a leaf.
    threshold : array
        Values up to this go to the first branch, and larger ones to the second. It is NaN if the column is nominal.
    first, branches : array of int
        The first branch and the number of branches. Branch i of a nominal column is its code i.
    cases, positives : array
        The weight of the training examples in the node, and that of the positives among them.
    value : array
        The estimated probability of a positive. A node that no example reached has the value of its parent.
    """

    column: Integers
    threshold: Floats
    first: Integers
    branches: Integers
    cases: Floats
    positives: Floats
    value: Floats

    @property
    def leaves(self) -> int:
        """The number of leaves that can be reached."""
        reached = np.zeros(self.column.size, dtype=bool)
        reached[0] = True
        for node in np.flatnonzero(self.column >= 0):
            reached[self.first[node] : self.first[node] + self.branches[node]] = reached[node]
        return int((reached & (self.column < 0)).sum())


class DecisionTree:
    """A C4.5-like decision tree for two classes.

    Parameters
    ----------
    criterion : {"entropy", "gini", "dkm", "accuracy"}
        The impurity that splits reduce: entropy, 2p(1-p), 2 sqrt(p(1-p)) of Dietterich, Kearns and Mansour, or min(p,
        1-p).
    gain_ratio : bool
        Whether to divide the gain by the information of the split (C4.5's choice of columns) instead of comparing gains
        (MC4).
    min_leaf : float
        At least two branches of a split must have this weight.
    confidence : float or None
        C4.5's confidence factor for pruning, or None for no pruning.
    laplace : bool
        Whether to estimate (positives + 1) / (cases + 2) at leaves instead of positives / cases.

    Notes
    -----
    A numeric column is divided in the middle between two values, and a nominal column has a branch for each
    of its values. An example whose value is missing goes down all branches, in proportion to the known values in each
    (C4.5's fractional examples). So does an example with a value that did not occur in training. The gain of a column
    is based on the known values only, in proportion to their weight. Growth stops when no split lowers the impurity.
    Pruning replaces a subtree by a leaf and does not raise branches. C4.5's penalty for numeric columns (release 8),
    its grouping of values and its larger minimum leaf for numeric columns are not implemented.

    Examples
    --------
    >>> X = [[1.0, 0], [2.0, 1], [3.0, 0], [4.0, 1], [5.0, 1], [6.0, 0]]
    >>> y = [False, False, False, True, True, True]
    >>> tree = DecisionTree(confidence=None).fit(X, y, nominal=[False, True])
    >>> tree
    DecisionTree(criterion='entropy', 2 leaves)
    >>> tree.predict_proba([[3.4, 0], [3.6, 0]])[:, 1].round(2).tolist()
    [0.2, 0.8]
    """

    def __init__(
        self,
        *,
        criterion: str = "entropy",
        gain_ratio: bool = False,
        min_leaf: float = 2.0,
        confidence: float | None = 0.25,
        laplace: bool = True,
    ) -> None:
        if criterion not in CRITERIA:
            raise InputError(f"`criterion` must be one of {', '.join(CRITERIA)}, got {criterion!r}")
        if confidence is not None and not 0 < confidence < 1:
            raise InputError(f"`confidence` must be in (0, 1) or None, got {confidence}")
        if not min_leaf > 0:
            raise InputError(f"`min_leaf` must be positive, got {min_leaf}")
        self.criterion, self.gain_ratio, self.min_leaf = criterion, gain_ratio, min_leaf
        self.confidence, self.laplace = confidence, laplace

    def __repr__(self) -> str:
        grown = f", {self.nodes_.leaves} leaves" if hasattr(self, "nodes_") else ""
        return f"DecisionTree(criterion={self.criterion!r}{grown})"

    def fit(self, X: npt.ArrayLike, y: npt.ArrayLike, nominal: npt.ArrayLike | None = None) -> DecisionTree:
        """Grow the tree, prune it and return it.

        Parameters
        ----------
        X : array (examples, columns)
            Numbers, codes 0, 1, ... in nominal columns, and NaN for missing values.
        y : array of bool
        nominal : array of bool, one per column
            The nominal columns. None means that all columns are numeric.
        """
        features, positive, mask = checked(X, y, nominal)
        nodes = self._grown(Columns.of(features, mask), positive.astype(np.float64))
        self.nodes_ = nodes if self.confidence is None else pruned(nodes, self.confidence)
        return self

    def _grown(self, columns: Columns, positive: Floats) -> Nodes:
        # One list per node: column, threshold, first, branches, cases, positives, value.
        grown: list[list[float]] = []

        def add(rows: Integers, weight: Floats, parent: float) -> None:
            total, pos = float(weight.sum()), float(weight @ positive[rows])
            grown.append([-1, np.nan, 0, 0, total, pos, self._estimate(total, pos, parent)])

        everything = np.arange(positive.size)
        add(everything, np.ones(positive.size), 0.5)
        waiting = [(0, everything, np.ones(positive.size))]
        while waiting:
            node, rows, weight = waiting.pop()
            split = self._split(columns, rows, weight, positive[rows])
            if split is None:
                continue
            grown[node][:4] = split.column, split.threshold, len(grown), split.branches
            for child_rows, child_weight in shares(columns.branch(split, rows), split.branches, rows, weight):
                if child_rows.size:
                    waiting.append((len(grown), child_rows, child_weight))
                add(child_rows, child_weight, grown[node][-1])
        column, threshold, first, branches, cases, positives, value = np.array(grown).T
        whole = [array.astype(np.intp) for array in (column, first, branches)]
        return Nodes(whole[0], threshold, whole[1], whole[2], cases, positives, value)

    def _estimate(self, cases: float, positives: float, parent: float) -> float:
        if cases <= 0:
            return parent
        return (positives + 1) / (cases + 2) if self.laplace else positives / cases

    def _split(self, columns: Columns, rows: Integers, weight: Floats, positive: Floats) -> Split | None:
        if weight.sum() < 2 * self.min_leaf - NOTHING or positive.min() == positive.max():
            return None
        return best_split(
            columns,
            rows,
            weight,
            positive,
            criterion=self.criterion,
            gain_ratio=self.gain_ratio,
            min_leaf=self.min_leaf,
        )

    def predict_proba(self, X: npt.ArrayLike) -> Floats:
        """Return the probabilities of False and True, shape (examples, 2)."""
        features = np.asarray(X, dtype=np.float64)
        nodes = self.nodes_
        found = np.zeros(len(features))
        before = np.concatenate([[0.0], np.cumsum(nodes.cases)])
        row, node, weight = np.arange(len(features)), np.zeros(len(features), dtype=np.intp), np.ones(len(features))
        while row.size:
            leaf = nodes.column[node] < 0
            found += np.bincount(row[leaf], weights=(weight * nodes.value[node])[leaf], minlength=found.size)
            row, node, weight = row[~leaf], node[~leaf], weight[~leaf]
            value, cut = features[row, nodes.column[node]], nodes.threshold[node]
            code = np.where(np.isnan(cut), value, value > cut)
            lost = np.isnan(value) | (code >= nodes.branches[node])
            child = nodes.first[node] + np.where(lost, 0, code).astype(np.intp)
            # An example without a known value is copied to each branch.
            copies = np.where(lost, nodes.branches[node], 1)
            row, weight = np.repeat(row, copies), np.repeat(weight, copies)
            step = np.arange(row.size) - np.repeat(np.cumsum(copies) - copies, copies)
            start, among = np.repeat(nodes.first[node], copies), np.repeat(nodes.branches[node], copies)
            lost, child = np.repeat(lost, copies), np.repeat(child, copies) + step
            share = nodes.cases[child] / np.where(lost, before[start + among] - before[start], 1.0)
            weight = np.where(lost, weight * share, weight)
            kept = weight > 0
            row, node, weight = row[kept], child[kept], weight[kept]
        return np.stack([1 - found, found], axis=1)

    def predict(self, X: npt.ArrayLike) -> npt.NDArray[np.bool_]:
        """Predict the more probable class. A tie is False."""
        return self.predict_proba(X)[:, 1] > 0.5


def checked(
    X: npt.ArrayLike, y: npt.ArrayLike, nominal: npt.ArrayLike | None
) -> tuple[Floats, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Check features, classes and the mask of nominal columns, and convert them to arrays."""
    features, positive = np.asarray(X, dtype=np.float64), np.asarray(y)
    if features.ndim != 2 or not features.size:
        raise InputError(f"`X` must be a full array (examples, columns), got shape {features.shape}")
    if positive.dtype != bool or positive.shape != (len(features),):
        raise InputError(f"`y` must be {len(features)} booleans, got {positive.dtype} of shape {positive.shape}")
    mask = np.zeros(features.shape[1], dtype=bool) if nominal is None else np.asarray(nominal, dtype=bool)
    if mask.shape != (features.shape[1],):
        raise InputError(f"`nominal` must have one entry per column ({features.shape[1]}), got shape {mask.shape}")
    codes = features[:, mask]
    codes = codes[~np.isnan(codes)]
    if codes.size and (codes.min() < 0 or (codes != np.floor(codes)).any()):
        raise InputError(f"`X` must hold codes 0, 1, ... in nominal columns, got {codes.min():g} as the lowest")
    return features, positive, mask


def shares(branch: Integers, branches: int, rows: Integers, weight: Floats) -> list[tuple[Integers, Floats]]:
    """The rows and weights of each branch. A row of branch -1 goes to all, in proportion to the weights there."""
    lost = branch < 0
    count = np.bincount(branch[~lost], weights=weight[~lost], minlength=branches)
    order = np.argsort(branch, kind="stable")
    ends = np.searchsorted(branch[order], np.arange(branches + 1))
    found = []
    for i in range(branches):
        here = order[ends[i] : ends[i + 1]]
        if lost.any() and count[i] > 0:
            found.append(
                (
                    np.concatenate([rows[here], rows[lost]]),
                    np.concatenate([weight[here], weight[lost] * count[i] / count.sum()]),
                )
            )
        else:
            found.append((rows[here], weight[here]))
    return found


def pruned(nodes: Nodes, confidence: float) -> Nodes:
    """Replace each subtree by a leaf where that promises as few errors."""
    errors = np.maximum(np.minimum(nodes.positives, nodes.cases - nodes.positives), 0)
    as_leaf = pessimistic_errors(errors, nodes.cases, confidence)
    promised, column = as_leaf.copy(), nodes.column.copy()
    for node in np.flatnonzero(column >= 0)[::-1]:
        below = promised[nodes.first[node] : nodes.first[node] + nodes.branches[node]].sum()
        if as_leaf[node] <= below + SLACK:
            column[node] = -1
        else:
            promised[node] = below
    return Nodes(column, nodes.threshold, nodes.first, nodes.branches, nodes.cases, nodes.positives, nodes.value)
