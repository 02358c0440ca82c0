"""The thresholds of one classifier that may be the best, and those that cost little more."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.errors import UnsupportedError
from costcurves._base.results import Result, jsonable
from costcurves._base.text import cut_text, interval_in_words, largest, level_text, rule_in_words, safe, sentence
from costcurves._base.validation import (
    BoolArray,
    FloatArray,
    IntArray,
    check_in_unit,
    check_level,
    check_nonnegative,
    check_threshold,
    check_thresholds,
    frozen,
)
from costcurves.conditions.condition import OperatingCondition, check_condition, pc_array
from costcurves.conditions.range import OperatingRange, check_range
from costcurves.curves.choices import as_cheap
from costcurves.curves.roc import RocCurve
from costcurves.inference.threshold_sets import TESTED, TESTED_ALL, may_be_best, points_to_try, where_best

# Excluded thresholds between two that are not are taken into the set if at most this share of the cases lies between.
HOLE = 0.05


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ThresholdSet(Result):
    """A set of thresholds of one classifier at a condition, as intervals of cuts.

    `CostCurve.threshold_set` gives those that are not shown to cost more than the best threshold,
    `CostCurve.thresholds_within` those whose cost on these cases is within some percent of the least.

    Attributes
    ----------
    name : str
        The classifier.
    condition : OperatingCondition
    level : float or None
        The probability with which the truly best threshold is in the set; None for a set of nearly equal costs.
    tolerance : float or None
        By how much the cost may exceed the least one, as a share of it; None for a set with a confidence level.
    best : float
        The cheapest threshold on these cases.
    low, high : arrays of shape (k,)
        The intervals, from the highest down: every threshold with ``low < threshold <= high`` is in the set.
    n_points : array of int
        The number of ROC points in each interval, that is, of thresholds that decide these cases differently.
    n_all : int
        The number of ROC points of the classifier.
    fpr, tpr, cost : arrays of shape (k, 2)
        The smallest and the largest rate, and normalized cost on these cases, in each interval.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.3
    >>> curve = cc.CostCurve(cc.RocCurve.from_predictions(y, y + rng.normal(size=1000), name="model"))
    >>> here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
    >>> found = curve.threshold_set(here)
    >>> found
    ThresholdSet of 'model' at pc=0.682 (prevalence 0.3, cost_fp 1, cost_fn 5): 95 % confidence
      cheapest   score >= -0.423: 0.5299 per case
      may be best
        score >= -0.782 .. 0.227 (302 of 1001 thresholds)
          fpr 0.412 .. 0.757, tpr 0.783 .. 0.971, 0.5299 .. 0.6247 per case
    >>> found.contains(0), found.contains(1)
    (True, False)
    >>> found.statement
    'Thresholds from -0.782 to 0.227 are not shown to cost more, at 95 %.'
    """

    name: str
    condition: OperatingCondition
    level: float | None
    tolerance: float | None
    best: float
    low: FloatArray
    high: FloatArray
    n_points: IntArray
    n_all: int
    fpr: FloatArray
    tpr: FloatArray
    cost: FloatArray
    _texts: tuple[tuple[str, str], ...]
    _best_text: str
    _rates: FloatArray  # fpr and fnr of all thresholds of the set

    def contains(self, threshold: float) -> bool:
        """Return whether a threshold is in the set: predict positive iff score >= threshold."""
        cut = check_thresholds(check_threshold(threshold)).item()
        at_end = cut == -math.inf and bool((self.low == -math.inf).any())
        return at_end or bool(((self.low < cut) & (cut <= self.high)).any())

    @property
    def money(self) -> FloatArray:
        """The smallest and the largest cost per case in money in each interval, on these cases."""
        return frozen(np.array([[self.condition.money(cost) for cost in pair] for pair in self.cost.tolist()]))

    def costs_over(self, pc: Any) -> tuple[FloatArray, FloatArray]:
        """Return the smallest and the largest normalized cost of the thresholds of the set at other conditions.

        Parameters
        ----------
        pc : float or array
        """
        points = pc_array(pc).ravel()
        fpr, fnr = self._rates
        costs = [(1.0 - one) * fpr + one * fnr for one in points.tolist()]
        return np.array([one.min() for one in costs]), np.array([one.max() for one in costs])

    @property
    def threshold_text(self) -> tuple[str, ...]:
        """The intervals in words, in the fewest decimals that separate the same scores."""
        return tuple(interval_in_words(*texts) for texts in self._texts)

    @property
    def statement(self) -> str:
        """One sentence that states what is known of these thresholds."""
        ends = list(zip(self.low.tolist(), self.high.tolist(), strict=True))
        return sentence(ends, self._texts, self.n_points.tolist(), self.level, self.tolerance)

    def _columns(self) -> dict[str, Any]:
        both = {"fpr": self.fpr, "tpr": self.tpr, "cost": self.cost, "money": self.money}
        ends = {f"{name}_{end}": pairs[:, i] for name, pairs in both.items() for i, end in enumerate(("low", "high"))}
        return {
            "name": [self.name] * self.low.size,
            "low": self.low,
            "high": self.high,
            "text": list(self.threshold_text),
            "n_points": self.n_points,
            **ends,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the set as plain Python values, one entry per interval."""
        return {
            "name": self.name,
            "condition": self.condition._records()[0],
            "level": self.level,
            "tolerance": self.tolerance,
            "best": jsonable(self.best),
            "best_text": self._best_text,
            "n_all": self.n_all,
            "intervals": [{key: row[key] for key in row if key != "name"} for row in self._records()],
        }

    def __repr__(self) -> str:
        c = self.condition
        where = (
            "" if c.pc_only else f" (prevalence {c.prevalence:.3g}, cost_fp {c.cost_fp:.6g}, cost_fn {c.cost_fn:.6g})"
        )
        unit = "of getting every case wrong" if c.pc_only else "per case"
        kind, title = f"{100 * (self.level or 0):g} % confidence", "may be best"
        if self.level is None:
            kind = title = f"within {100 * (self.tolerance or 0):g} % of the least cost"
        lines = [f"ThresholdSet of {safe(self.name)!r} at pc={c.pc:.3g}{where}: {kind}"]
        lines.append(f"  cheapest   {rule_in_words(self._best_text)}: {self.money.min():.4g} {unit}")
        lines.append(f"  {title}")
        shown = largest(self.n_points.tolist())
        for i in shown:
            lines.append(f"    {self.threshold_text[i]} ({self.n_points[i]} of {self.n_all} thresholds)")
            rates = f"fpr {_span(self.fpr[i])}, tpr {_span(self.tpr[i])}"
            lines.append(f"      {rates}, {_span(self.money[i], 4)} {unit}")
        if rest := self.low.size - len(shown):
            few = int(self.n_points.sum() - self.n_points[shown].sum())
            more = "interval" if rest == 1 else "intervals"
            lines.append(f"    and {rest} smaller {more} with {few} thresholds")
        return "\n".join(lines)


def _span(pair: FloatArray, digits: int = 3) -> str:
    low, high = (f"{value:.{digits}g}" for value in pair.tolist())
    return low if low == high else f"{low} .. {high}"


def threshold_set(roc: RocCurve, condition: Any, level: float) -> ThresholdSet:
    """Return the thresholds that are not shown to cost more than the best one at a condition."""
    where, level = check_condition(condition), check_level(level)
    tp, fp = _effective_counts(roc, "threshold_set")
    cost = _costs(roc, where.pc)
    points = points_to_try(tp.size, int(cost.argmin()), TESTED)
    kept = may_be_best(tp, fp, points, where.pc, level)
    before, after = _between(points, tp.size)
    # A point that was not tested is kept unless both tested neighbours are excluded.
    return _as_intervals(roc, where, cost, _without_holes(kept[before] | kept[after], tp + fp), level=level)


def thresholds_within(roc: RocCurve, condition: Any, tolerance: float) -> ThresholdSet:
    """Return the thresholds whose cost on these cases is within a tolerance of the least."""
    where, share = check_condition(condition), check_nonnegative("tolerance", tolerance)
    _need_scores(roc, "thresholds_within")
    cost = _costs(roc, where.pc)
    return _as_intervals(roc, where, cost, as_cheap(cost, (1 + share) * cost.min()), tolerance=share)


def _need_scores(roc: RocCurve, what: str) -> None:
    if not roc.has_thresholds or roc.made_from == "rates":
        raise UnsupportedError(f"`{what}` needs a curve made from scores, got {roc.name!r}")


def _effective_counts(roc: RocCurve, what: str) -> tuple[FloatArray, FloatArray]:
    """Return true and false positives, on the scale of effective numbers if they are weighted."""
    _need_scores(roc, what)
    scale = (1.0, 1.0) if roc.effective is None else (roc.effective[0] / roc.n_pos, roc.effective[1] / roc.n_neg)
    return roc.tp * scale[0], roc.fp * scale[1]


def _costs(roc: RocCurve, pc: float) -> FloatArray:
    return np.asarray(pc * roc.fnr + (1.0 - pc) * roc.fpr)


def _between(points: Any, many: int) -> tuple[Any, Any]:
    """Return the places of the tested points before and after each of a number of points."""
    every = np.arange(many)
    before = np.maximum(np.searchsorted(points, every, side="right") - 1, 0)
    return before, np.minimum(np.searchsorted(points, every), points.size - 1)


def _without_holes(kept: BoolArray, total: FloatArray) -> BoolArray:
    """Return which points are kept if holes of few cases are filled; `total` counts the cases above each point."""
    inside = np.flatnonzero(kept)
    filled = kept.copy()
    for gap in np.flatnonzero(np.diff(inside) > 1):
        first, last = inside[gap], inside[gap + 1]
        if total[last] - total[first] <= HOLE * total[-1]:
            filled[first:last] = True
    return filled


def _as_intervals(
    roc: RocCurve,
    where: OperatingCondition,
    cost: FloatArray,
    kept: BoolArray,
    *,
    level: float | None = None,
    tolerance: float | None = None,
) -> ThresholdSet:
    cuts, below, fpr, tpr = roc.thresholds, roc.below, roc.fpr, roc.tpr
    edges = np.flatnonzero(np.diff(np.concatenate([[False], kept, [False]]).astype(np.int8)))
    first, last = edges[::2], edges[1::2] - 1
    # Up to the cuts that only an excluded point has; where it is not known which, up to its threshold.
    ahead = np.maximum(first - 1, 0)
    top = np.where(np.isnan(below[ahead]), cuts[ahead], below[ahead])
    behind = np.minimum(last + 1, cuts.size - 1)
    low, high = np.where(last + 1 < cuts.size, cuts[behind], -np.inf), np.where(first > 0, top, np.inf)

    def text(i: int, under: float) -> str:
        return "" if cuts[i] == np.inf else cut_text(float(cuts[i]), under)

    def ends(values: FloatArray) -> FloatArray:
        pairs = [(values[a : b + 1].min(), values[a : b + 1].max()) for a, b in zip(first, last, strict=True)]
        return np.array(pairs, dtype=np.float64).reshape(-1, 2)

    best = int(cost.argmin())
    return ThresholdSet(
        name=roc.name,
        condition=where,
        level=level,
        tolerance=tolerance,
        best=float(cuts[best]),
        low=low,
        high=high,
        n_points=last - first + 1,
        n_all=int(cuts.size),
        fpr=ends(fpr),
        tpr=ends(tpr),
        cost=ends(cost),
        _texts=tuple(
            (text(b, float(under)), text(a, float(below[a]))) for a, b, under in zip(first, last, low, strict=True)
        ),
        _best_text=text(best, float(below[best])),
        _rates=np.stack([fpr[kept], 1.0 - tpr[kept]]),
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ThresholdSets(Result):
    """The sets of thresholds at all conditions of a range, which hold jointly.

    Attributes
    ----------
    name : str
        The classifier.
    over : OperatingRange
    level : float
        The probability with which, at every condition of the range at once, the truly best threshold is in its set.
    thresholds, fpr, tpr : arrays of shape (m,)
        The ROC points of which some are tested, from the highest threshold down.
    pc_low, pc_high : arrays of shape (m,)
        The conditions of the range at which each may be the best threshold; NaN if it is at none of them.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(1000) < 0.3
    >>> curve = cc.CostCurve(cc.RocCurve.from_predictions(y, y + rng.normal(size=1000), name="model"))
    >>> sets = curve.threshold_sets(cc.OperatingRange(prevalence=(0.2, 0.4), cost_fp=1, cost_fn=(4, 6)))
    >>> sets
    ThresholdSets of 'model' for pc 0.5 .. 0.8: 95 % confidence, jointly
      best somewhere   score >= -4 .. 1.282
      at pc=0.5        score >= -0.57 .. 1.282
      at pc=0.8        score >= -4 .. -0.244
    >>> sets.at(0.6).contains(0.5)
    True
    """

    name: str
    over: OperatingRange
    level: float
    thresholds: FloatArray
    fpr: FloatArray
    tpr: FloatArray
    pc_low: FloatArray
    pc_high: FloatArray
    _roc: RocCurve

    def at(self, condition: Any) -> ThresholdSet:
        """Return the set at one condition of the range."""
        where = check_condition(condition)
        low, high = self.over.pc
        pc = check_in_unit("condition", where.pc)
        if not low - 1e-12 <= pc <= high + 1e-12:
            raise UnsupportedError(f"`condition` must lie in the range, pc from {low:.4g} to {high:.4g}, got {pc:.4g}")
        pc = min(max(pc, low), high)
        kept = _without_holes((self.pc_low <= pc) & (pc <= self.pc_high), self._roc.tp + self._roc.fp)
        return _as_intervals(self._roc, where, _costs(self._roc, where.pc), kept, level=self.level)

    def anywhere(self) -> tuple[tuple[float, float], ...]:
        """Return the intervals (low, high] of thresholds that may be the best at some condition of the range."""
        found = self._union(~np.isnan(self.pc_low))
        return tuple(zip(found.low.tolist(), found.high.tolist(), strict=True))

    def everywhere(self) -> tuple[tuple[float, float], ...]:
        """Return the intervals (low, high] of thresholds that may be the best at every condition of the range."""
        low, high = self.over.pc
        found = self._union((self.pc_low <= low) & (self.pc_high >= high))
        return tuple(zip(found.low.tolist(), found.high.tolist(), strict=True))

    def _union(self, kept: BoolArray) -> ThresholdSet:
        middle = OperatingCondition.from_pc(sum(self.over.pc) / 2)
        filled = _without_holes(kept, self._roc.tp + self._roc.fp)
        return _as_intervals(self._roc, middle, _costs(self._roc, middle.pc), filled, level=self.level)

    def _columns(self) -> dict[str, Any]:
        return {
            "name": [self.name] * self.thresholds.size,
            "threshold": self.thresholds,
            "fpr": self.fpr,
            "tpr": self.tpr,
            "pc_low": self.pc_low,
            "pc_high": self.pc_high,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the sets as plain Python values: for each threshold, where it may be the best."""
        table = jsonable(self._columns())
        del table["name"]
        return {"name": self.name, "pc": list(self.over.pc), "level": self.level, "thresholds": table}

    def __repr__(self) -> str:
        low, high = self.over.pc
        span = f"pc {low:.3g} .. {high:.3g}"
        lines = [f"ThresholdSets of {safe(self.name)!r} for {span}: {level_text(self.level)} confidence, jointly"]
        parts = [("best somewhere", self._union(~np.isnan(self.pc_low)))]
        parts += [(f"at pc={pc:.3g}", self.at(pc)) for pc in dict.fromkeys((low, high))]
        lines += [f"  {title:<16} {', '.join(_shortened(found.threshold_text))}" for title, found in parts]
        return "\n".join(lines)


def _shortened(texts: tuple[str, ...]) -> tuple[str, ...]:
    return texts if len(texts) <= 3 else (*texts[:2], f"{len(texts) - 2} more intervals")


def threshold_sets(roc: RocCurve, over: Any, level: float) -> ThresholdSets:
    """Return where each threshold may be the best, for all conditions of a range jointly."""
    span, level = check_range(over), check_level(level)
    tp, fp = _effective_counts(roc, "threshold_sets")
    first, last = span.pc
    middle = _costs(roc, (first + last) / 2)
    points = points_to_try(tp.size, int(middle.argmin()), TESTED_ALL)
    low, high = where_best(tp, fp, points, level)
    # A point that was not tested may be the best wherever one of its tested neighbours may, or between the two.
    before, after = _between(points, tp.size)
    low = np.maximum(np.minimum(low[before], low[after]), first)
    high = np.minimum(np.maximum(high[before], high[after]), last)
    nowhere = low > high
    return ThresholdSets(
        name=roc.name,
        over=span,
        level=level,
        thresholds=roc.thresholds,
        fpr=roc.fpr,
        tpr=roc.tpr,
        pc_low=np.where(nowhere, np.nan, low),
        pc_high=np.where(nowhere, np.nan, high),
        _roc=roc,
    )
