"""Which classifier is best where: the stretches of pc on which each costs least."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import FloatArray, frozen, is_among, items_of, shown
from costcurves.conditions.condition import slopes_of
from costcurves.conditions.range import OperatingRange
from costcurves.curves.choices import TRIVIAL, _listed, threshold_text
from costcurves.curves.differences import PcIntervals


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Ranges(Result):
    """Which classifier is best where: one row per stretch of pc, in increasing pc and so in decreasing slope.

    Attributes
    ----------
    classifier : tuple of str
        The owner of each stretch; the trivial classifiers are ``"always negative"`` and ``"always positive"``.
    pc_low, pc_high, slope_low, slope_high : arrays
        The stretch in probability-cost and in slope of the iso-performance lines.
    threshold_low, threshold_high : arrays
        The lowest and the highest threshold that the owner uses within the stretch.
    threshold_text : tuple of (low, high)
        The same as texts, in the fewest decimals that separate the same scores; empty if there is no threshold.
    max_error : float
        The most by which the least cost can be too high at any pc because scores were binned.
    unsettled : tuple of str
        Other classifiers that could be best somewhere, because bins may hide a better threshold of theirs.

    Notes
    -----
    This is Table 1 of Provost, Fawcett & Kohavi (1998), with thresholds and with the two trivial classifiers.

    Examples
    --------
    >>> import costcurves as cc
    >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).ranges()
    Who is best where, on these cases
      pc 0 .. 0.143     slope 6 .. inf      always negative
      pc 0.143 .. 0.692 slope 0.444 .. 6    expert
      pc 0.692 .. 1     slope 0 .. 0.444    always positive
    """

    classifier: tuple[str, ...]
    pc_low: FloatArray
    pc_high: FloatArray
    threshold_low: FloatArray
    threshold_high: FloatArray
    over: OperatingRange | None = None
    _below: tuple[tuple[float, float], ...] = ()
    max_error: float = 0.0
    unsettled: tuple[str, ...] = ()

    _column_names = ("classifier", "pc_low", "pc_high", "slope_low", "slope_high", "threshold_low", "threshold_high")

    @property
    def threshold_text(self) -> tuple[tuple[str, str], ...]:
        """The lowest and the highest threshold of each stretch as texts that separate the same scores."""
        ends = zip(self.threshold_low.tolist(), self.threshold_high.tolist(), strict=True)
        below = self._below or ((math.nan, math.nan),) * len(self)
        return tuple(
            (threshold_text(name, low, low_below), threshold_text(name, high, high_below))
            for name, (low, high), (low_below, high_below) in zip(self.classifier, ends, below, strict=True)
        )

    def joined(self, most: int) -> list[slice]:
        """Return about as many stretches as there is room for: neighbours that are short are joined.

        Stretches are short if they are shorter than the `most`-th part of all of them. If there are at most `most`
        stretches, nothing is joined.
        """
        wide = (self.pc_high - self.pc_low) * most >= self.pc_high[-1] - self.pc_low[0]
        found: list[slice] = []
        for i, alone in enumerate(wide.tolist() if len(self) > most else [True] * len(self)):
            if found and not alone and not wide[i - 1]:
                found[-1] = slice(found[-1].start, i + 1)
            else:
                found.append(slice(i, i + 1))
        return found

    @property
    def slope_low(self) -> FloatArray:
        """The smallest slope of each stretch, at its largest pc."""
        return slopes_of(self.pc_high)

    @property
    def slope_high(self) -> FloatArray:
        """The largest slope of each stretch, at its smallest pc."""
        return slopes_of(self.pc_low)

    @property
    def candidates(self) -> tuple[str, ...]:
        """The classifiers that can be best, each once, in order of appearance."""
        return tuple(dict.fromkeys(self.classifier))

    @property
    def sensitive(self) -> bool:
        """Whether the choice of classifier depends on the condition within the range."""
        return len(self.candidates) > 1

    def __len__(self) -> int:
        return len(self.classifier)

    def __iter__(self) -> Iterator[tuple[str, float, float]]:
        return iter(list(zip(self.classifier, self.pc_low.tolist(), self.pc_high.tolist(), strict=True)))

    def where(self, classifier: str) -> PcIntervals:
        """Return the stretches of pc on which one classifier is best."""
        chosen = np.array([is_among(classifier, (name,)) for name in self.classifier], dtype=np.bool_)
        return PcIntervals(self.pc_low[chosen], self.pc_high[chosen])

    def without_trivial(self) -> Ranges:
        """Return the same table without the trivial classifiers, as the 1998 study prints it.

        Their stretches at both ends go to the classifier next to them. It is best there among the given classifiers, if
        it raises no alarm or only alarms, which costs what the trivial classifier does.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.95, name="C")])
        >>> [(name, round(low, 2), round(high, 2)) for name, low, high in hull.ranges().without_trivial()]
        [('A', 0.0, 0.46), ('C', 0.46, 1.0)]
        """
        own = [i for i, name in enumerate(self.classifier) if name not in TRIVIAL]
        if not own:
            return self
        below = tuple(self._below[i] for i in own) if self._below else ()
        low, high = self.pc_low[own], self.pc_high[own]
        low[0], high[-1] = self.pc_low[0], self.pc_high[-1]
        names, least, most = tuple(self.classifier[i] for i in own), self.threshold_low[own], self.threshold_high[own]
        return Ranges(names, low, high, least, most, self.over, below, self.max_error, self.unsettled)

    def stability(self, others: Sequence[Ranges]) -> RangeStability:
        """Return how often other tables, for example those of the folds, name the same classifier and change alike.

        Parameters
        ----------
        others : sequence of Ranges

        Examples
        --------
        >>> import costcurves as cc
        >>> def table(fpr, tpr):
        ...     curves = [cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(fpr, tpr, name="C")]
        ...     return cc.RocHull(curves).ranges().without_trivial()
        >>> table(0.4, 0.95).stability([table(0.3, 0.9), table(0.5, 0.97), table(0.3, 0.6)])
        Agreement of 3 other tables
          pc 0 .. 0.462 A: 96 % of the stretch; the change at 0.462 occurs in 67 %, at pc 0.4 .. 0.519
          pc 0.462 .. 1 C: 63 % of the stretch
        """
        listed = items_of(others)
        if not listed or not all(isinstance(other, Ranges) for other in listed):
            raise InputError(f"`others` must be tables of ranges, got {shown(others)}")
        low, high = float(self.pc_low[0]), float(self.pc_high[-1])
        if low == high:
            raise InputError(f"`stability` needs a range of pc, got a single one, {low:.6g}")
        for other in listed:
            if other.pc_low[0] > low or other.pc_high[-1] < high:
                span = f"{other.pc_low[0]:.6g} .. {other.pc_high[-1]:.6g}"
                raise InputError(f"`others` must cover the pc of this table, {low:.6g} .. {high:.6g}, got {span}")
        ends = np.unique(np.concatenate([self.pc_low, self.pc_high, *(o.pc_low for o in listed)]))
        ends = ends[(ends >= low) & (ends <= high)]
        middle, width = (ends[:-1] + ends[1:]) / 2, np.diff(ends)
        agree = np.zeros((len(listed), len(self)))
        owner = np.clip(np.searchsorted(self.pc_high, middle), 0, len(self) - 1)
        for k, other in enumerate(listed):
            theirs = np.clip(np.searchsorted(other.pc_high, middle), 0, len(other) - 1)
            same = np.array(
                [self.classifier[i] == other.classifier[j] for i, j in zip(owner, theirs, strict=True)], dtype=float
            )
            agree[k] = np.bincount(owner, same * width, len(self)) / np.bincount(owner, width, len(self))
        breaks = np.full((len(self) - 1, len(listed)), np.nan)
        for i, change in enumerate(pairwise(self.classifier)):
            for k, other in enumerate(listed):
                found = [other.pc_high[j] for j, pair in enumerate(pairwise(other.classifier)) if pair == change]
                if found:
                    breaks[i, k] = found[int(np.argmin(np.abs(np.array(found) - self.pc_high[i])))]
        return RangeStability(self, frozen(agree.mean(axis=0)), frozen(breaks))

    def to_dict(self) -> dict[str, Any]:
        """Return the stretches as plain Python values, in pc and in slopes."""
        slopes = {"slope_low": jsonable(self.slope_low), "slope_high": jsonable(self.slope_high)}
        return Result.to_dict(self) | slopes

    def __repr__(self) -> str:
        rows, texts = [], self.threshold_text
        for i, (name, low, high) in enumerate(self):
            pc = f"pc {low:.3g} .. {high:.3g}"
            slope = f"slope {self.slope_low[i]:.3g} .. {self.slope_high[i]:.3g}"
            ends = " .. ".join(dict.fromkeys(texts[i]))
            cut = f"score >= {ends}" if ends else ""
            rows.append((pc, slope, name, cut))
        widths = [max(len(row[k]) for row in rows) for k in range(3)]
        body = [
            f"  {pc:<{widths[0]}} {slope:<{widths[1] + 3}} {name:<{widths[2]}}  {cut}".rstrip()
            for pc, slope, name, cut in rows
        ]
        if self.max_error:
            body.append(f"  bins may hide thresholds that cost up to {self.max_error:.2g} less, and move these limits")
        if self.unsettled:
            body.append(f"  not settled: binning error may hide that {_listed(self.unsettled)} is best somewhere")
        if self.over is None:
            return "\n".join(["Who is best where, on these cases", *body])
        span = "{:.3g} .. {:.3g}".format(*self.over.pc)
        if self.unsettled:
            head = f"not settled who can be best for pc {span}"
        elif self.sensitive:
            head = (
                f"{len(self.candidates)} classifiers can be best on these cases for pc {span}: the choice is sensitive"
            )
        else:
            head = f"{self.candidates[0]} is best on these cases throughout pc {span}"
        return "\n".join([f"{head} (recommend_within says how sure that is)", *body])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RangeStability(Result):
    """How often other tables of ranges agree with this one.

    Attributes
    ----------
    ranges : Ranges
        The table that is judged.
    agreement : array of shape (stretches,)
        The share of each stretch on which the other tables name the same classifier, on average over them.
    breaks : array of shape (stretches - 1, tables)
        For each change from one classifier to the next, the nearest pc at which each other table has this change; NaN
        if it has not.

    Examples
    --------
    >>> import costcurves as cc
    >>> table = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")]).ranges()
    >>> table.stability([table, table]).agreement.tolist()
    [1.0, 1.0, 1.0]
    """

    ranges: Ranges
    agreement: FloatArray
    breaks: FloatArray

    @property
    def share_with_break(self) -> FloatArray:
        """The share of the other tables that have each change."""
        return frozen(np.mean(~np.isnan(self.breaks), axis=1))

    def _columns(self) -> dict[str, Any]:
        ends = {"pc_low": self.ranges.pc_low, "pc_high": self.ranges.pc_high, "agreement": self.agreement}
        # After the last stretch there is no change.
        ends["share_with_break"] = np.append(self.share_with_break, np.nan)
        return {"classifier": list(self.ranges.classifier)} | ends

    def __repr__(self) -> str:
        told = [
            f"  pc {low:.3g} .. {high:.3g} {name}: {100 * share:.0f} % of the stretch"
            for (name, low, high), share in zip(self.ranges, self.agreement, strict=True)
        ]
        for i, share in enumerate(self.share_with_break):
            seen = self.breaks[i][~np.isnan(self.breaks[i])]
            span = f", at pc {seen.min():.3g} .. {seen.max():.3g}" if seen.size else ""
            told[i] += f"; the change at {self.ranges.pc_high[i]:.3g} occurs in {100 * share:.0f} %{span}"
        return "\n".join([f"Agreement of {self.breaks.shape[1]} other tables", *told])
