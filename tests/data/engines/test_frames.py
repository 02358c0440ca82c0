"""Dataframes of every engine give what the functions of arrays give, bit for bit, for any split of them."""

from __future__ import annotations

import importlib.util
import warnings
from decimal import Decimal
from itertools import pairwise

import dask
import dask.dataframe as dd
import duckdb
import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import costcurves as cc
from costcurves.data import frame_source
from costcurves.data.passes import curve_counts
from costcurves.data.readers import frame_readers
from costcurves.data.readers.columns import Roles
from costcurves.data.readers.frame_readers import PartsReader

PC = np.linspace(0.1, 0.9, 9)
NULLABLE = {pa.int64(): pd.Int64Dtype(), pa.float64(): pd.Float64Dtype(), pa.string(): pd.StringDtype()}


def sample(size, seed, kind="float64"):
    """Return a table of labels, two score columns and weights."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, size)
    y[:2] = 0, 1
    a = y + rng.normal(0, 1, size)
    a = {"float64": a, "float32": a.astype(np.float32), "ties": np.round(a)}[kind]
    w = rng.integers(0, 4, size) + (np.arange(size) < 2)
    names = np.where(y == 1, "bad", "good")
    return pa.table({"y": y, "a": a, "b": rng.integers(-3, 4, size) + y, "w": w, "name": names})


def pieces_of(table, cuts):
    return [table.slice(start, stop - start) for start, stop in pairwise([0, *sorted(cuts), table.num_rows])]


def dask_frame(parts):
    frames = [part.to_pandas() for part in parts]
    return dd.from_map(lambda i: frames[i], range(len(frames)), meta=frames[0].iloc[:0])


# How the same rows, in pieces, are a frame of each engine that runs in this process.
ENGINES = {
    "pandas": lambda parts: pa.concat_tables(parts).to_pandas(),
    "pandas nullable": lambda parts: pa.concat_tables(parts).to_pandas(types_mapper=NULLABLE.get),
    "polars": lambda parts: pl.concat([pl.from_arrow(part) for part in parts], rechunk=False),
    "polars lazy": lambda parts: pl.concat([pl.from_arrow(part).lazy() for part in parts]),
    "pyarrow": pa.concat_tables,
    "duckdb": lambda parts: duckdb.connect().from_arrow(pa.concat_tables(parts)),
    "ibis": lambda parts: ibis.memtable(pa.concat_tables(parts)),
    "dask": dask_frame,
}
IN_PASSES = ("polars lazy", "duckdb", "dask")


@pytest.fixture(autouse=True)
def _one_thread():
    with dask.config.set(scheduler="synchronous"):
        yield


@pytest.fixture(params=list(ENGINES))
def engine(request):
    return request.param


@pytest.fixture(params=IN_PASSES)
def lazy(request):
    return request.param


def frame_of(engine, table, *cuts):
    return ENGINES[engine](pieces_of(table, cuts))


def arrays(table):
    return {name: table[name].to_numpy() for name in table.column_names}


def test_curves_hulls_bands_and_differences_have_the_bits_of_arrays(engine):
    table = sample(400, 1)
    frame, data = frame_of(engine, table, 90, 90, 300), arrays(table)
    y, a, b, w = (data[name] for name in ("y", "a", "b", "w"))
    found = cc.RocCurve.from_frame(frame, label="y", score="a")
    assert found.to_dict() == cc.RocCurve.from_predictions(y, a, name="a").to_dict()
    found = cc.RocCurve.from_frame(frame, label="y", score="a", weight="w", points="hull", name="forest")
    expected = cc.RocCurve.from_predictions(y, a, sample_weight=w, points="hull", name="forest")
    assert (found.to_dict(), found.effective) == (expected.to_dict(), expected.effective)
    hull = cc.RocHull.from_frame(frame, label="name", scores=("a", "b"), pos_label="bad")
    assert hull.to_dict() == cc.RocHull.from_predictions(y, {"a": a, "b": b}).to_dict()
    for policy in ("optimal", 0.5):
        curve = cc.CostCurve.from_frame(frame, label="y", score="b", policy=policy)
        expected = cc.CostCurve.from_predictions(y, b, name="b", policy=policy)
        # Lazy frames have the points of the hull, so that limits which allow for the choice may differ a little.
        assert curve.band(pc=PC, method="wilson").to_dict() == expected.band(pc=PC, method="wilson").to_dict()
    options = {"pc": PC, "policy": ("optimal", 0.5), "level": 0.9, "names": ("new", "old")}
    found = cc.compare.from_frame(frame, label="y", score_a="a", score_b="b", weight="w", **options)
    assert found.to_dict() == cc.compare(y, a, b, sample_weight=w, **options).to_dict()
    assert found.at(0.35).to_dict() == cc.compare(y, a, b, sample_weight=w, **options).at(0.35).to_dict()


@st.composite
def splits(draw):
    table = sample(
        draw(st.integers(2, 80)), draw(st.integers(0, 2**32)), draw(st.sampled_from(["float64", "float32", "ties"]))
    )
    return table, draw(st.lists(st.integers(0, table.num_rows), max_size=4)), draw(st.integers(1, 40))


@given(data=splits())
@settings(max_examples=12, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture])
def test_any_split_gives_the_same_bits(engine, data):
    table, cuts, rows = data
    frame, values = frame_of(engine, table, *cuts), arrays(table)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(frame_readers, "ROWS", rows)
        patch.setattr("costcurves.data.readers.frame_readers.FAN_IN", 2)
        curve = cc.RocCurve.from_frame(frame, label="y", score="a", points="hull")
        found = cc.compare.from_frame(frame, label="y", score_a="a", score_b="b", pc=PC)
    assert curve.to_dict() == cc.RocCurve.from_predictions(values["y"], values["a"], name="a", points="hull").to_dict()
    expected = cc.compare(values["y"], values["a"], values["b"], names=("a", "b"), pc=PC)
    assert found.to_dict() == expected.to_dict()


def with_nulls(table, **masks):
    for name, mask in masks.items():
        column = pa.array(table[name].to_numpy(), mask=np.isin(np.arange(table.num_rows), mask))
        table = table.set_column(table.column_names.index(name), name, column)
    return table


def test_missing_values_are_refused_and_counted(engine):
    frame = frame_of(engine, with_nulls(sample(60, 2), y=[5, 50], a=[5, 20, 21]), 30)
    with pytest.raises(cc.DataError, match=r"got 3 in 'a', 2 in 'y' \(4 of 60 rows\): .*on_null='drop'"):
        cc.RocCurve.from_frame(frame, label="y", score="a", points="hull")
    cc.RocCurve.from_frame(frame, label="name", score="b", pos_label="bad")  # other columns do not matter


def test_rows_with_missing_values_are_left_out_and_counted(engine):
    table = with_nulls(sample(60, 2), y=[5, 50], a=[5, 20, 21], b=[33])  # b is not asked for
    whole = table.filter(np.isin(np.arange(60), [5, 20, 21, 50], invert=True))
    said = r"^on_null='drop' left out 4 of 60 rows for missing values: 3 in 'a', 2 in 'y'$"
    with pytest.warns(cc.DroppedRowsWarning, match=said) as caught:
        found = cc.CostCurve.from_frame(frame_of(engine, table, 30), label="y", score="a", on_null="drop")
    assert [warning.filename for warning in caught] == [__file__]
    expected = cc.CostCurve.from_predictions(whole["y"].to_numpy(), whole["a"].to_numpy(), name="a")
    assert found.to_dict() == expected.to_dict()


def test_nothing_is_said_of_rows_where_none_is_left_out(engine):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = cc.RocCurve.from_frame(frame_of(engine, sample(20, 2)), label="y", score="a", on_null="drop")
    assert found.n_pos + found.n_neg == 20


def test_frames_without_rows_are_refused(engine):
    with pytest.raises(cc.DataError, match=r"^`frame` must hold at least one row, got none$"):
        cc.RocCurve.from_frame(frame_of(engine, sample(20, 2).slice(0, 0)), label="y", score="a")


def test_frames_without_a_whole_row_are_refused(engine):
    frame = frame_of(engine, with_nulls(sample(3, 2), a=[0, 1, 2]), 1)
    with pytest.raises(cc.DataError, match=r"^`frame` must have rows without missing values, got none of 3$"):
        cc.RocCurve.from_frame(frame, label="y", score="a", on_null="drop")


def test_columns_that_are_not_there_get_the_nearest_names(engine):
    frame = frame_of(engine, sample(20, 2))
    with pytest.raises(cc.InputError, match=r"^`label` must name a column of the \w+ frame, got 'NAMES': did .*'name'"):
        cc.RocCurve.from_frame(frame, label="NAMES", score="a")
    with pytest.raises(cc.InputError, match=r"`score_b` must name a column .* got 'forest': it has \['y', 'a', 'b'"):
        cc.compare.from_frame(frame, label="y", score_a="a", score_b="forest")


def test_columns_of_the_wrong_type_are_refused(engine):
    frame = frame_of(engine, sample(20, 2))
    with pytest.raises(cc.DataError, match=r"^`scores` must be a numeric column, got 'name' of type String in the"):
        cc.RocHull.from_frame(frame, label="y", scores=["a", "name"])
    with pytest.raises(cc.DataError, match=r"^`weight` must be a numeric column, got 'name' of type String in the"):
        cc.RocCurve.from_frame(frame, label="y", score="a", weight="name")


def test_errors_name_the_columns(engine):
    table = sample(20, 2)
    ones = table.set_column(0, "y", pa.array([1] * 20))
    with pytest.raises(cc.DataError, match=r"^`label` 'y' must hold both classes, got 20 positive and 0 negative"):
        cc.RocCurve.from_frame(frame_of(engine, ones, 7), label="y", score="a")
    infinite = table.set_column(1, "a", pa.array([np.inf] * 20))
    with pytest.raises(cc.DataError, match=r"^`score` 'a' must be finite, got"):
        cc.RocCurve.from_frame(frame_of(engine, infinite, 7), label="y", score="a")
    negative = table.set_column(3, "w", pa.array([-1] * 20))
    with pytest.raises(cc.DataError, match=r"^`weight` 'w' must be >= 0"):
        cc.RocCurve.from_frame(frame_of(engine, negative, 7), label="y", score="a", weight="w")


FAULTY = {
    "infinite": (pa.array([1.5] * 19 + [np.inf]), "must be finite, got 1 non-finite value, the first is inf$"),
    "large": (pa.array([2**60 + i for i in range(20)]), r"must hold integers of at most 2\*\*53"),
}


@pytest.mark.parametrize("fault", list(FAULTY))
@pytest.mark.parametrize("column", ["a", "b"])
def test_errors_name_the_one_column_that_is_wrong(engine, fault, column):
    table = sample(20, 2)
    values, said = FAULTY[fault]
    frame = frame_of(engine, table.set_column(table.column_names.index(column), column, values), 7)
    with pytest.raises(cc.DataError, match=rf"^`scores` '{column}' {said}"):
        cc.RocHull.from_frame(frame, label="y", scores=["a", "b"])
    for policy in ("optimal", 0.5):
        with pytest.raises(cc.DataError, match=rf"^`score_{column}` '{column}' {said}"):
            cc.compare.from_frame(frame, label="y", score_a="a", score_b="b", policy=policy)
    other = {"a": "b", "b": "a"}[column]
    assert cc.RocCurve.from_frame(frame, label="y", score=other).n_pos  # an error leaves nothing open behind it


def test_names_that_differ_in_case_only_are_two_columns():
    rows = duckdb.sql('select range % 2 as y, range::double as a, -range::double as "A" from range(20)')
    for name, auc in (("a", 0.55), ("A", 0.45)):
        assert cc.RocCurve.from_frame(rows, label="y", score=name).auc() == pytest.approx(auc)
    twice = duckdb.sql("select 1 as y, 0.5 as a, 0.6 as a, 0.7 as b")
    with pytest.raises(
        cc.InputError, match=r"^`score` must name one column, got 'a', which the duckdb frame has twice"
    ):
        cc.RocCurve.from_frame(twice, label="y", score="a")


def test_workers_without_a_module_are_named_and_other_errors_stay():
    class Broken(PartsReader):
        def read(self, counts):
            try:
                raise ModuleNotFoundError(f"No module named '{self.frame}'")
            except ModuleNotFoundError as error:
                raise RuntimeError("Error during deserialization of the task graph") from error

    for lacking in ("costcurves.data.readers.frame_readers", "pyarrow"):
        with pytest.raises(cc.MissingExtraError, match=f"^every worker must have .* without the module '{lacking}'"):
            Broken(lacking, Roles("y", ("a",)), False).run(curve_counts(["a"]))
    with pytest.raises(RuntimeError, match="deserialization"):
        Broken("mine", Roles("y", ("a",)), False).run(curve_counts(["a"]))


def test_three_classes_are_refused_wherever_the_third_is(engine):
    table = sample(20, 2).set_column(0, "y", pa.array([0, 1] * 9 + [2, 2]))
    with pytest.raises(cc.DataError, match=r"`label` 'y'|`pos_label` must be given"):
        cc.RocCurve.from_frame(frame_of(engine, table, 18), label="y", score="a")
    with pytest.raises(cc.DataError, match=r"^`label` 'y' must hold two classes"):
        cc.RocCurve.from_frame(frame_of(engine, table, 18), label="y", score="a", pos_label=1)


def test_labels_of_mixed_type_are_refused_in_a_frame_and_between_partitions():
    frame = pd.DataFrame({"y": [1, "good", 0], "a": [1.0, 2.0, 3.0]})
    with pytest.raises(cc.DataError, match=r"^`label` 'y' must hold labels of one type, got 0, 1, 'good'"):
        cc.RocCurve.from_frame(frame, label="y", score="a")
    parts = [pd.DataFrame({"y": y, "a": [1.0, 2.0]}) for y in ([0, 1], [True, False])]
    mixed = dd.from_map(lambda i: parts[i], range(2), meta=parts[0].iloc[:0])
    with pytest.raises(
        cc.DataError, match=r"^`label` 'y' must hold labels of one type in all batches, got booleans and"
    ):
        cc.RocCurve.from_frame(mixed, label="y", score="a")


def test_one_column_has_one_part():
    frame = sample(20, 2)
    with pytest.raises(cc.InputError, match=r"^`score` must be another column than `label`, got 'y' twice"):
        cc.RocCurve.from_frame(frame, label="y", score="y")
    with pytest.raises(cc.InputError, match=r"^`scores` must be different columns, got 'a' twice"):
        cc.RocHull.from_frame(frame, label="y", scores=["a", "a"])
    with pytest.raises(cc.InputError, match=r"^`score_b` must be another column than `score_a`, got 'a' twice"):
        cc.compare.from_frame(frame, label="y", score_a="a", score_b="a")
    with pytest.raises(cc.InputError, match=r"^`weight` must be another column than `label`, got 'y' twice"):
        cc.RocCurve.from_frame(frame, label="y", score="a", weight="y")
    with pytest.raises(cc.InputError, match=r"^`scores` must be a list of columns, got 'a'"):
        cc.RocHull.from_frame(frame, label="y", scores="a")


@pytest.mark.parametrize("other", [{"y": [0, 1], "a": [1, 2]}, [[0, 1]], np.zeros((2, 2)), pd.Series([1]), None])
def test_what_is_no_frame_is_refused(other):
    with pytest.raises(cc.InputError, match=r"^`frame` must be a dataframe .* got \w+: for arrays use from_pred"):
        cc.RocCurve.from_frame(other, label="y", score="a")


def test_options_are_checked():
    frame = sample(20, 2)
    with pytest.raises(cc.InputError, match="`on_null` must be one of 'refuse', 'drop', got 'fill'"):
        cc.RocCurve.from_frame(frame, label="y", score="a", on_null="fill")
    with pytest.raises(cc.InputError, match="`points` must be one of"):
        cc.RocCurve.from_frame(frame, label="y", score="a", points="some")
    with pytest.raises(cc.InputError, match="`names` must differ"):
        cc.compare.from_frame(frame, label="y", score_a="a", score_b="b", names=("x", "x"))
    twice = pd.DataFrame([[0, 1]], columns=["y", "y"])
    with pytest.raises(cc.InputError, match="`frame` must have distinct column names"):
        cc.RocCurve.from_frame(twice, label="y", score="y")


def test_only_the_columns_asked_for_are_read():
    def fail(*_):
        raise AssertionError("this column is not needed")

    table = sample(20, 2)
    lazy = pl.from_arrow(table).lazy().with_columns(bad=pl.col("y").map_batches(fail, return_dtype=pl.Int64))
    relation = duckdb.connect().from_arrow(table).project("*, error('not needed')::double as bad")
    for frame in (lazy, relation):
        found = cc.RocCurve.from_frame(frame, label="y", score="a")
        assert found.n_pos + found.n_neg == 20


def test_names_of_columns_may_be_any_text(engine):
    odd = "c`'; drop.table\"--"
    table = sample(20, 2)
    frame = frame_of(engine, table.rename_columns(["y", odd, "b", "w", "name"]), 7)
    expected = cc.RocCurve.from_predictions(table["y"].to_numpy(), table["a"].to_numpy(), name=odd)
    assert cc.RocCurve.from_frame(frame, label="y", score=odd).to_dict() == expected.to_dict()


def test_a_query_that_fails_says_why():
    relation = duckdb.sql("select 1 as y, error('no such luck')::double as a")
    with pytest.raises(cc.FormatError, match=r"the relation must be readable .* no such luck"):
        cc.RocCurve.from_frame(relation, label="y", score="a")


def test_data_that_change_between_passes_are_refused():
    table = sample(60, 2).to_pandas()
    calls = iter(range(100))
    frame = dd.from_map(lambda i: table.iloc[next(calls) :], [0], meta=table.iloc[:0])
    with pytest.raises(cc.DataError, match="must stay the same while they are read, got 59 rows after 60"):
        cc.RocCurve.from_frame(frame, label="y", score="a", points="hull")


def test_too_many_distinct_scores_are_refused_with_what_to_do(lazy, monkeypatch):
    monkeypatch.setattr(frame_source, "MOST_DISTINCT", 30)
    frame = frame_of(lazy, sample(60, 2), 30)
    with pytest.raises(cc.UnsupportedError, match=r"`points='all'` must hold all .* more than 30: use points='hull'"):
        cc.RocCurve.from_frame(frame, label="y", score="a")
    for weight in (None, "w"):
        cc.RocCurve.from_frame(frame, label="y", score="a", weight=weight, points="hull")


def test_relations_without_pyarrow_name_the_extra(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(cc.MissingExtraError, match=r'needs pyarrow: pip install "costcurves\[files\]"'):
        cc.RocCurve.from_frame(duckdb.sql("select 1 as y, 0.5 as a"), label="y", score="a")


def test_decimals_become_the_nearest_floats_in_every_engine():
    rng = np.random.default_rng(4)
    exact = [Decimal(int(n)).scaleb(-17) for n in rng.integers(0, 10**17, 60)]
    table = pa.table({"y": [0, 1] * 30, "a": pa.array(exact, pa.decimal128(20, 17))})
    expected = cc.RocCurve.from_predictions([0, 1] * 30, [float(value) for value in exact], name="a").to_dict()
    for engine in ("polars", "polars lazy", "pyarrow", "duckdb"):
        assert cc.RocCurve.from_frame(frame_of(engine, table, 11), label="y", score="a").to_dict() == expected


def test_labels_of_every_type_are_read(lazy):
    table = sample(60, 2)
    truth = table["y"].to_numpy() == 1
    expected = cc.RocCurve.from_predictions(truth, table["a"].to_numpy(), name="a").to_dict()
    kinds = {"bool": truth, "float": truth * 1.0, "signs": truth * 2 - 1}
    for values in kinds.values():
        frame = frame_of(lazy, table.set_column(0, "y", pa.array(values)), 13)
        assert cc.RocCurve.from_frame(frame, label="y", score="a").to_dict() == expected
    coded = table.set_column(0, "y", pa.array(np.where(truth, "yes", "no")).dictionary_encode())
    frame = frame_of(lazy, coded, 13)
    assert cc.RocCurve.from_frame(frame, label="y", score="a", pos_label="yes").to_dict() == expected


def test_a_column_named_like_all_columns_is_itself():
    frame = duckdb.sql('select range % 2 as y, range::double as "*" from range(10)')
    assert cc.RocCurve.from_frame(frame, label="y", score="*").tp[-1] == 5


def test_labels_that_a_query_has_made_large_are_numbers():
    frame = duckdb.sql("select (range % 2)::hugeint as y, range::double as a from range(10)")
    assert cc.RocCurve.from_frame(frame, label="y", score="a").tp[-1] == 5
