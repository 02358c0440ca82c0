"""Compiled loops find what NumPy finds, and everything works without them."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

import oracles
from costcurves import compiled
from costcurves.tallies.bins import Coder, ScoreBins, ordered_keys

ROOT = Path(__file__).parents[1]
REALS = (np.float32, np.float64)


def strange_scores(real):
    """Return scores of both signs and all sizes, in no order and with ties."""
    rng = np.random.default_rng(3)
    info = np.finfo(real)
    edges = [0.0, -0.0, info.tiny, -info.tiny, info.smallest_subnormal, info.max, -info.max, 1.0, -1.0]
    parts = (rng.random(5000), rng.normal(0, 1e3, 5000), 10.0 ** rng.uniform(-37, 37, 2000), edges)
    scores = np.concatenate(parts).astype(real)
    return rng.permutation(np.concatenate((scores, -scores[:3000], np.full(700, scores[0]))))


def layouts(real):
    name = np.dtype(real).name
    yield ScoreBins.universal(name, 2**14)
    for sample in (strange_scores(real), np.linspace(0.25, 0.75, 999, dtype=real), np.ones(5, real)):
        yield ScoreBins.from_sample(sample, 2**15)


def bins_of(layout, scores):
    coder = Coder(layout)
    return np.concatenate([coder.codes_of_keys(ordered_keys(part)).copy() for part in np.array_split(scores, 9)])


@pytest.mark.parametrize("real", REALS)
def test_scores_are_counted_in_the_bins_of_numpy(fast, real):
    scores = strange_scores(real)
    positive = np.random.default_rng(4).random(scores.size) < 0.4
    for bins in layouts(real):
        small, carries = np.zeros(2 * bins.size, np.uint8), np.zeros(2 * bins.size, np.uint32)
        fast.count(scores, positive, bins.layout(), small, carries)
        expected = np.bincount(2 * bins_of(bins, scores) + positive, minlength=2 * bins.size)
        assert_array_equal(small + 256 * carries.astype(np.int64), expected)
        assert expected.max() > 256  # some bytes were full
        assert carries.any()


@pytest.mark.parametrize("real", REALS)
def test_scores_in_wanted_bins_are_found(fast, real):
    scores = strange_scores(real)[::2]  # not in one piece
    rng = np.random.default_rng(5)
    for bins in layouts(real):
        for share in (0.0, 0.1, 1.0):
            wanted = np.zeros(64 * -(-bins.size // 64), np.bool_)
            wanted[: bins.size] = rng.random(bins.size) < share
            bits = np.packbits(wanted, bitorder="little").view("<u8").astype(np.uint64)
            place = fast.find(scores, bins.layout(), bits, np.empty(scores.size + 1, np.int64))
            assert_array_equal(place, np.flatnonzero(wanted[bins_of(bins, scores)]))


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), st.sampled_from([1, 2**40]))
def test_hulls_are_those_of_gift_wrapping_also_beyond_the_products_of_an_int64(fast, steps, scale):
    x, y = np.cumsum([(0, 0), *(step for step in steps if any(step))], axis=0, dtype=np.int64).T * scale
    found = fast.upper_hull(x, y)
    points = list(zip(x.tolist(), y.tolist(), strict=True))
    assert [points[i] for i in found] == oracles.hull_by_wrapping(points, points[-1][0], points[-1][1])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=30), st.sampled_from([1, 2**40]))
def test_blocks_above_the_hull_are_those_whose_corner_is(fast, steps, scale):
    x, y = np.cumsum([(0, 0), (1, 1), *(step for step in steps if any(step))], axis=0, dtype=np.int64).T * scale
    hull = fast.upper_hull(x, y)
    expected = []
    for i in range(x.size - 1):
        edge = next(e for e in range(hull.size - 1) if hull[e] <= i < hull[e + 1])
        (x0, x1), (y0, y1) = (values[hull[edge : edge + 2]].tolist() for values in (x, y))
        expected.append((int(y[i + 1]) - y0) * (x1 - x0) > (int(x[i]) - x0) * (y1 - y0))
    assert fast.blocks_above(x, y, hull).tolist() == expected


KEYS = st.lists(st.integers(-4, 4), max_size=12).map(sorted)


@given(KEYS, KEYS)
def test_sorted_keys_are_merged_with_how_often_each_is_there(fast, neg, pos):
    keys, in_neg, in_pos = fast.merge(np.array(neg, np.int64), np.array(pos, np.int64))
    assert keys.tolist() == sorted({*neg, *pos})
    assert in_neg.tolist() == [neg.count(key) for key in keys]
    assert in_pos.tolist() == [pos.count(key) for key in keys]


def test_they_can_be_turned_off():
    code = "import costcurves.compiled as c; raise SystemExit(0 if c.loops() is None else 1)"
    environment = {**os.environ, compiled.SWITCH: "0"}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_a_library_that_is_missing_broken_or_of_another_version_is_not_used(fast, tmp_path, monkeypatch):
    broken = tmp_path / "_loops.so"
    for content in (None, b"not a library"):
        if content is not None:
            broken.write_bytes(content)
        monkeypatch.setattr(compiled, "LIBRARY", broken)
        assert compiled.loops.__wrapped__() is None
    monkeypatch.setattr(compiled, "LIBRARY", Path(fast.path))
    assert compiled.loops.__wrapped__() is not None
    monkeypatch.setattr(compiled, "VERSION", compiled.VERSION + 1)
    assert compiled.loops.__wrapped__() is None


@pytest.mark.skipif(os.environ.get("CI") != "true", reason="elsewhere the package may be used without an install")
@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_an_install_with_a_compiler_has_them():
    assert compiled.loops() is not None


class App:
    """What the build hook tells."""

    def __init__(self):
        self.told = []

    def display_info(self, text):
        self.told.append(text)

    display_warning = display_info


@pytest.mark.parametrize(("compiler", "told"), [("no-such-compiler", "no C compiler"), ("false", "left out")])
def test_a_build_goes_on_without_a_compiler_that_works(monkeypatch, tmp_path, compiler, told):
    from hatchling.builders.hooks.plugin.interface import BuildHookInterface

    monkeypatch.syspath_prepend(str(ROOT))
    import hatch_build

    assert issubclass(hatch_build.CompiledLoops, BuildHookInterface)
    package = tmp_path / "src" / "costcurves"
    package.mkdir(parents=True)
    shutil.copy(Path(compiled.__file__).with_name("loops.c"), package)
    app = App()
    hook = hatch_build.CompiledLoops(str(tmp_path), {}, None, None, str(tmp_path), "wheel", app)
    monkeypatch.setenv("CC", compiler)
    data = {"artifacts": []}
    hook.initialize("standard", data)
    assert told in app.told[0]
    assert data == {"artifacts": []}
    assert [path.name for path in package.iterdir()] == ["loops.c"]
