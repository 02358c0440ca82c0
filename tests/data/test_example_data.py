"""The shipped example data are whole, and their labels are those of the source."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from fractions import Fraction
from pathlib import Path

import pytest

import costcurves as cc
import oracles

ROOT = Path(__file__).resolve().parents[2]
SHIPPED = cc.example_path("german_credit_scores.csv")
SOURCES = ROOT.parent / "shared" / "data"
CLASSIFIERS = ("logit", "forest", "bayes", "tree")


@pytest.fixture(scope="module")
def rows() -> list[dict[str, str]]:
    with SHIPPED.open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def test_shipped_scores_have_every_applicant_and_column(rows):
    assert tuple(rows[0]) == ("label", "fold", *CLASSIFIERS)
    assert Counter(row["label"] for row in rows) == {"good": 700, "bad": 300}


def test_folds_are_stratified(rows):
    assert Counter((row["fold"], row["label"]) for row in rows) == {
        (str(fold), label): count for fold in range(10) for label, count in (("good", 70), ("bad", 30))
    }


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_scores_are_probabilities_with_six_decimals(rows, name):
    assert all(0 <= float(row[name]) <= 1 and len(row[name]) == len("0.000000") for row in rows)


def test_no_single_classifier_owns_the_hull(rows):
    labels = [int(row["label"] == "bad") for row in rows]
    curves = {name: oracles.roc_rates(labels, [float(row[name]) for row in rows]) for name in CLASSIFIERS}
    hull = oracles.hull_by_wrapping({point for curve in curves.values() for point in curve}, 1, 1)
    inner = hull[1:-1]
    assert not any(set(inner) <= set(curve) for curve in curves.values())


def test_every_classifier_is_worth_something_at_the_documented_costs(rows):
    labels = [int(row["label"] == "bad") for row in rows]
    pc = Fraction(3 * 5, 3 * 5 + 7)
    for name in CLASSIFIERS:
        rates = oracles.roc_rates(labels, [float(row[name]) for row in rows])
        assert oracles.envelope(rates, pc) < min(pc, 1 - pc)


@pytest.fixture(scope="module")
def vehicles() -> list[dict[str, str]]:
    with cc.example_path("vehicle_predictions.csv").open(encoding="ascii", newline="") as file:
        return list(csv.DictReader(file))


def test_vehicle_predictions_have_every_vehicle_and_column(vehicles):
    assert tuple(vehicles[0]) == ("label", "logit", "forest", "bayes")
    assert Counter(row["label"] for row in vehicles) == {"bus": 218, "saab": 217, "opel": 212, "van": 199}
    assert {value for row in vehicles for value in row.values()} == {"bus", "opel", "saab", "van"}


@pytest.mark.parametrize(("name", "table"), [("german_credit", "rows"), ("vehicle", "vehicles")])
def test_labels_agree_with_the_source(request, name, table):
    source = SOURCES / f"{name}.csv.gz"
    if not source.is_file():
        pytest.skip(f"the source data are not beside the repository: {source.name}")
    with gzip.open(source, "rt", encoding="ascii", newline="") as file:
        assert [row["label"] for row in request.getfixturevalue(table)] == [
            row["target"] for row in csv.DictReader(file)
        ]
