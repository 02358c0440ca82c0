"""Pictures by their structure: what is drawn, in which look, with which words; and the gallery runs."""

from __future__ import annotations

import ast
import runpy
import shutil
import sys
from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex

import costcurves as cc
from costcurves.displays._style import PALETTE, bar_look, look, marker
from displays_data import CASES, hull

ROOT = Path(__file__).parent.parent.parent
GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))
HERE = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
SPAN = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
# Every option that adds something to the picture.
FULL = {
    "cost": {
        "level": 0.9,
        "lines": True,
        "envelope": True,
        "operating_range": True,
        "crossings": True,
        "condition": [SPAN, hull().best(HERE)],
        "secondary_axis": "prevalence",
        "money_axis": True,
        "n_resamples": 20,
    },
    "roc": {"condition": [HERE, SPAN], "null_strategy": True, "crossings": True},
    "averaged": {"with_folds": True, "condition": 0.4},
    "difference": {"with_curves": True, "condition": HERE, "secondary_axis": "cost ratio"},
    "dominance": {"condition": SPAN},
    "regret": {"condition": HERE, "secondary_axis": "slope"},
    "coverage": {},
    "power": {},
    "threshold": {"condition": HERE, "threshold_set": 0.9},
    "simplex": {"mark": {"even": [1 / 3, 1 / 3, 1 / 3]}},
}


def words(artist) -> str:
    """Return one line on an artist: its kind, its words, its colour and how much it shows."""
    kind, label = type(artist).__name__, artist.get_label()
    name = f" {label!r}" if label and not label.startswith("_") else ""
    if hasattr(artist, "get_text"):
        return f"{kind} {artist.get_text()!r}"
    if kind == "AxLine":
        return f"{kind}{name} slope {artist.get_slope():.3f}"
    if hasattr(artist, "get_xydata"):
        return f"{kind}{name} {to_hex(artist.get_color())} {len(artist.get_xydata())} points"
    if hasattr(artist, "get_paths"):
        return f"{kind}{name} {len(artist.get_paths())} paths"
    return f"{kind}{name} {to_hex(artist.get_facecolor())} {len(artist.get_path().vertices)} corners"


def structure(display) -> list[str]:
    """Return what a figure consists of, from axis labels to artists."""
    ax = display.ax_
    lines = [f"x {ax.get_xlabel()!r} {np.round(ax.get_xlim(), 3).tolist()}"]
    lines.append(f"y {ax.get_ylabel()!r} {np.round(ax.get_ylim(), 3).tolist()}")
    lines += [f"second axis {child.get_xlabel() or child.get_ylabel()!r}" for child in ax.child_axes]
    lines += [words(artist) for group in (ax.lines, ax.collections, ax.patches, ax.texts) for artist in group]
    legend = ax.get_legend()
    return lines + ([f"legend {[text.get_text() for text in legend.get_texts()]}"] if legend else [])


def drawn() -> dict[str, list[str]]:
    """Return the structure of every display, with all there is to see."""
    pictures = {}
    for name, case in CASES.items():
        display = case.make(**FULL[name])
        pictures[name] = structure(display)
        plt.close(display.figure_)
    return pictures


@pytest.mark.skipif(mpl.__version_info__ < (3, 10), reason="older versions have other classes and measures of texts")
def test_pictures_consist_of_what_they_did():
    # Where a change is wanted: look at the new figure, then run this file to write the new structure.
    expected = ast.literal_eval((Path(__file__).parent / "structures.txt").read_text(encoding="utf-8"))
    found = drawn()
    assert list(found) == list(expected)
    for name in expected:
        assert found[name] == expected[name]


def test_looks_differ_in_colour_and_in_grey():
    looks = [tuple(map(str, look(i).values())) for i in range(36)]
    assert len(set(looks)) == 36
    first = range(len(PALETTE))
    assert len({str(look(i)["linestyle"]) for i in first}) == len(PALETTE)
    assert len({bar_look(i)["hatch"] for i in first}) == len({marker(i) for i in first}) == len(PALETTE)


def test_classifiers_have_one_colour_in_every_figure():
    colours = {}
    for name, case in CASES.items():
        display = case.make()
        if name in ("cost", "roc", "averaged"):
            colours[name] = [to_hex(line.get_color()) for line in display.line_]
        elif name == "dominance":
            colours[name] = [to_hex(display.bar_[n].get_facecolor()[0]) for n in display.names if n in display.bar_]
        elif name == "simplex":
            colours[name] = [to_hex(display.region_[n].get_facecolor()) for n in ("first", "second")]
        plt.close(display.figure_)
    wanted = [colour.lower() for colour in PALETTE[:2]]
    assert all(found == wanted[: len(found)] and found for found in colours.values())


@pytest.mark.parametrize("name", CASES)
def test_words_lie_within_the_figure_at_column_width(name):
    display = CASES[name].make(**FULL[name])
    figure = display.figure_
    figure.canvas.draw()
    renderer = figure.canvas.get_renderer()
    labels = [display.ax_.xaxis.label, display.ax_.yaxis.label, *display.ax_.texts]
    labels += [label for child in display.ax_.child_axes for label in (child.xaxis.label, child.yaxis.label)]
    labels += display.legend_.get_texts() if display.legend_ else []
    box = figure.bbox
    for label in labels:
        if label.get_text() and label.get_visible() and display.ax_.axison:
            around = label.get_window_extent(renderer)
            assert box.x0 - 1 <= around.x0, label.get_text()
            assert around.x1 <= box.x1 + 1, label.get_text()
            assert around.y0 >= box.y0 - 1, label.get_text()
            assert around.y1 <= box.y1 + 1, label.get_text()


@pytest.mark.parametrize(
    ("name", "words"), [("cost", "a name of number {}"), ("roc", "classifier {}, which has a long name")]
)
def test_a_crowded_legend_goes_below_and_the_figure_grows(name, words):
    y, scores = CASES["cost"].predictions()
    many = {words.format(i): scores["wide"] + i * scores["narrow"] for i in range(9)}
    kind = CASES[name].kind
    display = kind.from_predictions(y, many)
    display.figure_.canvas.draw()
    legend, axes = display.legend_.get_window_extent(), display.ax_.get_window_extent()
    assert legend.y1 < axes.y0
    assert legend.y0 >= -1
    assert legend.x0 >= -1
    assert legend.x1 <= display.figure_.bbox.x1 + 1
    assert axes.height > 0.85 * CASES[name].make().ax_.get_window_extent().height
    assert display.figure_.get_figwidth() == 3.4
    _, ax = plt.subplots()
    height = ax.figure.get_figheight()
    assert kind.from_predictions(y, many, ax=ax).figure_.get_figheight() == height
    below = CASES[name].make(legend="below")
    below.figure_.canvas.draw()
    assert below.legend_.get_window_extent().y1 < below.ax_.get_window_extent().y0


@pytest.mark.parametrize("name", ["cost", "roc", "simplex"])
def test_files_do_not_depend_on_what_was_drawn_before(name, tmp_path):
    display = CASES[name].make()
    first = display.save(tmp_path / "a.svg").read_bytes()
    display.figure_.canvas.draw()
    display.save(tmp_path / "a.png", dpi=90)
    assert display.save(tmp_path / "a.svg").read_bytes() == first


def test_long_names_are_broken_into_lines():
    long = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], name="a name of many words")
    text = cc.RocHullDisplay([long]).plot(condition=0.5).point_[1].get_text()
    assert text.splitlines()[0] == "a name of many words"
    table = [[[50, 4], [6, 40]], [[8, 30], [2, 60]]]
    result = cc.compare.from_joint(
        negatives=table[0], positives=table[1], names=("the first of the two", "the second of the two")
    )
    label = cc.CostDifferenceDisplay(result).plot().ax_.get_ylabel()
    assert label == "cost of the first of the two\n− cost of the second of the two"


@pytest.mark.parametrize("path", GALLERY, ids=[path.stem for path in GALLERY])
def test_the_gallery_runs_and_draws_wherever_it_is_downloaded_to(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(plt, "show", lambda: None)
    runpy.run_path(shutil.copy(path, tmp_path))
    assert plt.get_fignums()
    title, line = path.read_text(encoding="utf-8").splitlines()[1:3]
    assert set(line) == {"="}
    assert len(line) == len(title)


def test_the_gallery_shows_every_display():
    text = "\n".join(path.read_text(encoding="utf-8") for path in GALLERY)
    assert [case.kind.__name__ for case in CASES.values() if f"cc.{case.kind.__name__}" not in text] == []


PAPERS = (
    "Provost & Fawcett 1997",
    "Provost, Fawcett & Kohavi 1998",
    "Margineantu & Dietterich 2000",
    "Holte & Drummond 2005",
    "Dugas & Gadoury 2008",
)


def test_the_gallery_shows_the_idea_of_every_paper():
    text = " ".join(path.read_text(encoding="utf-8") for path in GALLERY).replace("\n", " ")
    assert [paper for paper in PAPERS if paper not in text.replace("(", "").replace(")", "")] == []


if __name__ == "__main__":
    lines = ["{"]
    for key, parts in drawn().items():
        lines += [f"  {key!r}: [", *(f"    {part!r}," for part in parts), "  ],"]
    (Path(__file__).parent / "structures.txt").write_text("\n".join([*lines, "}"]) + "\n", encoding="utf-8")
    sys.stdout.write("wrote structures.txt: look at the figures, too\n")
