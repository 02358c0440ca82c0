"""A file of classifiers makes the hull of those that are in it, whatever was added, removed and merged before."""

from __future__ import annotations

import json

import numpy as np
import pytest

import costcurves as cc
from costcurves.curves.hull_file import HullFile, Origin
from laws import random_worlds

EMPTY = HullFile((), {}, {})


def origin(source: str = "t.csv", positive: str = "1") -> Origin:
    return Origin(source, 10, 4, positive, "2026-11-18T00:00:00Z")


def some_curves(rng: np.random.Generator, number: int) -> dict[str, cc.RocCurve]:
    y = rng.random(60) < 0.4
    y[:2] = [True, False]
    return {
        f"c{i}": cc.RocCurve.from_predictions(y, np.round(y * rng.uniform(0, 3) + rng.normal(size=60), 1), name=f"c{i}")
        for i in range(number)
    }


def same_decisions(file: HullFile, curves: list[cc.RocCurve]) -> None:
    """Check that a file, as it is read back, decides as the hull of the curves does."""
    found, wanted = cc.RocHull.from_json_text(file.text), cc.RocHull(curves)
    assert file.names == found.names
    assert sorted(found.names) == sorted(wanted.names)
    assert found.fpr.tolist() == wanted.fpr.tolist()
    assert found.tpr.tolist() == wanted.tpr.tolist()
    assert found.owners == wanted.owners
    for pc in np.linspace(0, 1, 21):
        a, b = found.best(pc), wanted.best(pc)
        assert (a.classifier, a.threshold, a.normalized_cost) == (b.classifier, b.threshold, b.normalized_cost)
        assert a.regret == pytest.approx(b.regret, abs=1e-12)


@pytest.mark.law
def test_a_file_decides_as_the_hull_of_what_is_in_it():
    for rng in random_worlds(12, stream=1820):
        curves = some_curves(rng, 5)
        first = EMPTY.added([curves["c0"], curves["c1"]], {"c0": origin(), "c1": origin()})
        second = HullFile.of_text(first.text).added([curves["c2"].on_hull()], {"c2": origin("u.csv")})
        same_decisions(second, [curves[f"c{i}"] for i in range(3)])
        other = EMPTY.added([curves["c3"], curves["c4"], curves["c0"]], dict.fromkeys(("c3", "c4", "c0"), origin()))
        merged = HullFile.of_text(second.text).merged(HullFile.of_text(other.text))
        same_decisions(merged, list(curves.values()))
        gone = [f"c{i}" for i in np.flatnonzero(rng.random(5) < 0.5)][:4]
        left = HullFile.of_text(merged.text).removed(gone)
        same_decisions(left, [curve for name, curve in curves.items() if name not in gone])
        assert left.origins == {name: one for name, one in merged.origins.items() if name not in gone}
        assert HullFile.of_text(left.text).text == left.text


def test_names_that_are_taken_or_unknown_are_refused():
    curves = some_curves(np.random.default_rng(0), 2)
    file = EMPTY.added(curves.values(), dict.fromkeys(curves, origin()))
    with pytest.raises(cc.InputError, match="`names` must be new, got 'c0', which is there already"):
        file.added([curves["c0"]], {"c0": origin()})
    other = EMPTY.added([curves["c1"].renamed("c0")], {"c0": origin()})
    with pytest.raises(cc.InputError, match="`names` must be new, got 'c0'"):
        file.merged(other)
    with pytest.raises(cc.InputError, match="`names` must be among 'c0', 'c1', got 'x'"):
        file.removed(["x"])
    with pytest.raises(cc.InputError, match="`names` must leave at least one classifier"):
        file.removed(["c0", "c1"])


def test_what_is_no_longer_known_cannot_be_brought_back():
    curves = some_curves(np.random.default_rng(0), 3)
    old = HullFile.of_text(cc.RocHull(list(curves.values())).to_json())
    assert old.origins == {}
    with pytest.raises(cc.InputError, match="points of 'c1' that did not matter beside them were not kept"):
        old.removed(["c0"])
    # What was added later may be removed if nothing is lost by it: all that is left has an origin.
    new = curves["c0"].renamed("new")
    both = old.added([new], {"new": origin()})
    same_decisions(both, [*curves.values(), new])
    assert both.removed(["c0", "c1", "c2"]).names == ("new",)


@pytest.mark.parametrize(
    "origins", [[], {"x": {}}, {"c0": 3}, {"c0": {"source": "t", "rows": "9", "positives": 4, "positive": "1"}}]
)
def test_broken_origins_are_refused(origins):
    curves = some_curves(np.random.default_rng(0), 1)
    document = json.loads(EMPTY.added(curves.values(), {"c0": origin()}).text)
    document["origins"] = origins
    with pytest.raises(cc.FormatError, match="`origins` must "):
        HullFile.of_text(json.dumps(document))
