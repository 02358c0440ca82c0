"""Compiled loops find what NumPy finds, and everything works without them."""

from __future__ import annotations

import itertools
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

import costcurves as cc
import oracles
from costcurves.counting import compiled
from costcurves.counting.counts import count_scores, packed_scores
from costcurves.counting.folds import ClassFolds, FoldCounts
from costcurves.counting.keys import ordered_keys
from costcurves.data.tallies.bins import Coder, ScoreBins, _even
from costcurves.inference.kernel.distribution import exact_quantiles
from costcurves.inference.kernel.strata import Stratum
from costcurves.inference.paired import discordant

ROOT = Path(__file__).parents[2]
REALS = (np.float32, np.float64)


def strange_scores(real):
    """Return scores of both signs and all sizes, in no order and with ties."""
    rng = np.random.default_rng(3)
    info = np.finfo(real)
    edges = [0.0, -0.0, info.tiny, -info.tiny, info.smallest_subnormal, info.max, -info.max, 1.0, -1.0]
    parts = (rng.random(5000), rng.normal(0, 1e3, 5000), 10.0 ** rng.uniform(-37, 37, 2000), edges)
    scores = np.concatenate(parts).astype(real)
    return rng.permutation(np.concatenate((scores, -scores[:3000], np.full(700, scores[0]))))


def borders(real):
    """Return scores of both signs at and beside the ends of even bins, most of them in whole blocks of the loops."""
    ends = np.arange(-(2**12), 2**12 + 1, dtype=real) / real(2**12)
    beside = [np.nextafter(ends, real(way)) for way in (-np.inf, np.inf)]
    return np.concatenate((ends, *beside, -ends))


def layouts(real):
    name = np.dtype(real).name
    yield ScoreBins.universal(name, 2**14)
    samples = (strange_scores(real), np.linspace(0.25, 0.75, 999, dtype=real), np.ones(5, real), borders(real))
    for sample in samples:
        yield ScoreBins.from_sample(sample, 2**15)


def bins_of(layout, scores):
    coder = Coder(layout)
    return np.concatenate([coder.codes_of_keys(ordered_keys(part)).copy() for part in np.array_split(scores, 9)])


@pytest.mark.parametrize("real", REALS)
def test_scores_are_counted_in_the_bins_of_numpy(fast, real):
    signs = set()
    for scores in (strange_scores(real), borders(real)):
        positive = np.random.default_rng(4).random(scores.size) < 0.4
        for bins in layouts(real):
            counts = compiled.ByteCounts(bins.size)
            fast.count(scores, positive, bins.layout, counts)
            expected = np.bincount(2 * bins_of(bins, scores) + positive, minlength=2 * bins.size)
            assert_array_equal(counts.total(), expected)
            even = _even(bins)
            signs.add(None if even is None else even.sign)
        assert counts.carries.any() == (expected.max() > 255)
    assert signs == {None, 1.0, -1.0}  # without a range of even bins, and with one of positive or of all scores


def test_counts_beyond_a_byte_are_counted_and_added(fast):
    bins = ScoreBins.universal("float64", 2**14)
    parts = []
    for rows in (300, 1000, 255, 1):
        counts = compiled.ByteCounts(bins.size)
        fast.count(np.full(rows, 0.5), np.arange(rows) % 2 == 0, bins.layout, counts)
        parts.append(counts)
    first, *others = parts
    for other in others:
        fast.add_counts(first, other)
    place = int(bins_of(bins, np.array([0.5]))[0])
    expected = np.zeros(2 * bins.size, np.int64)
    expected[2 * place : 2 * place + 2] = 500 + 150 + 127, 500 + 150 + 128 + 1
    assert_array_equal(first.total(), expected)
    assert parts[1].total().sum() == 1000  # what was added stays


@pytest.mark.parametrize("counted", [False, True])
@pytest.mark.parametrize("real", REALS)
def test_members_of_wanted_bins_are_counted_by_key_or_written(fast, real, counted):
    rng = np.random.default_rng(5)
    for scores in (strange_scores(real)[::2], borders(real)):  # the first are not in one piece
        positive = rng.random(scores.size) < 0.4
        for bins in layouts(real):
            for share in (0.0, 0.1, 1.0):
                wanted = rng.random(bins.size) < share
                low, shift = bins.keys_of(np.flatnonzero(wanted))
                few = np.where(counted & (shift < 4), np.int64(1) << shift, 0)
                members = compiled.Wanted(wanted, low, few)
                keys = [np.empty(scores.size, bins.integer) for _ in range(2)]
                written = fast.gather(scores, positive, bins.layout, members, keys)
                place = np.flatnonzero(wanted[bins_of(bins, scores)])
                for label in range(2):
                    both = np.concatenate((members.keys(label), written[label]))
                    expected = ordered_keys(scores[place][positive[place] == label])
                    assert_array_equal(np.sort(both), np.sort(expected))
                assert members.examples == place.size - sum(some.size for some in written)
                if counted and share == 1 and (few > 0).any():
                    assert members.examples > 0


@pytest.mark.parametrize("real", REALS)
def test_packed_scores_are_counted_as_by_numpy(fast, real, monkeypatch):
    rng = np.random.default_rng(8)
    near = strange_scores(real)
    near = near[((np.abs(near) > 1e-15) & (np.abs(near) < 1e15)) | (near == 0)]
    shapes = [strange_scores(real), near, -near, borders(real), np.zeros(7, real), np.array([-0.0, 0.0, 3.0], real)]
    shapes += [rng.random(70_000).astype(real), np.round(rng.normal(0, 50, 70_001)).astype(real), near[::3]]
    packed = 0
    for scores in shapes:
        positive = rng.random(scores.size) < 0.4
        monkeypatch.setattr(compiled, "loops", lambda: None)
        expected = count_scores(positive, scores)
        monkeypatch.setattr(compiled, "loops", lambda: fast)
        found = count_scores(positive, scores)
        ends = float(scores.min()), float(scores.max())
        packed += packed_scores(positive, scores, ends) is not None
        for name in ("thresholds", "fp", "tp"):
            one, other = getattr(found, name), getattr(expected, name)
            assert (one.dtype, one.tobytes()) == (other.dtype, other.tobytes())
    assert packed == len(shapes) - 1  # a key of the first, from the smallest float to the largest, has no room


@given(st.lists(st.sampled_from([0, 1, 2, -1, 2**62, -(2**63)]), min_size=1, max_size=70), st.integers(1, 40))
def test_zeros_and_ones_are_told_from_other_labels(fast, labels, times):
    for some in (labels, [label % 2 for label in labels], [label % 2 for label in labels] * times):
        found = fast.zeros_and_ones(np.array(some, np.int64))
        if set(some) == {0, 1}:
            assert found.tolist() == [label == 1 for label in some]
        else:
            assert found is None


STEPS = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=25)


@given(STEPS)
def test_bins_are_cut_where_a_vertex_may_be(fast, steps):
    counts = compiled.ByteCounts(len(steps))
    counts.small[:] = np.ravel(steps)
    filled = [bin_ for bin_ in range(len(steps))[::-1] if any(steps[bin_])]
    if not filled:
        assert fast.cut(counts)[0].size == 0
        return
    points = [(0, 0)]
    for bin_ in filled:
        points.append((points[-1][0] + steps[bin_][0], points[-1][1] + steps[bin_][1]))
    n_neg, n_pos = points[-1]
    hull = set(oracles.hull_by_wrapping(points, n_neg, n_pos))
    wanted = []
    for i in range(len(filled)):
        corner = (points[i][0], points[i + 1][1])  # a vertex of the hull with it, where it lies strictly above
        above = corner in set(oracles.hull_by_wrapping([*points, corner], n_neg, n_pos)) - set(points)
        wanted.append(points[i] in hull or points[i + 1] in hull or above)
    parts = []
    for i, bin_ in enumerate(filled):
        if wanted[i] or i == 0 or wanted[i - 1]:
            parts.append([bin_, 0, 0, wanted[i]])
        parts[-1][1] += steps[bin_][0]
        parts[-1][2] += steps[bin_][1]
    assert [list(part) for part in zip(*(values.tolist() for values in fast.cut(counts)), strict=True)] == parts


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


@given(
    st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=4, max_size=4), min_size=1, max_size=5),
    st.lists(st.integers(0, 24), min_size=1, max_size=30),
)
def test_the_cheapest_of_each_row_is_the_first_of_all_that_are_compared(fast, rows, weights):
    """Steps of whole parts make many ties, also ties that rounding decides."""
    steps = np.array([[(0, 0), *row, (1, 1)] for row in rows])
    rising, falling = np.moveaxis(np.cumsum(steps, axis=1) / np.sum(steps, axis=1, keepdims=True), 2, 0)
    falling, weights = 1 - falling, np.sort(weights) / 24
    known = np.linspace(1, 0, 6), np.linspace(0, 1, 6) ** 2
    found = fast.least_sums(falling, rising, known, weights)
    for at, weight in zip(found.tolist(), weights.tolist(), strict=True):
        for less, down, up in zip(at, falling.tolist(), rising.tolist(), strict=True):
            costs = [weight * d + (1 - weight) * u for d, u in zip(down, up, strict=True)]
            first = costs.index(min(costs))
            assert less == weight * known[0][first] + (1 - weight) * known[1][first] - costs[first]


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)).filter(any), min_size=1, max_size=200),
    st.integers(1, 6),
    st.randoms(use_true_random=False),
)
def test_the_hulls_without_each_fold_are_those_of_all_points(fast, steps, number, random):
    """Folds come in runs, so that there are points without cases of other folds."""
    fp, tp = np.cumsum([(0, 0), (1, 1), *steps], axis=0).T
    sides = []
    for reached in (fp, tp):
        fold = []
        while len(fold) < reached[-1]:
            fold += [random.randrange(number)] * random.choice([1, 1, 1, 200])
        sides.append(ClassFolds(reached, np.array(fold[: reached[-1]])))
    table = FoldCounts(np.append(np.inf, np.arange(fp.size - 1, 0, -1.0)), *sides, number)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "loops", lambda: fast)
        found, near = list(table.complements()), table.near_hulls()
    for k, (index, x, y) in enumerate(found):
        outside = [np.append(0, np.cumsum(one.fold != k)) for one in sides]
        points = [(int(outside[0][i]), int(outside[1][j])) for i, j in zip(fp, tp, strict=True)]
        assert list(zip(x.tolist(), y.tolist(), strict=True)) == [points[i] for i in index]
        assert all(points.index(points[i]) == i for i in index)  # the highest threshold of those that agree
        vertices = set(oracles.hull_by_wrapping(points, *points[-1]))
        assert vertices <= {points[i] for i in index}
        # A vertex has its threshold in a gap that is near the hulls.
        assert all(near[points.index(vertex) - 1] for vertex in vertices - {(0, 0)})


@given(
    st.lists(st.tuples(st.integers(0, 20), st.integers(1, 6), st.integers(0, 5)), min_size=1, max_size=40),
    st.lists(st.lists(st.integers(-1, 21), max_size=9), max_size=6),
)
def test_lasting_draws_are_counted_at_each_point(fast, kinds, rows):
    entries = np.array(sorted(entry for entry, _, _ in kinds), np.float64)
    last, length = (np.array([kind[i] for kind in kinds]) for i in (1, 2))
    begin = np.maximum(last - length, 0)
    lists = [np.append(one, one[-1]) for one in (begin, last)]
    values = np.array([value for row in rows for value in row], np.float64)
    found = fast.count_lasting(
        values, np.array([len(row) for row in rows], np.int64), discordant.compiled_search(entries, lists), 7
    )
    assert found.shape == (len(rows), 7)
    for row, counts in zip(rows, found.tolist(), strict=True):
        ranks = [min(sum(entry <= value for entry in entries), len(kinds) - 1) for value in row]
        assert counts == [sum(begin[rank] <= point < last[rank] for rank in ranks) for point in range(7)]


KEYS = st.lists(st.integers(0, 15), max_size=30)


def refined(fast, chain, members, keys):
    """Return the vertices, and the same by numbers of members where nothing was counted by key."""
    low, shift, neg, pos = chain
    found = fast.refine(low, shift, (neg, pos), members, keys)
    if found is not None and not members.slots:
        again = fast.refine(None, shift, (neg, pos), members, keys)
        for one, other in zip(found[:2], again[:2], strict=True):
            assert_array_equal(one, other)
        inner = found[3][1:] == 0  # vertices at the end of open parts
        assert_array_equal(found[2][1:][inner], again[2][1:][inner])
    return found


@given(KEYS, KEYS, st.sets(st.integers(0, 3)), st.sets(st.integers(0, 3)), st.sampled_from([np.int32, np.int64]))
def test_members_make_the_vertices_of_the_whole_hull(fast, neg, pos, open_, counted, integer):
    """Keys 0 to 15 are four parts of four; those that are not open are known by their counts alone."""
    parts = [p for p in range(3, -1, -1) if any(key // 4 == p for key in neg + pos)]
    in_part = [[sum(key // 4 == p for key in keys) for p in parts] for keys in (neg, pos)]
    low = np.array([4 * p for p in parts], np.int64)
    shift = np.array([2 if p in open_ else -1 for p in parts], np.int64)
    chain = [low, shift, *(np.array(values, np.int64) for values in in_part)]
    opened = [p for p in parts[::-1] if p in open_]
    few = np.array([4 if p in counted else 0 for p in opened], np.int64)
    members = compiled.Wanted(np.isin(np.arange(4), opened), np.array([4 * p for p in opened], np.int64), few)
    written = []
    for label, keys in enumerate((neg, pos)):
        inside = [key for key in keys if key // 4 in opened]
        for key in inside:
            if key // 4 in counted:
                members.counts.small[2 * (key + members.slot[opened.index(key // 4)]) + label] += 1
        written.append(np.array(sorted(key for key in inside if key // 4 not in counted), integer))
    found = refined(fast, chain, members, written)
    points, steps = [(0, 0)], []
    for part in parts:
        each = [[key] for key in range(4 * part + 3, 4 * part - 1, -1)]
        for keys in each if part in open_ else [range(4 * part, 4 * part + 4)]:
            step = sum(neg.count(k) for k in keys), sum(pos.count(k) for k in keys)
            if any(step):
                points.append((points[-1][0] + step[0], points[-1][1] + step[1]))
                steps.append((min(keys), 0 if part in open_ else -1, *step))
    hull = [0] if len(points) == 1 else [points.index(p) for p in oracles.hull_by_wrapping(points, *points[-1])]
    x, y, *ends, following = (values.tolist() for values in found)
    assert list(zip(x, y, strict=True)) == [points[i] for i in hull]
    assert list(zip(*(values[1:] for values in ends), strict=True)) == [steps[i - 1] for i in hull[1:]]
    assert following[:-1] == [steps[i][0] for i in hull[:-1]]
    if opened:  # a part with other members than the chain says
        for label in range(2):
            other = [values.copy() for values in chain]
            other[2 + label][parts.index(opened[0])] += 1
            assert refined(fast, other, members, written) is None
    beyond = np.append(np.array([-9], integer), written[0])
    assert refined(fast, chain, members, (beyond, written[1])) is None
    assert refined(fast, chain, members, (written[0], np.append(np.array([-9], integer), written[1]))) is None


CUTS = st.lists(
    st.sampled_from([-np.inf, -1.0, 0.0, 0.25, 0.25, 0.5, 0.75, 1.0, 1e300, np.inf]), min_size=1, max_size=9
)
ROWS = st.lists(
    st.tuples(st.booleans(), *2 * [st.sampled_from([-2.0, 0.0, 0.2, 0.25, 0.6, 1.0, 1e301])]), min_size=1, max_size=20
)


@given(ROWS, CUTS, st.randoms(use_true_random=False))
def test_who_is_wrong_alone_is_counted_as_by_comparing_with_every_threshold(fast, rows, cuts, random):
    cuts_a = np.array(sorted(cuts, reverse=True))
    cuts_b = np.array(sorted(random.choices(cuts, k=len(cuts)), reverse=True))
    positive = np.array([label for label, _, _ in rows], np.bool_)
    a, b = (np.array([row[i] for row in rows]) for i in (1, 2))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(compiled, "loops", lambda: fast)
        patch.setattr(discordant, "_BUCKETS", 1)  # the loops are for many, and blocks of one row must add up
        found = discordant.counts_of_both(positive, a, b, cuts_a, cuts_b)
    for counts, chosen in zip(found, (positive, ~positive), strict=True):
        wrong = [(s[chosen, None] >= cuts[None]) != positive[chosen, None] for s, cuts in ((a, cuts_a), (b, cuts_b))]
        assert counts.only_a.tolist() == (wrong[0] & ~wrong[1]).sum(axis=0).tolist()
        assert counts.only_b.tolist() == (wrong[1] & ~wrong[0]).sum(axis=0).tolist()
        assert counts.total == counts.squares == chosen.sum()


@pytest.mark.parametrize("dtype", [np.float64, np.float32, np.int64])
def test_pairs_are_tallied_as_by_numpy(fast, dtype, monkeypatch):
    rng = np.random.default_rng(9)
    y = rng.random(3000) < 0.3
    scores = {name: (20 * (rng.normal(size=y.size) + y)).astype(dtype) for name in "ab"}
    a, b = (cc.CostCurve.from_predictions(y, values, name=name) for name, values in scores.items())
    found = []
    for way in (fast, None):
        monkeypatch.setattr(compiled, "loops", lambda way=way: way)
        tally = cc.PairedTally(a, b, pc=np.linspace(0, 1, 23))
        for part in (slice(0, 1), slice(1, 2000), slice(2000, None)):
            tally.update(y[part], scores["a"][part], scores["b"][part])
        found.append(tally.to_bytes())
    assert found[0] == found[1]


def test_exact_quantiles_are_those_of_numpy_bit_for_bit(fast, monkeypatch):
    rng = np.random.default_rng(7)
    pc = np.linspace(0, 1, 75)[:, None]
    levels = [0.0, 1e-6, 0.025, 0.5, 0.975, 1.0]
    for n_pos, n_neg in ((7, 3), (40, 900), (3_000, 20_000)):
        rates = np.sort(rng.random((2, 75, 1)), axis=1) * [[[0.3]], [[0.6]]]
        strata = [Stratum(n_pos, rates[0], pc / n_pos), Stratum(n_neg, rates[1][::-1], (1 - pc) / n_neg)]
        found = {}
        for way in (fast, None):
            monkeypatch.setattr(compiled, "loops", lambda way=way: way)
            found[way] = exact_quantiles(strata, levels)
        assert found[fast].tobytes() == found[None].tobytes()


def test_members_counted_by_key_and_members_kept_come_to_one_hull(fast, monkeypatch):
    """Parts of one pass: counted by key, sent as bytes (which keeps keys), and made without the loops."""
    rng = np.random.default_rng(6)
    scores = (0.5 + rng.integers(0, 2**15, 60_000) * 2.0**-24).astype(np.float32)
    y = rng.random(scores.size) < (scores - 0.5) * 2.0**8 * 0.3 + 0.3
    tally = cc.HullTally(bins=ScoreBins.from_sample(scores, 2**14)).update(y, scores).next_pass()
    expected = cc.RocCurve.from_predictions(y, scores, points="hull")

    def part(i, way):
        monkeypatch.setattr(compiled, "loops", lambda: None if way == "numpy" else fast)
        done = tally.empty().update(y[i::4], scores[i::4])
        if way == "counted":
            assert done._counted._wanted.examples > 0
        return cc.HullTally.from_bytes(done.to_bytes()) if way == "sent" else done

    ways = ("counted", "counted", "sent", "numpy")
    for order in itertools.permutations(range(4)):
        for end in ("compiled", "numpy"):
            first, *others = [part(i, ways[i]) for i in order]
            monkeypatch.setattr(compiled, "loops", lambda end=end: None if end == "numpy" else fast)
            for other in others:
                first.merge(other)
            found = first.to_roc_curve()
            for name in ("fp", "tp", "thresholds"):
                assert getattr(found, name).tobytes() == getattr(expected, name).tobytes()


def test_they_can_be_turned_off():
    code = "import costcurves.counting.compiled as c; raise SystemExit(0 if c.loops() is None else 1)"
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


@pytest.fixture
def hook(monkeypatch, tmp_path):
    """Return the build hook of a copy of the source, and what it tells."""
    monkeypatch.syspath_prepend(str(ROOT))
    hatch_build = pytest.importorskip("hatch_build", exc_type=ImportError)
    package = tmp_path / "src" / "costcurves" / "counting"
    package.mkdir(parents=True)
    shutil.copy(Path(compiled.__file__).with_name("loops.c"), package)
    monkeypatch.setenv(compiled.SWITCH, "1")
    monkeypatch.delenv("COSTCURVES_PLATFORM", raising=False)
    return hatch_build.CompiledLoops(str(tmp_path), {}, None, None, str(tmp_path), "wheel", App())


def files_of(hook):
    return sorted(path.name for path in (Path(hook.root) / "src" / "costcurves" / "counting").iterdir())


@pytest.mark.parametrize(("compiler", "told"), [("no-such-compiler", "no C compiler"), ("false", "left out")])
def test_a_build_goes_on_without_a_compiler_that_works(monkeypatch, hook, compiler, told):
    monkeypatch.setenv("CC", compiler)
    data = {"artifacts": []}
    hook.initialize("standard", data)
    assert told in hook.app.told[0]
    assert data == {"artifacts": []}
    assert files_of(hook) == ["loops.c"]


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_a_build_makes_the_library_that_is_loaded_here(monkeypatch, hook):
    monkeypatch.setenv("CC", "cc")
    data = {"artifacts": []}
    hook.initialize("standard", data)
    assert data["artifacts"] == [f"src/costcurves/counting/{compiled.LIBRARY.name}"]
    assert not data["pure_python"]
    assert data["tag"].startswith("py3-none-")
    assert files_of(hook) == sorted([compiled.LIBRARY.name, "loops.c"])
    assert compiled.Loops(Path(hook.root) / data["artifacts"][0]).version == compiled.VERSION


def test_a_build_for_another_platform_is_made_by_the_cross_compiler_or_fails(monkeypatch, hook):
    monkeypatch.setenv("COSTCURVES_PLATFORM", "amiga")
    with pytest.raises(ValueError, match=r"COSTCURVES_PLATFORM must be one of manylinux_2_17_x86_64, .*, got 'amiga'"):
        hook.initialize("standard", {"artifacts": []})

    commands = []

    def run(command, **options):
        commands.append(command)
        Path(command[command.index("-o") + 1]).write_bytes(b"a library")
        return subprocess.CompletedProcess(command, len(commands) - 1, "", "no space left")

    monkeypatch.setattr(subprocess, "run", run)
    monkeypatch.setenv("COSTCURVES_PLATFORM", "win_amd64")
    data = {"artifacts": []}
    hook.initialize("standard", data)
    assert data == {
        "artifacts": ["src/costcurves/counting/_loops.dll"],
        "pure_python": False,
        "tag": "py3-none-win_amd64",
    }
    assert commands[0][1:5] == ["-m", "ziglang", "cc", "-target"]
    assert "-ffp-contract=off" in commands[0]
    with pytest.raises(RuntimeError, match="no space left"):
        hook.initialize("standard", data)
