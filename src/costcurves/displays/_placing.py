"""The places of text in figures: legends, labels and titles of axes are measured, and placed beside the data."""

from __future__ import annotations

import math
import textwrap
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from costcurves._base.errors import InputError
from costcurves._base.validation import shown
from costcurves.displays._style import AS_IS, ROW_WIDTH, Margins, needed, set_margins, wrapped

# Artists below this order are backgrounds and guides, such as a diagonal. Those above it show data.
DATA = 1.5
# The most letters of a line of a legend below the axes, and of one in small axes.
_WIDEST, _NARROW = 48, 22
# The distance of words from data, in points, and the smallest size of letters.
_APART, _SMALLEST = 2.0, 5.0
# Axes that are lower than this, in inches, are small.
_SMALL = 1.6
# The part of the height of given axes that remains for the data if the legend is placed below them.
_KEPT = 0.6
_PIECES = 5  # the boxes along a text that is rotated
_CORNERS = ("upper right", "upper left", "lower right", "lower left", "upper center", "lower center", "center")
# A legend that exceeds these numbers of lines or letters is not tried among the curves.
_MOST_LABELS, _LONG = 7, 40


@dataclass(slots=True)
class Label:
    """Words beside the artist that they describe. If all places cover data, the legend shows them instead."""

    text: Any
    places: Sequence[dict[str, Any]]
    artist: Any
    words: str
    in_legend: bool = False


@dataclass(slots=True)
class Words:
    """The legend and the labels of a figure, which are placed after everything else has been drawn."""

    legend: Any = False
    place: str = "upper right"
    # Names are shown even if they begin with an underscore, which hides other labels.
    names: Sequence[str] = ()
    labels: Sequence[Label] = ()
    # The names of rows, beside the y-axis.
    rows: Sequence[str] = ()


def beside(*distances: float) -> list[dict[str, Any]]:
    """List places around a point at these distances in points: below and above, to the right and to the left."""
    places = []
    for away in distances:
        for side, x in (("left", away), ("right", -away), ("center", 0.0)):
            places += [
                {"position": (x, -away), "ha": side, "va": "top"},
                {"position": (x, away), "ha": side, "va": "bottom"},
            ]
    return places


def label_each(ax: Any, artists: Sequence[Any], words: str) -> None:
    """Explain artists that look alike by one entry of the legend, unless an earlier display on the axes did."""
    known = {one.get_label() for one in (*ax.lines, *ax.patches, *ax.collections)}
    if artists and words not in known:
        artists[0].set_label(words)


def settle(ax: Any, words: Words | None, *, own: bool, margins: Margins | None) -> Any:
    """Place the words of a figure that is complete apart from them, and return its legend or None.

    The positions of the axes must be known before words can be measured, so the layout is computed first. A figure of
    our own grows if its legend is placed below the axes. Other figures keep their size.
    """
    _fit_axis_labels(ax, ax.child_axes)  # long labels of second axes would leave no room for the axes
    _lay_out(ax)
    rows = () if words is None else words.rows
    _fit_rows(ax, rows)
    if _fit_axis_labels(ax):
        _fit_rows(ax, rows)
    if words is None:
        return None
    _settle_labels(ax, words.labels)
    height = ax.get_window_extent().height
    legend = _add_legend(ax, words, own, height)
    below = legend is not None and _is_below(legend)
    if below and not own:  # the axes have become smaller
        _lay_out(ax)
        changed = _fit_axis_labels(ax)
        if _settle_labels(ax, words.labels) or changed:
            legend = _add_legend(ax, replace(words, legend="below"), own, height)
    elif below:
        _grow_for(ax, legend, margins)
    inside = legend is not None and words.legend is True and not below

    def again(_: Any) -> None:
        """Place the words again after the limits of the axes have been changed."""
        for label in words.labels:
            if label.text.axes is ax and not label.in_legend:
                _settle_label(ax, label)
        if inside and ax.get_legend() is legend:
            _best_corner(ax, legend, words.place)

    for event in ("xlim_changed", "ylim_changed"):
        ax.callbacks.connect(event, again)
    return legend


def _lay_out(ax: Any) -> None:
    """Let the figure compute the positions of its axes."""
    figure = ax.figure.canvas.figure
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
    else:
        ax.apply_aspect()


def covered(ax: Any, box: Any, but: Any = None) -> tuple[int, int]:
    """Count what lies under a box (in pixels): artists that show data and other words, and guides."""
    data = guides = 0
    for artist in (*ax.lines, *ax.collections, *ax.patches):
        if artist.get_visible() and _crosses(artist, box):
            data, guides = (data + 1, guides) if artist.get_zorder() >= DATA else (data, guides + 1)
    for text in ax.texts:
        if text is not but and text.get_visible() and text.get_text():
            data += bool(box.overlaps(text.get_window_extent()))
    return data, guides


def _crosses(artist: Any, box: Any) -> bool:
    """Say whether an artist passes through a box."""
    transform = artist.get_transform()
    if hasattr(artist, "get_xydata") and artist.get_linestyle() in ("None", "none", " ", ""):
        around = box.padded(0.5 * artist.get_markersize() * artist.figure.dpi / 72)
        return bool(around.count_contains(transform.transform(artist.get_xydata())))
    paths = artist.get_paths() if hasattr(artist, "get_paths") else [artist.get_path()]
    face = getattr(artist, "get_facecolor", lambda: ())()
    filled = not hasattr(artist, "get_xydata") and len(face) > 0 and bool(_alpha(face) > 0)
    return any(len(path) and transform.transform_path(path).intersects_bbox(box, filled) for path in paths)


def _alpha(face: Any) -> float:
    """The opacity of a face colour, or of the first of several."""
    return float(face[0][3] if hasattr(face[0], "__len__") else face[3])


def _padded(ax: Any, box: Any) -> Any:
    return box.padded(_APART * ax.figure.dpi / 72)


def _within(ax: Any, box: Any) -> bool:
    """Say whether a box lies inside the axes, up to a pixel."""
    around = ax.get_window_extent().padded(1.0)
    inside: bool = around.x0 <= box.x0 and box.x1 <= around.x1 and around.y0 <= box.y0 and box.y1 <= around.y1
    return inside


def _settle_labels(ax: Any, labels: Sequence[Label]) -> bool:
    """Place labels, and say whether some of them had to be moved to the legend."""
    moved = [label for label in labels if not label.in_legend and not _settle_label(ax, label)]
    for label in moved:
        label.artist.set_label(label.words)
        label.in_legend = True
    return bool(moved)


def _boxes(text: Any) -> list[Any]:
    """The box of a text in pixels, or several along a text that is rotated."""
    box, angle = text.get_window_extent(), math.radians(text.get_rotation())
    if abs(math.sin(2 * angle)) < 0.1:
        return [box]
    transforms = needed("matplotlib.transforms", "plot")
    wide, high = box.width / _PIECES, box.height / _PIECES
    around = 0.4 * text.get_fontsize() * text.figure.dpi / 72
    rows = range(_PIECES) if math.sin(angle) > 0 else range(_PIECES - 1, -1, -1)
    return [
        transforms.Bbox.from_bounds(box.x0 + i * wide, box.y0 + row * high, wide, high).padded(around)
        for i, row in enumerate(rows)
    ]


def _settle_label(ax: Any, label: Label) -> bool:
    """Move a label to its first place without data and guides, or without data, and hide it if there is none."""
    label.text.set_visible(True)
    allowed = []
    for place in label.places:
        label.text.set(**place)
        counts = [covered(ax, box, label.text) for box in _boxes(label.text)]
        data, guides = (sum(column) for column in zip(*counts, strict=True))
        if data or not _within(ax, label.text.get_window_extent()):
            continue
        if not guides:
            return True
        allowed.append(place)
    if allowed:
        label.text.set(**allowed[0])
        return True
    label.text.set_visible(False)
    return False


# Legends ----------------------------------------------------------------------------------------------------


def check_legend(legend: Any) -> Any:
    """Check an option `legend`, which is True, False or the name of a place."""
    if not isinstance(legend, (bool, str)):
        raise InputError(f"`legend` must be True, False or a place such as 'upper left', got {shown(legend)}")
    codes = needed("matplotlib.legend", "plot").Legend.codes
    if isinstance(legend, str) and legend != "below" and legend not in codes:
        raise InputError(
            f"`legend` must be True, False or a place such as 'upper left' or 'below', got {shown(legend)}"
        )
    return legend


def _add_legend(ax: Any, words: Words, own: bool, height: float) -> Any:
    """Add a legend of everything that has a label, in a corner without data, below the axes, or at a given place.

    `height` is that of the axes without a legend, in pixels.
    """
    legend = check_legend(words.legend)
    handles = _labelled(ax, words.names)
    if legend is False or not handles:
        return None
    labels = [wrapped(one.get_label(), _WIDEST) for one in handles]
    if isinstance(legend, str) and legend != "below":
        return _make(ax, handles, labels, loc=legend)
    longest = max(len(line) for label in labels for line in label.split("\n"))
    if legend is True and len(labels) <= _MOST_LABELS and longest <= _LONG:
        made = _make(ax, handles, labels, loc=words.place)
        if _best_corner(ax, made, words.place):
            return made
    named = sum(one.get_label() in words.names for one in handles)
    return _below(ax, handles, labels, None if own else height, named)


def _labelled(ax: Any, names: Sequence[str]) -> list[Any]:
    """List what belongs in the legend: what has a name, then what is explained, each in the order of drawing."""
    place = {id(artist): i for i, artist in enumerate(ax.get_children())}
    hidden = [one for one in (*ax.lines, *ax.patches, *ax.collections) if one.get_label() in names]
    found = {id(one): one for one in (*ax.get_legend_handles_labels()[0], *hidden)}
    return sorted(found.values(), key=lambda one: (one.get_label() not in names, place.get(id(one), len(place))))


def _make(ax: Any, handles: Any, labels: Sequence[str], **options: Any) -> Any:
    """Make a legend whose words are drawn literally."""
    made = ax.legend(handles, [" "] * len(labels), **options)
    for text, label in zip(made.get_texts(), labels, strict=True):
        text.set(text=label, **AS_IS)
    return made


def _best_corner(ax: Any, legend: Any, first: str) -> bool:
    """Move a legend to the corner where it covers least, and say whether it covers no data there."""
    found: list[tuple[int, int, int, str]] = []
    for place in dict.fromkeys([first, *_CORNERS]):
        legend.set_loc(place)
        box = legend.get_window_extent()
        data, guides = covered(ax, _padded(ax, box))
        found.append((data + 100 * (not _within(ax, box)), guides, len(found), place))
        if not (data or guides) and _within(ax, box):
            return True
    least = min(found)
    legend.set_loc(least[-1])
    return least[0] == 0


def _is_below(legend: Any) -> bool:
    return bool(legend.get_bbox_to_anchor().y1 < legend.axes.get_window_extent().y0)


def _below(ax: Any, handles: Any, labels: Sequence[str], height: float | None, named: int) -> Any:
    """Add a legend under the label of the x-axis, in as many columns as fit.

    In a figure that cannot grow, axes have a `height`. Letters become smaller and names are cut if the legend would
    take more than a part of it. Then explanations are left out, and names only if they would take more than half.
    """
    alone = ax.figure.axes == [ax]
    dots = ax.figure.dpi
    room = (ax.figure.bbox if alone else ax.get_window_extent()).width
    full = min(float(ax.xaxis.get_label().get_fontsize()), _rc("legend.fontsize"))
    made = _in_columns(ax, handles, labels, room, {"fontsize": full})
    if height is not None and made.get_window_extent().height > height * (1 - _KEPT):
        short = [_cut(label, _NARROW, 1) for label in labels]
        small = {"fontsize": _SMALLEST, "labelspacing": 0.2, "handlelength": 1.8, "columnspacing": 0.8}
        made = _in_columns(ax, handles, short, room, small)
        line = _SMALLEST * 1.35 * dots / 72
        wanted = max(height * (1 - _KEPT), min(0.55 * height, math.ceil((named + 1) / made._ncols) * line))
        lines = max(1, int(wanted / line)) * made._ncols
        if len(labels) > lines:
            rest = needed("matplotlib.lines", "plot").Line2D([], [], linestyle="none")
            handles, short = [*handles[: lines - 1], rest], [*short[: lines - 1], f"and {len(labels) - lines + 1} more"]
            made = _in_columns(ax, handles, short, room, small)
    if height is not None and ax.figure.canvas.figure.get_layout_engine() is None:
        _take_room(ax, made)
    return made


def _in_columns(ax: Any, handles: Any, labels: Sequence[str], room: float, options: dict[str, Any]) -> Any:
    """Add a legend below the axes with the largest number of columns that is not wider than `room`."""
    transforms = needed("matplotlib.transforms", "plot")
    under = ax.transAxes + transforms.ScaledTranslation(0, -_under(ax), ax.figure.dpi_scale_trans)
    across = ax.figure.transFigure if ax.figure.axes == [ax] else ax.transAxes
    where = transforms.blended_transform_factory(across, under)
    for columns in range(min(3, len(labels)), 0, -1):
        options = {"columnspacing": 1.2, **options, "ncols": columns}
        made = _make(
            ax, handles, labels, loc="upper center", bbox_to_anchor=(0.5, 0.0), bbox_transform=where, **options
        )
        if made.get_window_extent().width <= room:
            break
    return made


def _under(ax: Any) -> float:
    """The height of tick labels and of the label of the x-axis, in inches. Axes that are switched off have none."""
    if not ax.axison:
        corners = [text.get_window_extent().y0 for text in ax.texts if text.get_visible()]
        return max([0.02, *(float(ax.get_window_extent().y0 - low) / float(ax.figure.dpi) for low in corners)])
    box = ax.xaxis.get_tightbbox(ax.figure.canvas.get_renderer())
    return float(ax.get_window_extent().y0 - box.y0) / float(ax.figure.dpi) + 0.02


def _take_room(ax: Any, legend: Any) -> None:
    """Raise the lower edge of axes whose figure has no layout, so that a legend below them is within the figure."""
    missing = -legend.get_window_extent().y0 / ax.figure.bbox.height
    if missing > 0:
        at = ax.get_position(original=True)
        ax.set_position([at.x0, at.y0 + missing, at.width, max(at.height - missing, 0.1)])


def _grow_for(ax: Any, legend: Any, margins: Margins | None) -> None:
    """Make one of our figures higher, so that there is room for its legend below the axes."""
    inches = legend.get_window_extent().height / ax.figure.dpi + 0.06
    ax.figure.set_figheight(ax.figure.get_figheight() + inches)
    if margins is not None:
        left, right, bottom, top = margins
        set_margins(ax.figure, (left, right, bottom + inches, top))


def _rc(name: str) -> float:
    """A size of letters among matplotlib's settings, in points."""
    manager = needed("matplotlib.font_manager", "plot")
    setting = needed("matplotlib", "plot").rcParams[name]
    return float(manager.FontProperties(size=setting).get_size_in_points())


# The words of the axes --------------------------------------------------------------------------------------


def _fit_axis_labels(ax: Any, among: Sequence[Any] | None = None) -> bool:
    """Wrap labels that are longer than their axis, or make their letters smaller, and say whether that was needed."""
    changed = False
    small = ax.get_window_extent().height < _SMALL * ax.figure.dpi
    for one in ((ax, *ax.child_axes) if among is None else among) if ax.axison else ():
        for label, side in ((one.xaxis.label, "width"), (one.yaxis.label, "height")):
            # A label may be a little longer than its axis.
            room, long = 1.1 * getattr(ax.get_window_extent(), side), getattr(label.get_window_extent(), side)
            if not label.get_text() or long <= room:
                continue
            if small:  # lines of text would take the height that the data need
                label.set_fontsize(max(_SMALLEST + 1, min(label.get_fontsize(), label.get_fontsize() * room / long)))
                changed, long = True, getattr(label.get_window_extent(), side)
                if long <= room:
                    continue
            text, lines = label.get_text(), 2 + label.get_text().count("\n")
            letters = int(max(map(len, text.split("\n"))) * room / long)
            label.set_text(_cut(text.replace("\n", " "), max(letters, len(text) // lines + 6), lines))
            long = getattr(label.get_window_extent(), side)
            if long > 1.1 * room:
                label.set_fontsize(max(_SMALLEST, label.get_fontsize() * room / long))
            changed = True
    if changed and among is None:
        _lay_out(ax)
    return changed


def _fit_rows(ax: Any, names: Sequence[str]) -> None:
    """Write the names of rows in two lines, or in one if rows are narrow, and cut those that need too much width."""
    labels = ax.get_yticklabels()
    if not names or not labels:  # axes that share those of others show no labels
        return
    dots = ax.figure.dpi / 72
    height = 0.9 * ax.get_window_extent().height / len(names) / dots
    width = (0.4 * ax.figure.bbox.width if ax.figure.axes == [ax] else 0.7 * ax.get_window_extent().width) / dots
    size = float(labels[0].get_fontsize())
    lines = 2 if height > 2.5 * size else 1
    size = min(size, max(_SMALLEST - 1, height / 1.2))
    letters = max(6, int(width / (0.62 * size)))
    short = [_cut(name, min(letters, ROW_WIDTH if lines == 2 else letters), lines) for name in names]
    ax.set_yticks(range(len(names)), short, fontsize=size, **AS_IS)
    for text in ax.texts:
        text.set_fontsize(min(text.get_fontsize(), 0.75 * height))
    _lay_out(ax)


def _cut(text: str, letters: int, lines: int) -> str:
    """Break a text into lines of limited length, and cut off what does not fit."""
    parts = [part for line in text.split("\n") for part in (textwrap.wrap(line, letters) or [line])]
    if len(parts) > lines:
        last = " ".join(parts[lines - 1 :])
        parts = [*parts[: lines - 1], f"{last[: letters - 1]}…"]
    return "\n".join(parts)
