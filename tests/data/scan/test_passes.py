"""The driver of passes gives what the functions of arrays give, whoever reads the data and in whatever parts."""

from __future__ import annotations

import gzip
import pickle

import numpy as np
import pytest

import costcurves as cc
from costcurves.data import passes
from costcurves.data.batches import Batch, Coded
from costcurves.data.passes import InPasses
from costcurves.data.readers import duckdb, sources
from costcurves.decisions.compare import compare_in
from costcurves.decisions.compare_many import compare_many_in

RNG = np.random.default_rng(3)
SIZE = 3000
Y = RNG.integers(0, 2, SIZE)
SCORES = {
    "a": (Y + RNG.normal(0, 1, SIZE)).astype(np.float32),
    "b": np.round(Y + RNG.normal(0, 1.4, SIZE), 1),
    "c": RNG.integers(0, 9, SIZE) + Y,
}
WEIGHT = RNG.integers(0, 4, SIZE).astype(float)
GROUP = RNG.choice(["may", "june"], SIZE)
PC = [0.1, 0.3, 0.5, 0.8]


class Parts:
    """A reader of arrays in parts that travel as pickles, as tasks of a cluster do."""

    def __init__(self, parts=3, weight=None, group=None):
        self.rows = np.array_split(np.arange(SIZE), parts)
        self.weight, self.group = weight, group
        self.passes = 0

    def run(self, counts):
        self.passes += 1
        for rows in reversed(self.rows):
            part = pickle.loads(pickle.dumps(counts.empty()))
            part.update(
                passes.Batch(
                    Y[rows],
                    {name: values[rows] for name, values in SCORES.items()},
                    None if self.weight is None else self.weight[rows],
                    None if self.group is None else self.group[rows],
                )
            )
            counts.merge(pickle.loads(pickle.dumps(part)))
        return counts


class InParts(InPasses):
    """The same rows as a source of answers."""

    def __init__(self):
        super().__init__(tuple(SCORES), None)

    @property
    def reader(self):
        return Parts()

    def find(self, points):
        return passes.find_curves(self.reader, passes.curve_counts(list(SCORES), points=points), points=points)

    def rows(self):
        raise AssertionError("the rows are never held in memory")


def same_curve(found, expected):
    for name in ("fp", "tp", "thresholds", "below"):
        assert getattr(found, name).tolist() == getattr(expected, name).tolist()
    assert (found.name, found.n_pos, found.n_neg, found.effective) == (
        expected.name,
        expected.n_pos,
        expected.n_neg,
        expected.effective,
    )


def in_memory(name, rows=slice(None), points="hull", weight=None):
    weights = None if weight is None else weight[rows]
    return cc.RocCurve.from_predictions(Y[rows], SCORES[name][rows], name=name, points=points, sample_weight=weights)


@pytest.mark.parametrize("parts", [1, 2, 7])
def test_curves_of_several_classifiers_take_two_passes_together(parts):
    reader = Parts(parts)
    curves = passes.find_curves(reader, passes.curve_counts(list(SCORES)))
    assert list(curves) == list(SCORES)
    for name, curve in curves.items():
        same_curve(curve, in_memory(name))
    assert reader.passes == 2


def test_all_points_and_weights_take_one_pass():
    reader = Parts()
    for name, curve in passes.find_curves(reader, passes.curve_counts(["a"], points="all"), points="all").items():
        same_curve(curve, in_memory(name, points="all"))
    weighted = Parts(weight=WEIGHT)
    for name, curve in passes.find_curves(weighted, passes.curve_counts(["a", "b"], weighted=True)).items():
        same_curve(curve, in_memory(name, weight=WEIGHT))
    assert (reader.passes, weighted.passes) == (1, 1)


def test_binned_curves_take_one_pass_and_say_their_error():
    reader = Parts()
    curve = passes.find_curves(reader, passes.curve_counts(["a"], resolution=2**14))["a"]
    pc = np.linspace(0, 1, 101)
    gap = cc.CostCurve(curve).evaluate(pc) - cc.CostCurve(in_memory("a")).evaluate(pc)
    assert reader.passes == 1
    assert abs(gap).max() == curve.max_error == 0  # there are fewer rows than bins


def test_every_group_has_the_curves_of_its_rows():
    found = passes.find_group_curves(Parts(group=GROUP), passes.curve_counts(list(SCORES)))
    assert list(found) == ["june", "may"]
    for group, curves in found.items():
        for name, curve in curves.items():
            same_curve(curve, in_memory(name, group == GROUP))


@pytest.mark.parametrize("waiting", [0, 500, 10**6])
@pytest.mark.parametrize("resolution", [None, 2**14])
def test_many_groups_have_the_curves_of_their_rows_however_many_rows_wait(waiting, resolution, monkeypatch):
    monkeypatch.setattr(passes, "MOST_WAITING", waiting)
    group = np.arange(SIZE) % 97
    group[-50:] = 500  # a group of one part only
    found = passes.find_group_curves(Parts(7, group=group), passes.curve_counts(["a", "c"], resolution=resolution))
    assert list(found) == [*range(97), 500]
    for number, curves in found.items():
        for name, curve in curves.items():
            same_curve(curve, in_memory(name, group == number))


def test_coded_groups_and_labels_of_parts_with_other_values_are_joined():
    class Texts(Parts):
        def run(self, counts):
            for rows, groups in zip(self.rows, (["x", "y"], ["y", "z", "x"], ["z"]), strict=True):
                label = Coded(Y[rows], ["no", "yes"]) if len(groups) < 3 else Coded(1 - Y[rows], ["yes", "no"])
                place = np.arange(rows.size) % len(groups)
                self.names[rows] = np.array(groups)[place]
                counts.update(Batch(label, {"a": SCORES["a"][rows]}, group=Coded(place, groups)))
            return counts

    reader = Texts(3)
    reader.names = np.empty(SIZE, "U1")
    found = passes.find_group_curves(reader, passes.curve_counts(["a"], pos_label="yes"))
    assert list(found) == ["x", "y", "z"]
    for name, curves in found.items():
        same_curve(curves["a"], in_memory("a", reader.names == name))


def test_groups_and_labels_of_several_types_are_not_made_alike():
    class Mixed(Parts):
        def run(self, counts):
            for values in self.mixed:
                counts.update(Batch(np.array([0, 1]), {"a": np.array([0.1, 0.2])}, group=np.array(values)))
            return counts

    reader = Mixed()
    reader.mixed = [[1, 1], ["1", "1"]]
    with pytest.raises(cc.DataError, match="`group` must hold values of one type"):
        passes.find_group_curves(reader, passes.curve_counts(["a"]))


def test_a_difference_is_that_of_compare():
    found = compare_in(InParts(), "a", "b", method="score")
    expected = cc.compare(Y, SCORES["a"], SCORES["b"], names=("a", "b"), method="score")
    assert found.to_dict() == expected.to_dict()


def test_all_pairs_are_those_of_compare_many():
    found = compare_many_in(InParts(), level=0.9, pc=PC)
    expected = cc.compare_many(Y, SCORES, level=0.9, pc=PC)
    assert found.to_dict() == expected.to_dict()
    assert found.at(0.4).to_dict() == expected.at(0.4).to_dict()


def test_confusion_tables_of_one_and_of_two_are_counted_in_one_pass():
    reader = Parts()
    tables = reader.run(passes.TableCounts({("c",): cc.ConfusionTally(), ("c", "b"): cc.ConfusionTally()})).tallies
    assert reader.passes == 1
    whole = cc.ConfusionMatrix.from_predictions(Y, SCORES["c"])
    assert tables["c",].to_confusion().counts.tolist() == whole.counts.tolist()
    joint = cc.JointConfusion.from_predictions(Y, SCORES["c"], SCORES["b"])
    assert tables["c", "b"].to_joint().counts.tolist() == joint.counts.tolist()


def test_labels_of_two_parts_must_agree():
    class Mixed(Parts):
        def run(self, counts):
            for label in (["x", "y"], ["x", "z"]):
                part = counts.empty()
                part.update(passes.Batch(np.array(label), {"a": np.array([0.1, 0.2])}))
                counts.merge(part)
            return counts

    with pytest.raises(
        cc.DataError, match="two classes in all batches together, got 'y' and 'z' besides the positive class"
    ):
        passes.find_curves(Mixed(), passes.curve_counts(["a"], pos_label="x"))


def test_groups_of_mixed_types_are_refused():
    with pytest.raises(cc.DataError, match="`group` must hold values of one type"):
        passes.rows_of_groups(np.array(["a", 1, None], dtype=object))


def test_a_group_of_one_class_is_named():
    group = np.where(Y == 1, "only positives", "only negatives")
    with pytest.raises(cc.DataError, match=r"both classes, got .* \(group 'only"):
        passes.find_group_curves(Parts(group=group), passes.curve_counts(["a"]))


@pytest.mark.parametrize(("room", "read"), [(1 << 20, 2), (1 << 10, 5), (0, 5)])
def test_a_packed_text_is_unpacked_once_beside_the_sample_if_its_columns_are_small(tmp_path, monkeypatch, room, read):
    path = tmp_path / "rows.csv.gz"
    lines = [f"{y},{float(a)!r},{b!r}" for y, a, b in zip(Y, SCORES["a"], SCORES["b"].tolist(), strict=True)]
    path.write_bytes(gzip.compress("\n".join(["y,a,b", *lines]).encode()))
    monkeypatch.setattr(sources, "KEPT_TEXT", room)
    opened, guessed = [], []
    batches, text = duckdb.Relation.batches, duckdb._read_csv
    monkeypatch.setattr(duckdb.Relation, "batches", lambda *args: opened.append(args[1]) or batches(*args))
    monkeypatch.setattr(duckdb, "_read_csv", lambda *args, **options: guessed.append(1) or text(*args, **options))
    src = cc.scan(path, label="y", scores=["a", "b"])
    curves = src.roc_curves()
    assert src.compare("a", "b", pc=PC, simultaneous=False).pc.tolist() == PC
    assert (src.passes, len(opened), len(guessed)) == (4, read, 1)
    for name in ("a", "b"):
        expected = cc.RocCurve.from_predictions(Y, SCORES[name].astype(float), name=name, points="hull")
        same_curve(curves[name], expected)
