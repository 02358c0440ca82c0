"""Paired counts of two classifiers from batches, at thresholds that were found before."""

from __future__ import annotations

from functools import cached_property
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import (
    BoolArray,
    Column,
    FloatArray,
    IntArray,
    check_choice,
    check_flag,
    check_in_unit,
    check_instance,
    check_two_names,
    frozen,
)
from costcurves.conditions.range import GridLike
from costcurves.counting import compiled, counts
from costcurves.counting.class_labels import Label
from costcurves.curves.chosen import Optimism, Told
from costcurves.curves.cost_curve import CostCurve
from costcurves.data.tallies.base import Batches, State, Tally, locked, part
from costcurves.decisions.all_pairs import PairedSteps
from costcurves.decisions.curve_difference import (
    CurveDifference,
    DifferenceOptions,
    difference_of_counts,
    difference_options,
)
from costcurves.decisions.rows import Paired, common_breaks, middles
from costcurves.inference.bands.results import operating_points
from costcurves.inference.paired.discordant import (
    PairedCounts,
    compiled_search,
    counts_of_changes,
    counts_of_searches,
    ranges_of,
)

Array = npt.NDArray[Any]

CLASSES = ("negative", "positive")


class _Changes:
    """Finds the point, in each of several lists of points, at which a classifier begins to predict positive."""

    def __init__(self, *cuts: FloatArray) -> None:
        # One search among the distinct thresholds, and then a table for each list.
        self.distinct = np.unique(np.concatenate(cuts))
        self.sides = [c.size - np.append(0, np.searchsorted(c[::-1], self.distinct, side="right")) for c in cuts]

    @cached_property
    def search(self) -> compiled.Search:
        """The same for compiled loops."""
        return compiled_search(self.distinct, self.sides)

    def of(self, scores: Array) -> list[IntArray]:
        rank = np.searchsorted(self.distinct, scores.astype(np.float64, copy=False), side="right")
        return [side[rank] for side in self.sides]


class PairedTally(Tally):
    """Counts of the examples that only one of two classifiers gets wrong, from batches, in any order.

    Parameters
    ----------
    a, b : CostCurve
        The curves of the two classifiers on these data, whose thresholds are used. Their names must differ. Find them
        in earlier passes, with `ScoreTally` or `HullTally`.
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, as for `compare`.
    pos_label : label, optional
        As for `RocCurve.from_predictions`.

    Notes
    -----
    The difference equals that of `compare` bit for bit, for any batches and any order of merging, if a and b are the
    curves that `compare` makes and weights are integers; with other weights it agrees up to rounding. Counts at the
    thresholds of binned curves are exact too. Their `max_error` says how much better other thresholds could be, and the
    limits of the difference are wider by that. The memory is that of the points squared, and of the thresholds of both
    curves. `update` and `merge` change the tally and return it.

    Examples
    --------
    >>> import costcurves as cc
    >>> y, p, q = [0, 1, 0, 1], [0.1, 0.35, 0.4, 0.8], [0.3, 0.2, 0.1, 0.9]
    >>> a, b = (cc.CostCurve(cc.ScoreTally().update(y, s).to_roc_curve(name=n)) for n, s in {"p": p, "q": q}.items())
    >>> tally = cc.PairedTally(a, b, pc=[0.3, 0.5]).update(y[:2], p[:2], q[:2]).update(y[2:], p[2:], q[2:])
    >>> tally.to_difference().estimate.tolist() == cc.compare(y, p, q, pc=[0.3, 0.5]).estimate.tolist()
    True
    """

    def __init__(
        self, a: CostCurve, b: CostCurve, *, pc: GridLike | None = None, pos_label: Label | None = None
    ) -> None:
        for name, curve in (("a", a), ("b", b)):
            check_instance(name, curve, CostCurve)
        breaks, points = common_breaks(a, b), operating_points(pc)
        steps = middles(breaks)
        self._start(
            check_two_names((a.name, b.name)),
            breaks,
            points,
            [curve.cuts_at(where) for curve in (a, b) for where in (steps, points)],
            Batches(pos_label),
            (a.max_error, b.max_error),
            (Optimism.of(a), Optimism.of(b)),
        )

    def _start(
        self,
        names: tuple[str, str],
        breaks: FloatArray,
        points: FloatArray,
        cuts: list[FloatArray],
        batches: Batches,
        errors: tuple[float, float],
        optimism: tuple[Optimism | None, Optimism | None],
    ) -> None:
        self.errors = errors  # the most by which the costs of both can be too high
        self._optimism = optimism  # and what limits allow for because thresholds were chosen on these cases
        self.names, self._breaks, self._points, self._cuts, self._batches = names, breaks, points, cuts, batches
        self._a, self._b = _Changes(*cuts[:2]), _Changes(*cuts[2:])
        self._steps: dict[str, PairedCounts] = {}
        self._cells: dict[str, Array] = {}

    @locked
    def update(
        self, y_true: Column, score_a: npt.ArrayLike, score_b: npt.ArrayLike, sample_weight: npt.ArrayLike | None = None
    ) -> PairedTally:
        """Count a batch of labels and both scores, and return the tally."""
        batch = self._batches.read(y_true, {"score_a": score_a, "score_b": score_b}, sample_weight)
        if batch is None:
            return self
        found: dict[str, tuple[PairedCounts, Array]] = {}
        size, steps = self._points.size + 1, self._breaks.size - 1
        if batch.weights is None and (fast := compiled.loops()) is not None:
            both = np.zeros((2, size, size), np.int64)
            searches = self._a.search, self._b.search
            pos, neg = counts_of_searches(fast, batch.positive, batch.scores, searches, steps, both)
            found = {"negative": (neg, both[0].ravel()), "positive": (pos, both[1].ravel())}
        for true_class in () if found else CLASSES:
            chosen: BoolArray = batch.positive if true_class == "positive" else ~batch.positive
            w = None if batch.weights is None else batch.weights[chosen]
            (step_a, at_a), (step_b, at_b) = (
                changes.of(score[chosen]) for changes, score in zip((self._a, self._b), batch.scores, strict=True)
            )
            on_steps = counts_of_changes(true_class, step_a, step_b, steps, w)
            found[true_class] = on_steps, np.bincount(at_a * size + at_b, weights=w, minlength=size * size)
        for true_class, (on_steps, cells) in found.items():
            self._add(true_class, on_steps, cells)
        self._batches = batch.batches
        return self

    def _merge(self, other: PairedTally) -> None:
        same = (self.names, self.errors) == (other.names, other.errors) and all(
            np.array_equal(x, y)
            for x, y in zip(
                (self._breaks, self._points, *self._cuts), (other._breaks, other._points, *other._cuts), strict=True
            )
        )
        if not same:
            raise InputError("`other` must be of the same curves at the same points to be merged, got others")
        self._batches = self._batches.joined(other._batches)
        for true_class in other._cells:
            self._add(true_class, other._steps[true_class], other._cells[true_class])

    @locked
    def empty(self) -> PairedTally:
        """Make an empty tally of the same curves for another part of the data, to be merged later."""
        tally = PairedTally.__new__(PairedTally)
        batches = Batches(self._batches.rule.pos_label)
        tally._start(self.names, self._breaks, self._points, self._cuts, batches, self.errors, self._optimism)
        return tally

    @locked
    def cells(self, true_class: str) -> Array:
        """Return the examples of one class by the point from which on each classifier predicts them positive.

        Parameters
        ----------
        true_class : {"positive", "negative"}

        Returns
        -------
        array of shape (points + 1, points + 1)
            [i, j] counts the examples that a predicts positive from point i on, and b from point j on; the last index
            means never.
        """
        check_choice("true_class", true_class, CLASSES)
        size = self._points.size + 1
        cells = self._cells.get(true_class, np.zeros(size * size, np.int64))
        return cells.reshape(size, size).copy()

    @locked
    def to_difference(self, *, simultaneous: bool = True, **options: Unpack[DifferenceOptions]) -> CurveDifference:
        """The difference of the two curves with its limits. The options are those of `compare`."""
        paired = self.paired(simultaneous=simultaneous)
        both, given = (Told(self._optimism[0]), Told(self._optimism[1])), difference_options(**options)
        return difference_of_counts(self.names, paired, self._points, given, both, self.errors)

    @locked
    def paired(self, *, simultaneous: bool = True) -> Paired:
        """Return the counts on the steps of pc and, if they are wanted, at the operating points with their ranges."""
        steps = self.steps()
        at_points = None
        if check_flag("simultaneous", simultaneous):
            at_points = (self._at_points("positive", steps.pos), self._at_points("negative", steps.neg))
        return Paired(steps, at_points, self.weighted)

    @property
    def points(self) -> FloatArray:
        """The operating points."""
        return self._points

    @property
    def weighted(self) -> bool:
        """Whether batches had weights."""
        return bool(self._batches.weighted)

    @locked
    def steps(self) -> PairedSteps:
        """Return the steps of pc between which no threshold moves, with the counts of positives and negatives."""
        neg, pos = (self._steps.get(true_class) for true_class in CLASSES)
        n_neg, n_pos = (0.0 if part is None else part.total for part in (neg, pos))
        if self._batches.weighted:  # the number of examples is not known, but the sum of their weights is
            counts.check_totals(1, 1, (n_pos, n_neg))
        else:
            counts.check_totals(int(n_pos), int(n_neg))
        assert pos is not None
        assert neg is not None
        known = np.isinf(self._cuts[0]) & np.isinf(self._cuts[2])
        return PairedSteps(self._breaks, known, pos, neg)

    def _at_points(self, true_class: str, steps: PairedCounts) -> PairedCounts:
        """Return the counts at the operating points, with their ranges, from the cells."""
        ranges = ranges_of(true_class, self.cells(true_class))
        step = np.searchsorted(self._breaks[1:-1], self._points, side="left")
        return PairedCounts(steps.only_a[step], steps.only_b[step], steps.total, steps.squares, ranges)

    def _add(self, true_class: str, steps: PairedCounts, cells: Array) -> None:
        if true_class in self._cells:
            self._steps[true_class] = self._steps[true_class] + steps
            self._cells[true_class] = self._cells[true_class] + cells
        else:
            self._steps[true_class], self._cells[true_class] = steps, cells

    def _state(self) -> State:
        plain = {**self._batches.state(), "names": list(self.names), "classes": list(self._cells)}
        plain["errors"] = list(self.errors)
        plain["optimism"] = [one and one.to_dict() for one in self._optimism]
        arrays: dict[str, Array] = {"breaks": self._breaks, "points": self._points}
        arrays |= {f"cuts_{i}": cuts for i, cuts in enumerate(self._cuts)}
        for name in self._cells:
            steps, cells = self._steps[name], self._cells[name]
            place = np.flatnonzero(cells)
            arrays |= {
                f"only_a_{name}": steps.only_a,
                f"only_b_{name}": steps.only_b,
                f"sums_{name}": np.array([steps.total, steps.squares]),
                f"place_{name}": place,
                f"cells_{name}": cells[place],
            }
        return plain, arrays

    @classmethod
    def _restored(cls, plain: dict[str, Any], arrays: dict[str, Array]) -> PairedTally:
        tally = cls.__new__(cls)
        first, second = check_two_names(tuple(plain["names"]))
        cuts = [arrays[f"cuts_{i}"] for i in range(4)]
        sizes = [arrays["breaks"].size - 1, arrays["points"].size] * 2
        if any(cut.ndim != 1 or cut.size != size for cut, size in zip(cuts, sizes, strict=True)):
            raise DataError("cuts must be as many as the steps, and as the points")
        error_a, error_b = (check_in_unit("errors", error) for error in plain["errors"])
        batches = Batches.restored(plain)
        one, other = (Optimism.from_dict(kept) for kept in plain["optimism"])
        errors = (error_a, error_b)
        tally._start((first, second), arrays["breaks"], arrays["points"], cuts, batches, errors, (one, other))
        for name in plain["classes"]:
            check_choice("true_class", name, CLASSES)
            size = (tally._points.size + 1) ** 2
            place = part(arrays, f"place_{name}", "i", most=size)
            found = part(arrays, f"cells_{name}", "if", place.size)
            cells = np.zeros(size, found.dtype)
            cells[place] = found
            total, squares = part(arrays, f"sums_{name}", "if", 2).tolist()
            only_a, only_b = (frozen(part(arrays, f"only_{side}_{name}", "if", sizes[0])) for side in "ab")
            tally._add(name, PairedCounts(only_a, only_b, total, squares), cells)
        return tally

    def __repr__(self) -> str:
        n = sum(steps.total for steps in self._steps.values())
        return f"PairedTally({self.names[0]!r} - {self.names[1]!r}: {n:g} examples, {self._points.size} points)"
