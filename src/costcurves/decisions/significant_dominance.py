"""Which of several classifiers, or of several algorithms with versions of each, are significantly better, and where."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.frames import NamedColumns
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    Column,
    FloatArray,
    IntArray,
    Rng,
    check_choice,
    check_integer,
    check_level,
    check_rng,
    frozen,
    is_among,
    shown,
)
from costcurves.conditions.range import RangeLike, span_of
from costcurves.counting.class_labels import Label
from costcurves.counting.folds import fold_numbers
from costcurves.curves.averages import mean_of_rates
from costcurves.decisions.compare_many import compare_many_in
from costcurves.decisions.composites import Versions, composite_costs, version_groups
from costcurves.decisions.rows import Rows
from costcurves.inference.resampled_curves import (
    Ranking,
    class_resamples,
    joint_half_widths,
    pair_differences,
    smallness,
)

TestedSpace = Literal["cost", "roc"]
Test = Literal["paired", "intervals"]
EVERYWHERE, SOMEWHERE, EACH, NOTHING = "everywhere", "somewhere", "each somewhere", "undecided"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DominanceTest(Result):
    """Which classifiers are significantly better than others, where, and by how much they may be worse elsewhere.

    `significant_dominance` makes it.

    Attributes
    ----------
    names : tuple of str
    space : str
        "cost", where points are values of pc and one classifier is better than another if it costs less, or "roc",
        where points are false positive rates and the better one has the higher true positive rate.
    points : array of shape (points,)
        Where the classifiers were compared. The ends at which all curves are equal are left out.
    pairs : tuple of (a, b)
    advantage, lower, upper : arrays of shape (pairs, points)
        By how much a is better than b, with limits.
    level : float
    test : str
        How the limits were found. Those of "intervals", the intervals of the 1998 study, hold at each point by itself;
        all others hold for all pairs at all points together.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(600) < 0.5
    >>> scores = {"sharp": 3 * y + rng.normal(0, 1, 600), "dull": y + rng.normal(0, 1, 600)}
    >>> cc.Predictions(y, scores, folds=np.arange(600) % 5).significant_dominance(space="roc", over=(0.02, 0.3))
    Who is significantly better for fpr 0.02 .. 0.3 (95 % over all pairs and points)
      'sharp' is better than 'dull' everywhere
    """

    names: tuple[str, ...]
    space: str
    points: FloatArray
    pairs: tuple[tuple[str, str], ...]
    advantage: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    test: str

    def relation(self, a: str, b: str) -> str:
        """Return where a is shown to be better than b, if b is nowhere shown to be better.

        It is "everywhere", "somewhere" or "undecided", or "each somewhere" if b is shown to be better somewhere too, so
        that neither dominates. If only b is shown to be better, it is "undecided".
        """
        better, worse = self._better(a, b), self._better(b, a)
        if better.any() and worse.any():
            return EACH
        return EVERYWHERE if better.all() else SOMEWHERE if better.any() else NOTHING

    def where(self, a: str, b: str) -> tuple[tuple[float, float], ...]:
        """Return the ranges of points at which a is significantly better than b."""
        edge = np.diff(np.concatenate([[0], self._better(a, b).astype(np.int8), [0]]))
        ends = zip(np.flatnonzero(edge == 1).tolist(), (np.flatnonzero(edge == -1) - 1).tolist(), strict=True)
        return tuple((float(self.points[i]), float(self.points[j])) for i, j in ends)

    def most_worse(self, a: str, b: str) -> float:
        """Return the limit of how much worse a can be than b at any of the points, at least 0."""
        place, sign = self._place(a, b)
        least = self.lower[place].min() if sign > 0 else -self.upper[place].max()
        return max(0.0, -float(least))

    @property
    def dominators(self) -> tuple[str, ...]:
        """The classifiers that are significantly better than each other one at all points."""
        return self._above_all((EVERYWHERE,))

    @property
    def unrefuted(self) -> tuple[str, ...]:
        """The classifiers that are significantly better than each other one somewhere and significantly worse nowhere.

        They need not dominate: they may be worse where the data do not show it, by at most `most_worse`.
        """
        return self._above_all((EVERYWHERE, SOMEWHERE))

    def _above_all(self, kinds: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(a for a in self.names if all(self.relation(a, b) in kinds for b in self.names if b != a))

    def _place(self, a: str, b: str) -> tuple[int, int]:
        for sign, pair in ((1, (a, b)), (-1, (b, a))):
            if is_among(a, self.names) and is_among(b, self.names) and pair in self.pairs:
                return self.pairs.index(pair), sign
        raise InputError(f"`a` and `b` must be two of {', '.join(self.names)}, got {shown(a)} and {shown(b)}")

    def _better(self, a: str, b: str) -> BoolArray:
        place, sign = self._place(a, b)
        return np.asarray(self.lower[place] > 0 if sign > 0 else self.upper[place] < 0)

    def _columns(self) -> dict[str, Any]:
        size, at = self.points.size, "pc" if self.space == "cost" else "fpr"
        return {
            "a": [a for a, _ in self.pairs for _ in range(size)],
            "b": [b for _, b in self.pairs for _ in range(size)],
            at: np.tile(self.points, len(self.pairs)),
            "advantage": self.advantage.ravel(),
            "lower": self.lower.ravel(),
            "upper": self.upper.ravel(),
        }

    def __repr__(self) -> str:
        """Show one line per pair."""
        at, scope = "pc" if self.space == "cost" else "fpr", "each point by itself"
        if self.test != "intervals":
            scope = "over all pairs and points"
        span = f"{at} {self.points[0]:.3g} .. {self.points[-1]:.3g}"
        lines = [f"Who is significantly better for {span} ({level_text(self.level)} {scope})"]
        lines += [f"  {self._words(a, b)}" for a, b in self.pairs]
        return "\n".join(lines)

    def _words(self, a: str, b: str) -> str:
        told = []
        for one, other in ((a, b), (b, a)):
            kind = self.relation(one, other)
            spans = ", ".join(f"({low:.3g}, {high:.3g})" for low, high in self.where(one, other))
            if kind == EVERYWHERE:
                return f"{one!r} is better than {other!r} everywhere"
            if kind == SOMEWHERE:
                rest = f"elsewhere at most {self.most_worse(one, other):.2g} worse"
                return f"{one!r} is better than {other!r} in {spans}, {rest}"
            if kind == EACH:
                told.append(f"{one!r} is better in {spans}")
        return " and ".join(told) if told else f"{a!r} and {b!r}: no significant difference"


def significant_dominance(
    y_true: Column,
    scores: NamedColumns,
    *,
    folds: npt.ArrayLike | None = None,
    pos_label: Label | None = None,
    space: TestedSpace = "cost",
    over: RangeLike = None,
    test: Test = "paired",
    versions: Versions | None = None,
    level: float = DEFAULT_LEVEL,
    n_points: int = 100,
    n_resamples: int = 1000,
    rng: Rng = 0,
) -> DominanceTest:
    """Test which classifiers are significantly better than others, over all or some conditions or false positive rates.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : mapping of name to array-like of shape (n,), or dataframe
        Scores of the same cases, out of fold if the classifiers were trained on them.
    folds : array-like of shape (n,), optional
        The fold of each case. ROC curves are averaged over folds, and versions are chosen on the other folds.
    pos_label
        As for `RocCurve.from_predictions`.
    space : {"cost", "roc"}
        In "cost", costs at the best thresholds are compared at each pc, as by `compare_many`. In "roc", averaged ROC
        curves (`average_roc_curves`) are compared at each false positive rate, as in the 1998 study.
    over : (low, high), OperatingRange or OperatingCondition, optional
        The region, by default everything. For ``space="roc"`` it is a pair of false positive rates; ``(0, 0.1)`` is the
        far left edge of ROC space. Rates that are smaller than one case among the negatives of a fold are not judged,
        unless ``test="intervals"``.
    test : {"paired", "intervals"}
        For ``space="roc"``. By default, limits of the differences come from resamples of the cases of each fold and
        class, and hold for all pairs at all points together. "intervals" is the study's own rule: the binomial
        intervals of two averaged curves must not overlap, at each point by itself.
    versions : mapping of name to one or several of the classifiers, optional
        Algorithms and the versions of each, for example trained at several class ratios (`ReproportionedClassifier`).
        An algorithm has the composite curve of its versions (1998, section 3.4): in each fold and at each pc it uses
        the version and the threshold that cost least on the other folds, so that having many versions is not
        rewarded. Of a version, at most 200 thresholds are considered. The limits come from resamples of the whole
        procedure. It needs two folds or more.
    level : float in (0, 1)
    n_points : int
        The number of points in the region.
    n_resamples, rng
        The number of resamples, and a generator or the seed of one. By default the answer is the same each time.

    Notes
    -----
    The limits are about these classifiers, without the variation of training. In 100 data sets each, with 50 and 250 or
    250 and 50 cases of the classes, equal classifiers were called different somewhere, at a nominal 5 %, in 0 to 5 % in
    ROC space, in 2 to 5 % in costs, in 0 to 2 % as composites (standard errors up to 2.2 points), and in 3 to 56 % by
    "intervals". A classifier that is better somewhere and worse nowhere (`unrefuted`) was named in 25 to 59 % of data
    sets in ROC space or costs although the curves truly cross.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.4
    >>> scores = {"a": y + rng.normal(0, 0.5, 400), "b": y + rng.normal(0, 1.5, 400), "b'": rng.random(400)}
    >>> asked = {"folds": np.arange(400) % 4, "versions": {"one": "a", "other": ["b", "b'"]}, "n_resamples": 200}
    >>> cc.significant_dominance(y, scores, over=(0.3, 0.6), **asked)
    Who is significantly better for pc 0.3 .. 0.6 (95 % over all pairs and points)
      'one' is better than 'other' everywhere
    """
    rows = Rows(y_true, scores, pos_label, None)
    division = None if folds is None else fold_numbers(folds, rows.positive.size)
    return dominance_in(
        rows,
        division,
        space=space,
        over=over,
        test=test,
        versions=versions,
        level=level,
        n_points=n_points,
        n_resamples=n_resamples,
        rng=rng,
    )


def dominance_in(
    rows: Rows,
    folds: IntArray | None,
    *,
    space: TestedSpace = "cost",
    over: RangeLike = None,
    test: Test = "paired",
    versions: Versions | None = None,
    level: float = DEFAULT_LEVEL,
    n_points: int = 100,
    n_resamples: int = 1000,
    rng: Rng = 0,
) -> DominanceTest:
    """Return which classifiers are significantly better than others, and where; see `significant_dominance`."""
    check_choice("space", space, get_args(TestedSpace))
    check_choice("test", test, get_args(Test))
    level, n_points = check_level(level), check_integer("n_points", n_points, 2, 10**4)
    number, generator = check_integer("n_resamples", n_resamples, 100), check_rng(rng)
    low, high = span_of(over)
    resampled = space == "roc" or versions is not None
    if resampled and rows.weights is not None:
        raise UnsupportedError("`space='roc'` and `versions` need whole cases, got weighted ones")
    parts = _parts(rows, folds) if resampled else []
    if space == "roc" and test == "paired":
        # Folds say nothing about smaller shares of their negatives.
        least = 1 / min(int((~rows.positive[part]).sum()) for part in parts)
        low, high = max(low, least), min(high, 1 - least)
        if low > high:
            raise DataError(
                f"`over` must have rates that folds can show, {least:.3g} .. {1 - least:.3g}, got {shown(over)}"
            )
    points = np.linspace(low, high, n_points) if high > low else np.array([low])
    points = points[(points < 1) & ((points > 0) | (space == "roc"))]
    if not points.size:
        raise InputError(f"`over` must have points at which curves can differ, got {shown(over)}")
    if space == "cost" and test == "intervals":
        raise InputError("`test='intervals'` must have space='roc': the study has intervals of averaged ROC curves")
    if versions is not None:
        if space == "roc":
            raise InputError("`versions` must have space='cost': at a false positive rate there is no cheapest version")
        groups = version_groups(versions, rows.names)
        names = tuple(groups)
        if folds is None or np.unique(folds).size < 2:
            raise UnsupportedError("`versions` needs predictions with two `folds` or more, to choose on the other ones")
        estimate, half = composite_costs(rows, parts, groups, points, number, level, generator)
        lower, upper = estimate - half, estimate + half
    elif space == "cost":
        many = compare_many_in(rows, level=level, pc=points, rng=generator)
        names = many.names
        bands = [(one.estimate, one.upper, one.lower) for one in many.pairs]
        estimate, lower, upper = (-np.array(part) for part in zip(*bands, strict=True))
    else:
        names = rows.names
        if len(names) < 2:
            raise InputError(f"`dominance` must have two classifiers or more, got {len(names)}")
        if test == "intervals":
            estimate, half = _averaged(rows, parts, points, level)
        else:
            estimate, half = _resampled(rows, parts, points, number, level, generator)
        lower, upper = estimate - half, estimate + half
    pairs = tuple(combinations(names, 2))
    kind = "versions" if versions is not None else test
    found = frozen(estimate), frozen(lower), frozen(upper)
    return DominanceTest(names, space, frozen(points), pairs, *found, level, kind)


def _parts(rows: Rows, folds: IntArray | None) -> list[IntArray]:
    """Return the cases of each fold, which must have both classes, or all cases."""
    if folds is None:
        return [np.arange(rows.positive.size)]
    parts = [np.flatnonzero(folds == k) for k in np.unique(folds)]
    for part in parts:
        if not 0 < rows.positive[part].sum() < part.size:
            raise DataError("`folds` must have both classes in every fold, got a fold with one class")
    return parts


def _averaged(rows: Rows, parts: list[IntArray], points: FloatArray, level: float) -> tuple[FloatArray, FloatArray]:
    """Return differences of averaged ROC curves, and the sums of half the intervals of both, which must not overlap."""
    folds = [rows.some(part) for part in parts]
    found = [mean_of_rates([fold.roc(name, "all") for fold in folds], points, level) for name in rows.names]
    mean, half = (np.array(part) for part in zip(*found, strict=True))
    first, second = np.triu_indices(len(found), 1)
    return pair_differences(mean), half[first] + half[second]


def _resampled(
    rows: Rows, parts: list[IntArray], points: FloatArray, number: int, level: float, rng: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """Return differences of averaged ROC curves with limits from resamples of the cases of each fold and class."""
    mean = np.zeros((len(rows.names), points.size))
    moved = np.zeros((number, *mean.shape))
    for part in parts:
        positive, rankings = rows.positive[part], [Ranking.of(rows.scores[name][part]) for name in rows.names]
        once = np.array([ranking.tpr(positive, np.ones(part.size), points) for ranking in rankings])
        mean += once / len(parts)
        for k in range(number):
            drawn = class_resamples(positive, 1, rng)[0]
            moved[k] += np.array([ranking.tpr(positive, drawn, points) for ranking in rankings]) - once
    deviations = pair_differences(moved / len(parts)) * smallness(rows.positive, parts)
    return pair_differences(mean), joint_half_widths(deviations, 1 / int(rows.positive.sum()), level)
