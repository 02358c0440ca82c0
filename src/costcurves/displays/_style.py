"""The common style of all figures: colours, line styles, sizes, legends, and reproducible files."""

from __future__ import annotations

import io
import os
import textwrap
import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from pathlib import Path
from typing import Any

from costcurves._base.errors import InputError, MissingExtraError
from costcurves._base.files import write_atomically
from costcurves._base.validation import check_name, check_path, check_positive, check_unique, is_among, items_of, shown

# Colours that remain distinguishable with every common kind of colour blindness (Okabe and Ito 2008). The order is the
# same in all figures.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9")
# Each colour has its own dashes and hatching, so that it is also distinguishable in greyscale.
DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.2)),
    (0, (1.2, 1)),
    (0, (6, 1.2, 1.2, 1.2)),
    (0, (9, 2)),
    (0, (3, 1, 1, 1, 1, 1)),
)
MARKERS = ("o", "s", "^", "D", "v", "P")
HATCHES = ("", "////", "....", "\\\\\\\\", "xxxx", "||||")
INK = "#000000"
GREY = "#6B6B6B"
PALE = "#E9E9E9"
# The width of a journal column, in inches.
COLUMN = 3.4
FORMATS = ("svg", "png", "pdf")
# Pictures in notebooks have this many dots per inch on the screen, and twice as many in the file.
SCREEN_DPI = 96

_TICKS = 7.0
# The most letters of a line of a label beside a row of bars.
ROW_WIDTH = 22
# Names are drawn literally: a dollar sign does not begin a formula.
AS_IS: dict[str, Any] = {"parse_math": False}
_SETTINGS: dict[str, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 8.0,
    "axes.labelsize": 8.0,
    "axes.titlesize": 8.5,
    "axes.titlelocation": "left",
    "axes.linewidth": 0.7,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "legend.fontsize": 7.0,
    "legend.frameon": False,
    "legend.handlelength": 2.4,
    "legend.borderaxespad": 0.3,
    "legend.labelspacing": 0.3,
    "xtick.labelsize": _TICKS,
    "ytick.labelsize": _TICKS,
    "lines.linewidth": 1.4,
    "hatch.linewidth": 0.5,
}


# The settings of matplotlib are global to the process, so only one thread at a time changes and restores them.
_SETTINGS_LOCK = threading.RLock()


def needed(module: str, extra: str) -> Any:
    """Import a module of an extra, or raise an error that says what to install."""
    try:
        return import_module(module)
    except ImportError:
        library = module.split(".")[0]
        raise MissingExtraError(f'`{library}` is needed for this: pip install "costcurves[{extra}]"') from None


def pyplot() -> Any:
    """Import matplotlib.pyplot."""
    return needed("matplotlib.pyplot", "plot")


@contextmanager
def _settings(wanted: Mapping[str, Any]) -> Iterator[None]:
    """Change matplotlib's settings temporarily, in one thread at a time."""
    with _SETTINGS_LOCK, pyplot().rc_context(dict(wanted)):
        yield


@contextmanager
def figure_style() -> Iterator[None]:
    """Use the style of the displays for your own figures, such as several displays side by side.

    Displays that draw on given axes use the current settings, and those that draw on a new figure use these. All
    settings are restored afterwards.

    Examples
    --------
    >>> import matplotlib.pyplot as plt
    >>> import costcurves as cc
    >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.9, name="C")])
    >>> with cc.figure_style():
    ...     figure, (left, right) = plt.subplots(1, 2, figsize=(6.8, 3), layout="constrained")
    ...     roc = cc.RocHullDisplay.from_results(hull, ax=left)
    ...     cost = cc.CostCurveDisplay.from_results(hull.roc_curves(), ax=right)
    >>> roc.figure_ is cost.figure_
    True
    >>> plt.close(figure)
    """
    with _settings(_SETTINGS):
        yield


def check_axes(ax: Any) -> Any:
    """Check that `ax` are matplotlib axes with two straight axes, and return them."""
    axes = needed("matplotlib.axes", "plot")
    if not isinstance(ax, axes.Axes):
        hint = ": pass one of them" if hasattr(ax, "__len__") else ""
        raise InputError(f"`ax` must be a matplotlib Axes or None, got {shown(ax)} ({type(ax).__name__}){hint}")
    if ax.name != "rectilinear":
        raise InputError(f"`ax` must have two straight axes, got a {ax.name} projection")
    return ax


# The space for labels around square axes, in inches: left, right, bottom, top.
Margins = tuple[float, float, float, float]


@contextmanager
def canvas(ax: Any, size: tuple[float, float], margins: Margins | None = None) -> Iterator[Any]:
    """Provide the axes to draw on: the user's axes with the user's settings, or a new figure with our settings.

    The layout of a new figure is computed by matplotlib, or has fixed margins. matplotlib's layout moves square axes a
    little with every drawing, so that no two files would be the same. A new figure is closed if drawing fails.
    """
    plt = pyplot()
    if ax is not None:
        yield check_axes(ax)
        return
    with _settings(_SETTINGS):
        figure, axes = plt.subplots(figsize=size, layout="constrained" if margins is None else "none")
        set_margins(figure, margins)
        # Ticks are created when the figure is drawn, after the settings have been restored.
        axes.tick_params(labelsize=_TICKS, width=0.7, length=3.0)
        try:
            yield axes
        except BaseException:
            plt.close(figure)
            raise


def set_margins(figure: Any, margins: Margins | None) -> None:
    """Place the axes of a figure at distances in inches from its edges."""
    if margins is not None:
        width, height = figure.get_size_inches()
        left, right, bottom, top = margins
        figure.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height)


def look(index: int) -> dict[str, Any]:
    """The colour and the dashes of the classifier at a position. After the sixth, the dashes change."""
    turn, place = divmod(index, len(PALETTE))
    return {"color": PALETTE[place], "linestyle": DASHES[(place + turn) % len(DASHES)]}


def marker(index: int) -> str:
    """The marker of the classifier at a position."""
    turn, place = divmod(index, len(PALETTE))
    return MARKERS[(place + turn) % len(MARKERS)]


def bar_look(index: int) -> dict[str, Any]:
    """The colour and the hatching of a classifier's bars and areas."""
    turn, place = divmod(index, len(PALETTE))
    return {
        "facecolor": PALETTE[place],
        "edgecolor": "white",
        "hatch": HATCHES[(place + turn) % len(HATCHES)],
        "linewidth": 0.5,
    }


def drawn_before(ax: Any) -> int:
    """Count the named lines in our colours on given axes, so that further lines continue the sequence."""
    if ax is None:
        return 0
    return sum(line.get_color() in PALETTE and not line.get_label().startswith("_") for line in check_axes(ax).lines)


def line_options(names: Sequence[str], curve_kwargs: Any, ax: Any = None) -> dict[str, dict[str, Any]]:
    """Find the properties of each classifier's line: the defaults, overridden by those of the user.

    `curve_kwargs` is one dict for all lines, a list with one for each, or a mapping of names to dicts. A second display
    on the same axes continues the sequence of colours of the first.
    """
    if curve_kwargs is None:
        wishes: dict[str, Any] = {}
    elif isinstance(curve_kwargs, Mapping):
        several = bool(curve_kwargs) and all(isinstance(value, Mapping) for value in curve_kwargs.values())
        wishes = dict(curve_kwargs) if several else dict.fromkeys(names, curve_kwargs)
        if strange := [name for name in wishes if name not in names]:
            raise InputError(f"`curve_kwargs` must have only names of {_listed(names)}, got {shown(strange[0])}")
    elif isinstance(curve_kwargs, (list, tuple)):
        if len(curve_kwargs) != len(names):
            raise InputError(f"`curve_kwargs` must be one for each of {len(names)} curves, got {len(curve_kwargs)}")
        wishes = dict(zip(names, curve_kwargs, strict=True))
    else:
        raise InputError(f"`curve_kwargs` must be a dict or a list of dicts, got {shown(curve_kwargs)}")
    cbook, lines = needed("matplotlib.cbook", "plot"), needed("matplotlib.lines", "plot")
    options = {}
    for index, name in enumerate(names, drawn_before(ax)):
        wish = wishes.get(name, {})
        if not isinstance(wish, Mapping):
            raise InputError(f"`curve_kwargs` must be a dict or a list of dicts, got {shown(wish)}")
        try:
            wish = cbook.normalize_kwargs(dict(wish), lines.Line2D)
        except TypeError as error:  # the same setting under two names
            raise InputError(f"`curve_kwargs` must have each setting once, got {error}") from None
        if strange := [key for key in wish if not hasattr(lines.Line2D, f"set_{key}")]:
            raise InputError(f"`curve_kwargs` must have settings of matplotlib's lines, got {shown(strange[0])}")
        options[name] = {**look(index), "label": name, **wish}
    return options


def by_name(what: str, given: Any, kind: type, names: Callable[[list[Any]], list[str]] | None = None) -> dict[str, Any]:
    """Return results of one kind by name, given as one result, a sequence (named by `names`) or a mapping."""
    if isinstance(given, kind):
        given = [given]
    if not isinstance(given, (Mapping, Sequence)) or isinstance(given, str) or not given:
        raise InputError(f"`{what}` must be {kind.__name__}s, got {shown(given)} ({type(given).__name__})")
    listed = list(given.values()) if isinstance(given, Mapping) else list(given)
    for one in listed:
        if not isinstance(one, kind):
            raise InputError(f"`{what}` must be {kind.__name__}s, got {shown(one)} ({type(one).__name__})")
    if isinstance(given, Mapping):
        keys = [check_name(what, key) for key in given]
    else:
        keys = [one.name for one in listed] if names is None else names(listed)
    check_unique(keys, what)
    return dict(zip(keys, listed, strict=True))


def one_or_all(artists: list[Any]) -> Any:
    """Return a single artist itself, several artists as a list, and None if there are none."""
    return None if not artists else artists[0] if len(artists) == 1 else artists


def chosen(names: Any, known: Sequence[str]) -> tuple[str, ...]:
    """Return the requested names, or all names."""
    if names is None:
        return tuple(known)
    if not isinstance(names, Iterable):
        raise InputError(f"`names` must be a name or a list of names, got {shown(names)} ({type(names).__name__})")
    wanted = (names,) if isinstance(names, str) else tuple(items_of(names))
    for name in wanted:
        if not is_among(name, known):
            raise InputError(f"`names` must be among {_listed(known)}, got {shown(name)}")
    if not wanted or len(set(wanted)) < len(wanted):
        raise InputError(f"`names` must be different and not empty, got {shown(list(wanted))}")
    return wanted


def _listed(names: Sequence[str]) -> str:
    return ", ".join(repr(name) for name in names)


def whole_markers(ax: Any, line: Any) -> Any:
    """Draw markers at the edges of the axes completely, but none outside of the current view."""
    transforms = needed("matplotlib.transforms", "plot")
    line.set_clip_box(transforms.TransformedBbox(transforms.Bbox([[-0.03, -0.03], [1.03, 1.03]]), ax.transAxes))
    return line


def wrapped(text: str, width: int) -> str:
    """Wrap a text to lines of at most `width` letters, and cut it after the third line."""
    lines = []
    for line in text.split("\n"):
        lines += textwrap.wrap(line, width, max_lines=3, placeholder=" …") if len(line) > width else [line]
    return "\n".join(lines)


def save_figure(figure: Any, path: str | os.PathLike[str], *, dpi: float = 300.0) -> Path:
    """Write a figure as SVG, PNG or PDF, completely or not at all. The same figure gives the same bytes."""
    target = Path(check_path(path))
    kind = target.suffix.lower().removeprefix(".")
    if kind not in FORMATS:
        raise InputError(f"`path` must end in .svg, .png or .pdf, got {shown(target.name)}")
    write_atomically(target, figure_bytes(figure, kind, dpi))
    return target


def figure_bytes(figure: Any, kind: str, dpi: float) -> bytes:
    """Draw a figure as SVG, PNG or PDF. The same figure gives the same bytes."""
    # Files contain no dates and no versions, and the ids of an SVG are derived from its content.
    silent = {"svg": {"Date": None}, "png": {"Software": None}, "pdf": {"CreationDate": None, "Producer": None}}
    for ax in figure.axes:
        # The layout starts from the current position of the axes. It is reset, so that the result does not depend on
        # earlier drawings.
        if figure.get_layout_engine() is not None and ax.get_subplotspec() is not None:
            ax.set_subplotspec(ax.get_subplotspec())
    content = io.BytesIO()
    with _settings({"svg.hashsalt": "costcurves"}):
        figure.savefig(content, format=kind, dpi=check_positive("dpi", dpi), metadata=silent[kind])
    return content.getvalue()


def shown_as_pictures() -> bool:
    """Say whether figures are shown as pictures in a notebook, and not in windows of their own."""
    backend = needed("matplotlib", "plot").get_backend().lower()
    return "inline" in backend or backend == "agg"
