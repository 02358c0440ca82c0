"""Data that several test modules share: small named curves, random sets of classifiers, Hypothesis strategies."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

import costcurves as cc
import oracles

GRID = [Fraction(i, 24) for i in range(25)]
FINE = np.linspace(0, 1, 1001)

PERFECT = ([0, 0, 1, 1], [1.0, 2.0, 3.0, 4.0])
REVERSED = ([1, 1, 0, 0], [1.0, 2.0, 3.0, 4.0])
ALL_TIED = ([0, 1, 0, 1], [1.0, 1.0, 1.0, 1.0])
TWO = ([0, 1], [0.0, 1.0])
MIXED = ([0, 0, 1, 1, 0, 1], [0.1, 0.4, 0.35, 0.8, 0.8, 0.6])
NAMED = {"perfect": PERFECT, "reversed": REVERSED, "all tied": ALL_TIED, "two": TWO, "mixed": MIXED}


@st.composite
def predictions(draw, largest=14, levels=6):
    """Draw labels of both classes and tied scores in [0, 1]."""
    labels = draw(st.permutations([0, 1, *draw(st.lists(st.integers(0, 1), max_size=largest - 2))]))
    scores = draw(st.lists(st.integers(0, levels), min_size=len(labels), max_size=len(labels)))
    return list(labels), [score / levels for score in scores]


@st.composite
def classifiers(draw, most=4):
    """Draw curves of several kinds, named a, b, ..., with the exact rates of each: (curves, {name: rates})."""
    curves, rates = [], {}
    for name in "abcdef"[: draw(st.integers(1, most))]:
        kind = draw(st.sampled_from(["scores", "table", "rates"]))
        if kind == "scores":
            labels, scores = draw(predictions())
            curves.append(cc.RocCurve.from_predictions(labels, scores, name=name))
            rates[name] = oracles.roc_rates(labels, scores)
        elif kind == "table":
            tn, fp, fn, tp = draw(st.tuples(*[st.integers(0, 9)] * 4))
            tn, fn = tn + (tn + fp == 0), fn + (fn + tp == 0)
            curves.append(cc.RocCurve.from_confusion_matrix([[tn, fp], [fn, tp]], name=name))
            rates[name] = [(Fraction(fp, tn + fp), Fraction(tp, fn + tp))]
        else:
            x, y = draw(st.tuples(*[st.floats(0, 1)] * 2))
            curves.append(cc.RocCurve.from_rates(x, y, name=name))
            rates[name] = [(Fraction(x), Fraction(y))]
    return curves, rates


def random_classifiers(rng, most=4, largest=10):
    """Return what `classifiers` draws, from a NumPy generator: a hundred times faster, for laws of very many worlds."""
    curves, rates = [], {}
    for name in "dbacfe"[: rng.integers(1, most + 1)]:
        kind = rng.choice(["scores", "scores", "table", "rates"])
        if kind == "scores":
            labels = rng.permutation([0, 1, *rng.integers(0, 2, rng.integers(0, largest - 1))]).tolist()
            scores = (
                rng.integers(0, rng.integers(1, 9) + 1, len(labels)) / 8 + rng.choice([0, 0.25]) * np.array(labels)
            ).tolist()
            curves.append(cc.RocCurve.from_predictions(labels, scores, name=name))
            rates[name] = oracles.roc_rates(labels, scores)
        elif kind == "table":
            tn, fp, fn, tp = (int(count) for count in rng.integers(0, 7, 4))
            tn, fn = tn + (tn + fp == 0), fn + (fn + tp == 0)
            curves.append(cc.RocCurve.from_confusion_matrix([[tn, fp], [fn, tp]], name=name))
            rates[name] = [(Fraction(fp, tn + fp), Fraction(tp, fn + tp))]
        else:
            x, y = (float(rate) for rate in rng.choice([0, 0.1, 0.25, 0.5, 0.9, 1, rng.random()], 2))
            curves.append(cc.RocCurve.from_rates(x, y, name=name))
            rates[name] = [(Fraction(x), Fraction(y))]
    return curves, rates


def everyone(rates):
    """Return the rates of all classifiers together."""
    return [rate for points in rates.values() for rate in points]


def curve_of(data, name="classifier", **options):
    """Return the ROC curve of (labels, scores)."""
    return cc.RocCurve.from_predictions(*data, name=name, **options)


def folds(count, seed, largest=12):
    """Return random tied sets and their ROC curves."""
    sets = list(oracles.random_tied_sets(count, seed=seed, largest=largest))
    return sets, [curve_of(data, name=f"fold {i}") for i, data in enumerate(sets)]
