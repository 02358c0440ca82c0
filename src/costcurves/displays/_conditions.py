"""Operating conditions in figures: read from arguments, marked on the axis of pc, and shown on a second axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import FloatArray, check_choice, check_flag, shown
from costcurves.conditions.condition import ConditionLike, OperatingCondition, check_condition
from costcurves.conditions.range import OperatingRange
from costcurves.curves.choices import Decision
from costcurves.displays._placing import label_each
from costcurves.displays._style import GREY, PALE, needed

SecondaryAxis = Literal["prevalence", "cost ratio", "slope"]
AXES = get_args(SecondaryAxis)
# What the methods `plot` take: names of what is drawn, what is marked, and matplotlib settings for lines.
Names = str | Sequence[str]
Mark = ConditionLike | OperatingRange | Decision
Marked = Mark | Sequence[Mark]
LineSettings = Mapping[str, Any] | Sequence[Mapping[str, Any]]
PC_LABEL = "pc (0: only false alarms count, 1: only misses)"
# Round numbers for a second axis, the most useful first. More are added if there is room.
_PREVALENCES = (
    0.5, 0.1, 0.9, 0.01, 0.99, 0.2, 0.3, 0.7, 0.8, 0.05, 0.95, 0.4, 0.6, 0.02, 0.98, 0.001, 0.999, 0.03, 0.97, 0.005,
    0.995, 0.002, 0.998,
)  # fmt: skip
_RATIOS = (1, 10, 0.1, 100, 0.01, 2, 0.5, 5, 0.2, 20, 0.05, 50, 0.02, 1000, 0.001, 500, 200, 0.005, 0.002)
# The smallest distance between two labels, as a fraction of the axis and in inches.
_ROOM, _INCHES = 0.085, 0.27


@dataclass(frozen=True, slots=True, eq=False)
class Marks:
    """The conditions, ranges and decisions to show in a figure."""

    conditions: tuple[OperatingCondition, ...]
    ranges: tuple[OperatingRange, ...]
    decisions: tuple[Decision, ...]
    # Conditions with their own prevalence and costs, not made from a pc only.
    stated: tuple[OperatingCondition, ...]

    def known(self, what: str) -> OperatingCondition:
        """Return the only condition that has a prevalence and costs."""
        if len(self.stated) != 1:
            raise InputError(
                f"`{what}` must come with one OperatingCondition as `condition`, for its prevalence and costs, "
                f"got {len(self.stated)}"
            )
        return self.stated[0]


def read_marks(condition: Marked | None) -> Marks:
    """Read `condition`, which is a condition, a pc, a range, a decision or a list of these."""
    given = condition if isinstance(condition, (list, tuple)) else () if condition is None else (condition,)
    conditions, ranges, decisions, stated = [], [], [], []
    for one in given:
        if isinstance(one, OperatingRange):
            ranges.append(one)
        elif isinstance(one, Decision):
            decisions.append(one)
            stated.append(one.condition)
        else:
            conditions.append(check_condition(one))
            stated += [one] if isinstance(one, OperatingCondition) else []
    return Marks(tuple(conditions), tuple(ranges), tuple(decisions), tuple(stated))


def pc_axis(ax: Any) -> None:
    """Set up the x-axis of cost space."""
    ax.set(xlim=(0, 1), xlabel=PC_LABEL)


def mark_on_pc(ax: Any, marks: Marks) -> list[Any]:
    """Mark each condition by a dashed line and each range by a shaded stretch on the axis of pc."""
    shades = [ax.axvspan(*span.pc, color=PALE, linewidth=0, zorder=0) for span in marks.ranges]
    label_each(ax, shades, "the marked range" if len(shades) == 1 else "the marked ranges")
    where = [one.pc for one in marks.conditions] + [one.condition.pc for one in marks.decisions]
    lines = [ax.axvline(pc, color=GREY, linewidth=0.9, linestyle=(0, (4, 2)), zorder=1) for pc in where]
    told = ", ".join(dict.fromkeys(f"{pc:.2g}" for pc in where))
    label_each(ax, lines, f"the marked condition{'s' if len(set(where)) > 1 else ''}, pc {told}")
    return [*shades, *lines]


def second_axis(ax: Any, kind: Any, marks: Marks) -> Any:
    """Add an axis at the top, if requested, that shows pc as prevalence at fixed costs, as cost ratio or as slope."""
    if kind is None:
        return None
    check_choice("secondary_axis", kind, AXES)
    if kind == "prevalence":
        here = marks.known("secondary_axis='prevalence'")
        label = f"prevalence, at costs {here.cost_fn:g} : {here.cost_fp:g} (miss : false alarm)"
        ticks = [(here.pc_at_prevalence(value), f"{value:g}") for value in _PREVALENCES]
    elif kind == "cost ratio":
        here = marks.known("secondary_axis='cost ratio'")
        label = f"costs (miss : false alarm), at prevalence {here.prevalence:g}"
        ticks = [(here.pc_at_cost_ratio(value), _ratio_text(value)) for value in _RATIOS]
    else:
        label = "weight of false alarms relative to misses (slope)"
        ticks = [(1 / (1 + value), f"{value:g}") for value in _RATIOS]
    ticker = needed("matplotlib.ticker", "plot")
    top = ax.secondary_xaxis("top")
    top.xaxis.set_major_locator(_round_places(ticker, [pc for pc, _ in ticks]))
    texts = dict(ticks)
    top.xaxis.set_major_formatter(ticker.FuncFormatter(lambda pc, _: texts.get(float(pc), "")))
    top.tick_params(**_tick_look(ax.xaxis))
    top.set_xlabel(label)
    return top


def _round_places(ticker: Any, places: list[float]) -> Any:
    """Make a locator that chooses among places, the most useful first, those with room in the current view."""

    class RoundPlaces(ticker.Locator):  # type: ignore[misc]
        def __call__(self) -> FloatArray:
            low, high = sorted(self.axis.get_view_interval())
            inches = self.axis.axes.bbox.width / self.axis.axes.figure.dpi
            room = max(_ROOM, _INCHES / max(inches, _INCHES)) * (high - low)
            kept: list[float] = []
            for place in places:
                if low + room / 4 < place < high - room / 4 and all(abs(place - other) >= room for other in kept):
                    kept.append(place)
            return np.array(sorted(kept))

    return RoundPlaces()


def _tick_look(axis: Any) -> dict[str, Any]:
    """The properties of an axis's ticks that differ from the settings."""
    return {name: value for name, value in axis.get_tick_params().items() if name in ("labelsize", "width", "length")}


def _ratio_text(ratio: float) -> str:
    return f"{ratio:g}:1" if ratio >= 1 else f"1:{1 / ratio:g}"


def money_axis(ax: Any, wanted: Any, marks: Marks) -> Any:
    """Add an axis on the right, if requested, with the cost per case in money at the marked condition."""
    if not check_flag("money_axis", wanted):
        return None
    here = marks.known("money_axis=True")
    right = ax.secondary_yaxis(
        "right",
        functions=(
            lambda cost: here.baseline + np.asarray(cost) * here.unit_cost,
            lambda money: (np.asarray(money) - here.baseline) / here.unit_cost,
        ),
    )
    right.tick_params(**_tick_look(ax.yaxis))
    right.set_ylabel("cost per case at the dashed line")
    return right


def no_decisions(marks: Marks, who: str) -> None:
    """Refuse decisions in a figure that cannot show them."""
    if marks.decisions:
        raise InputError(f"`condition` must be a condition or a range for {who}, got {shown(marks.decisions[0])}")
