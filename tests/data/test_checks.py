"""Faults that are put into predictions are found, and sound predictions raise no alarm."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import roc_auc_score

import costcurves as cc
from costcurves.data.readers.columns import role_of
from laws import FUZZ_SEED, random_worlds


def found(y, scores, columns=None, **options) -> dict[str, list]:
    """Return the findings by check; warnings of reversed scores are not what is tested here."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = cc.Predictions(y, scores, **options).check(columns)
    by_check: dict[str, list] = {}
    for one in result.findings:
        by_check.setdefault(one.check, []).append(one)
    order = ["error", "warning", "note"]
    assert [one.severity for one in result.findings] == sorted((f.severity for f in result.findings), key=order.index)
    assert result.serious == tuple(one for one in result.findings if one.severity != "note")
    return by_check


def world(rng, n=None):
    """Return labels of at least 30 of each class, and informative scores without ties."""
    n = int(rng.integers(150, 1200)) if n is None else n
    y = rng.random(n) < rng.uniform(0.2, 0.6)
    y[:30], y[30:60] = True, False
    return y, y * rng.uniform(0.3, 2) + rng.normal(size=n)


@pytest.mark.law
def test_sound_predictions_raise_no_alarm():
    for rng in random_worlds(25, stream=1800):
        y, score = world(rng)
        n, digits = y.size, int(rng.integers(0, 3))
        scores = {"a": np.round(score, digits), "b": np.round(score + rng.normal(size=n), digits)}
        # Patients have several rows each, which have nothing in common.
        serious = [
            one
            for one in cc.Predictions(y, scores).check({"patient": rng.integers(0, n // 3, n)}).findings
            if one.severity != "note"
        ]
        assert not serious
        p = rng.beta(1, 2, n)
        drawn = rng.random(n) < p
        if 30 <= drawn.sum() <= n - 30:
            assert not found(drawn, {"p": p})


@pytest.mark.law
def test_copies_of_rows_are_found_and_counted():
    for rng in random_worlds(12, stream=1801):
        y, score = world(rng, 800)
        rows = np.append(np.arange(800), rng.integers(0, 800, 160))
        frame = pd.DataFrame({"y": y[rows], "a": score[rows], "b": (score**3)[rows]})
        (one,) = found(frame.y, frame[["a", "b"]])["duplicates"]
        assert one.rows == frame.duplicated().sum()
        # With an identifier of each row, a single copy is enough; with different identifiers there is none.
        few = np.append(np.arange(800), [5])
        (one,) = found(y[few], {"a": score[few]}, {"id": few})["duplicates"]
        assert one.rows == 1
        assert "duplicates" not in found(frame.y, frame[["a"]], {"id": np.arange(960)})
        assert "duplicates" not in found(y[few], {"a": score[few]})


@pytest.mark.law
def test_dependence_is_found_where_an_analysis_of_variance_finds_it():
    seen = set()
    for rng in random_worlds(60, stream=1802):
        n, k = 360, int(rng.integers(20, 120))
        patient = np.sort(rng.integers(0, k, n))
        y = rng.random(n) < 0.4
        score = y + rng.normal(size=n) + rng.choice([0, 0.2, 0.5, 1]) * rng.normal(size=k)[patient]
        ranks = stats.rankdata(score, method="dense")
        smallest, effect = 1.0, 1.0
        for outcome in (y.astype(float), ranks):
            parts = [outcome[patient == one] for one in np.unique(patient)]
            result = stats.f_oneway(*parts)
            sizes = np.array([part.size for part in parts])
            m = (n - (sizes**2).sum() / n) / (sizes.size - 1)
            r = (result.statistic - 1) / (result.statistic + m - 1)
            if 2 * result.pvalue <= 1e-4:
                effect = max(effect, 1 + (m - 1) * r)
            smallest = min(smallest, result.pvalue)
        told = found(y, {"a": score}, {"patient": patient}).get("dependent", [])
        seen.add(bool(told))
        assert bool(told) == (2 * smallest <= 1e-4 and effect > 1.1)
        if told:
            assert f"only {round(n / effect):,} independent rows" in told[0].message
            assert told[0].rows == sum(size for size in np.bincount(patient) if size > 1)
    assert FUZZ_SEED is not None or seen == {True, False}


def test_a_design_effect_is_by_how_much_a_rate_varies_more():
    # Rows of ten, with the same label in each: the share of positives varies as that of a tenth of the rows.
    rng = np.random.default_rng(0)
    patient = np.repeat(np.arange(80), 10)
    y = (rng.random(80) < 0.5)[patient]
    (one,) = found(y, {"a": rng.normal(size=800)}, {"patient": patient})["dependent"]
    assert "only 80 independent rows" in one.message


@pytest.mark.law
def test_perfect_and_reversed_scores_are_those_whose_area_says_so():
    for rng in random_worlds(40, stream=1803):
        y, score = world(rng)
        shift = rng.choice([-40, 0, 40])
        scores = score + shift * y
        told = found(y, {"a": scores})
        assert ("perfect" in told) == (roc_auc_score(y, scores) == 1)
        assert ("reversed" in told) == (shift < 0)
        assert "reversed" not in found(y, {"a": -scores}) or shift >= 0
    assert "perfect" not in found([0] * 60 + [1] * 9, {"a": [0.0] * 60 + [1.0] * 9})
    tied = found([0] * 30 + [1] * 30, {"a": [0.0] * 29 + [1.0] * 31})
    assert "perfect" not in tied  # one negative shares the score of the positives


def test_uncalibrated_probabilities_are_found_and_their_error_is_told():
    rng = np.random.default_rng(3)
    p = rng.beta(1, 2, 2000)
    y = rng.random(2000) < p
    assert "calibration" not in found(y, {"p": p})
    for other in (p**2, np.sqrt(p), 0.5 + (p - 0.5) / 2):
        (one,) = found(y, {"p": other})["calibration"]
        order = np.argsort(other)
        error = sum(abs((y[part] - other[part]).sum()) for part in np.array_split(order, 10)) / 2000
        assert f"off by {error:.2g} on average" in one.message
    assert "calibration" not in found(y, {"p": 3 * p})  # no probabilities at all
    impossible = np.where(y, 0.0, p)
    assert found(y, {"p": impossible})["calibration"]
    # Weights that undo a change of class frequencies make probabilities calibrated again.
    kept = ~y | (rng.random(2000) < 0.3)
    assert found(y[kept], {"p": p[kept]})["calibration"]
    assert "calibration" not in found(y[kept], {"p": p[kept]}, sample_weight=np.where(y[kept], 1 / 0.3, 1.0))


@pytest.mark.parametrize("n", [1, 2, 10, 29, 30])
def test_a_class_with_few_cases_is_told_of_with_its_limit(n):
    told = found([0] * 50 + [1] * n, {"a": np.arange(50 + n) % 17}).get("few", [])
    assert len(told) == (n < 30)
    if told:
        limit = stats.binomtest(0, n).proportion_ci(0.90, method="exact").high
        assert f"up to {100 * limit:.2g} %" in told[0].message
        assert told[0].rows == n
    assert found([0] * n + [1] * 50, {"a": np.arange(50 + n) % 17}).keys() >= ({"few"} if n < 30 else set())


def test_weights_make_cases_few():
    weights = np.r_[np.ones(100), np.ones(98), 1000.0, 1000.0]
    told = found([0] * 100 + [1] * 100, {"a": np.arange(200) % 17}, sample_weight=weights)
    assert told["few"][0].rows == 100
    assert told["weights"]


def test_ties_and_copies_of_classifiers_are_told_of():
    y = np.arange(120) % 2
    a = (np.arange(120) * 7) % 120 / 120
    told = found(y, {"a": a, "b": np.exp(a), "one": a * 0, "two": a > 0.5, "much": np.maximum(a, 0.4)})
    assert [(one.column, one.severity, one.rows) for one in told["ties"]] == [
        ("one", "error", 120),
        ("two", "warning", 120),
        ("much", "note", 49),
    ]
    assert [one.column for one in told["same"]] == ["b"]


@pytest.mark.parametrize(
    ("name", "values", "role"),
    [
        ("weight", [0.5, 2.0], "weight"),
        ("Sample Weight", [1, 2], "weight"),
        ("w", [1.0, 3.0], "weight"),
        ("weight", [-0.5, 2.0], None),
        ("wt_tree", [0.5, 1.5], "weight"),
        ("weightless", [0.5, 1.5], None),
        ("patientID", [3.0, 3.0], "id"),
        ("customer_id", ["a", "b"], "id"),
        ("ID", [7, 9], "id"),
        ("ideal", [7, 9], None),
        ("forest", np.arange(9.0), None),
        ("forest", np.arange(10.0)[::-1] + 100, "id"),
        ("forest", np.arange(10.0) + 0.5, None),
        ("forest", np.r_[np.arange(9), 0], None),
        ("month", [1, 2], "time"),
        ("cv fold", [1, 2], "fold"),
        ("logit2", [0.1, 0.2], None),
        ("", [0.1, 0.2], None),
    ],
)
def test_roles_of_columns_follow_from_names_and_values(name, values, role):
    assert role_of(name, np.asarray(values)) == role


def test_scores_that_are_weights_or_identifiers_are_errors_and_unused_weights_are_told_of():
    y = np.arange(120) % 2
    told = found(y, {"weight": y + 0.5, "id": y * 2.0 + np.arange(120) % 5})
    assert [(one.column, one.severity) for one in told["roles"]] == [("weight", "error"), ("id", "error")]
    told = found(y, {"a": np.arange(120) % 7}, {"weight": y + 0.5})
    assert [(one.column, one.severity) for one in told["roles"]] == [("weight", "warning")]
    assert "roles" not in found(y, {"a": np.arange(120) % 7}, {"weight": y + 0.5}, sample_weight=y + 0.5)


def test_other_columns_may_be_a_frame_with_texts_and_missing_values():
    y = np.arange(200) % 2
    frame = pd.DataFrame(
        {"patient": [None if i % 9 == 0 else f"p{i // 20}" for i in range(200)], "when": pd.Timestamp(0)}
    )
    told = found(y, {"a": np.repeat(np.arange(10), 20) + y * 0.1}, frame)
    assert "dependent" in told
    with pytest.raises(cc.InputError, match=r"`columns` must have one value per example, shape \(200,\), got shape"):
        cc.Predictions(y, {"a": y}).check({"id": [1, 2]})


def test_files_are_checked_like_arrays():
    path = cc.example_path("german_credit_scores.csv")
    names = ["logit", "forest", "bayes", "tree"]
    table = pd.read_csv(path)
    scan = cc.scan(path, label="label", scores=names, pos_label="bad", progress=False)
    assert scan.check().to_dict() == cc.Predictions(table["label"], table[names], pos_label="bad").check().to_dict()
    assert [(one.check, one.column) for one in scan.check().findings] == [
        ("calibration", "bayes"),
        ("calibration", "tree"),
    ]
