"""Data sets are read from CSV, gzip and ARFF alike, the minority class is positive, and bad files are named."""

from __future__ import annotations

import gzip
from pathlib import Path

import numpy as np
import pytest

import costcurves as cc
from replications.domains import FIRST_COLUMNS, OPENML, load_domain

SHARED = Path(__file__).parents[3] / "shared" / "data"
CSV = "age,job,flag,target\n30,clerk,0,good\n,cook,1,bad\n41.5,?,0,good\n22,cook,,good\n"
ARFF = """% a comment
@relation toy
@attribute age numeric
@attribute job {clerk, cook, 'sales rep'}
@attribute flag {0, 1}
@attribute target {good, bad}
@data
30,clerk,0,good
?,cook,1,bad
41.5,?,0,good
22,cook,?,good
"""
nan = np.nan
X = [[30, 0, 0], [nan, 1, 1], [41.5, nan, 0], [22, 1, nan]]


def write(folder, ending, text):
    path = folder / f"toy{ending}"
    path.write_bytes(gzip.compress(text.encode()) if ending.endswith(".gz") else text.encode())
    return path


@pytest.mark.parametrize(("ending", "text"), [(".csv", CSV), (".csv.gz", CSV), (".arff", ARFF)])
def test_every_kind_of_file_gives_the_same_domain(tmp_path, ending, text):
    write(tmp_path, ending, text)
    domain = load_domain("toy", tmp_path)
    np.testing.assert_array_equal(domain.X, X)
    assert domain.nominal.tolist() == [False, True, True]
    assert domain.y.tolist() == [False, True, False, False]
    assert domain.positive == "bad"
    assert domain.attributes == ("age", "job", "flag")
    assert domain.values[1][:2] == ("clerk", "cook")
    assert domain.values[0] == ()
    assert not domain.X.flags.writeable


def test_a_domain_gives_some_of_its_rows(tmp_path):
    write(tmp_path, ".csv", CSV)
    some = load_domain("toy", tmp_path).take(np.array([1, 3]))
    np.testing.assert_array_equal(some.X, [X[1], X[3]])
    assert some.y.tolist() == [True, False]
    assert repr(some) == "Domain('toy': 2 rows, 1 'bad', 3 attributes)"


def test_a_numeric_target_of_an_arff_is_read_as_classes(tmp_path):
    write(tmp_path, ".arff", ARFF.replace("{good, bad}", "numeric").replace("good", "1").replace("bad", "2"))
    assert load_domain("toy", tmp_path).positive == "2"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a,target\n1,x\n2\n", r"toy\.csv must have 2 fields in each row, got 1 in row 3"),
        ("a,target\n", r"must have a header, an attribute, a target and a row, got 1 lines"),
        ("a,target\n1,x\n2,\n", "must have a class in each row, got none in example 2"),
        ("a,target\n1,x\n2,y\n", "must have one class rarer than all others, got x 1, y 1"),
        ("a,target\n1,x\n2,x\n", "must have one class rarer than all others, got x 2"),
        ("a,target\ninf,x\n2,x\n3,y\n", "must have finite numbers, got an infinite value of 'a'"),
        ("\xff", "must have a header"),
    ],
)
def test_bad_tables_are_refused_by_file_rule_and_value(tmp_path, text, message):
    write(tmp_path, ".csv", text)
    with pytest.raises(cc.CostCurvesError, match=message):
        load_domain("toy", tmp_path)


def test_bad_files_are_refused(tmp_path):
    with pytest.raises(cc.InputError, match=r"`data` must hold toy\.csv\.gz or toy\.csv or toy\.arff, got"):
        load_domain("toy", tmp_path)
    with pytest.raises(cc.InputError, match="`data` must be a directory, got"):
        load_domain("toy", tmp_path / "nothing")
    path = write(tmp_path, ".arff", ARFF.replace("22,cook", "22,pilot"))
    with pytest.raises(cc.FormatError, match=r"toy\.arff must be an ARFF of numeric and nominal attributes"):
        load_domain("toy", tmp_path)
    path.unlink()
    (tmp_path / "toy.csv.gz").write_bytes(b"no gzip")
    with pytest.raises(cc.FormatError, match=r"toy\.csv\.gz must be UTF-8 text in gzip"):
        load_domain("toy", tmp_path)
    with pytest.raises(cc.InputError, match=r"`name` must be one of adult, .*, got 'toy'"):
        load_domain("toy")


def fetched(monkeypatch, fetch):
    monkeypatch.setattr("sklearn.datasets.fetch_openml", fetch)


def test_without_a_directory_the_set_is_fetched_by_its_number(monkeypatch):
    from sklearn.utils import Bunch

    asked = []

    def fetch(**options):
        asked.append(options)
        target = np.array(["good", "bad", "good", "good"], dtype=object)
        return Bunch(
            data=np.array(X),
            target=target,
            feature_names=["age", "job", "flag"],
            categories={"job": ["clerk", "cook"], "flag": ["0", "1"]},
        )

    fetched(monkeypatch, fetch)
    domain = load_domain("german_credit")
    assert asked == [{"data_id": 31, "as_frame": False, "parser": "liac-arff"}]
    np.testing.assert_array_equal(domain.X, X)
    assert (domain.positive, domain.nominal.tolist()) == ("bad", [False, True, True])


def test_of_the_second_waveform_only_the_first_attributes_are_taken(monkeypatch):
    from sklearn.utils import Bunch

    table = np.arange(120.0).reshape(3, 40)
    names = [f"x{i}" for i in range(1, 41)]
    fetched(
        monkeypatch, lambda **options: Bunch(data=table, target=["0", "0", "1"], feature_names=names, categories={})
    )
    domain = load_domain("waveform21")
    assert domain.attributes == tuple(names[: FIRST_COLUMNS["waveform21"]])
    np.testing.assert_array_equal(domain.X, table[:, :21])


def test_without_a_network_the_message_says_what_to_do(monkeypatch):
    from urllib.error import URLError

    def fetch(**options):
        raise URLError("no route to host")

    fetched(monkeypatch, fetch)
    with pytest.raises(cc.DataError, match=r"data set 40 of OpenML \(sonar\) must be within reach, or `data`"):
        load_domain("sonar")


# Rows, attributes, nominal attributes, positive class and its rows, missing values: as each set is documented.
FACTS = {
    "adult": (48842, 14, 8, ">50K", 11687, 6465),
    "breast_cancer_wisconsin": (699, 9, 0, "malignant", 241, 16),
    "crx": (690, 15, 9, "+", 307, 67),
    "german_credit": (1000, 20, 13, "bad", 300, 0),
    "pima_diabetes": (768, 8, 0, "pos", 268, 0),
    "satimage": (6435, 36, 0, "damp_grey_soil", 626, 0),
    "waveform21": (5000, 21, 0, "1", 1647, 0),
    "dna": (3186, 180, 180, "ie", 765, 0),
    "vehicle": (846, 18, 0, "van", 199, 0),
    "sonar": (208, 60, 0, "R", 97, 0),
    "splice": (3190, 60, 60, "EI", 767, 0),
}


@pytest.mark.skipif(not SHARED.is_dir(), reason="the original data sets are not in ../shared/data")
@pytest.mark.parametrize("name", OPENML)
def test_the_original_sets_have_the_documented_sizes(name):
    domain = load_domain(name, SHARED)
    missing = int(np.isnan(domain.X).sum())
    assert (*domain.X.shape, domain.nominal.sum(), domain.positive, domain.y.sum(), missing) == FACTS[name]


def test_the_positive_class_can_be_chosen(tmp_path):
    (tmp_path / "play.csv").write_text("wind,target\nno,a\nyes,a\nno,b\nyes,c\nno,c\n", encoding="utf-8")
    assert load_domain("play", tmp_path).positive == "b"
    assert load_domain("play", tmp_path, positive="c").y.tolist() == [False, False, False, True, True]
    with pytest.raises(cc.InputError, match=r"`positive` must be a class of .*: a, b, c, got 'd'"):
        load_domain("play", tmp_path, positive="d")
