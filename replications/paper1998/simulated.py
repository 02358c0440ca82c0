"""How often tests of dominance are wrong and how often they find it, on drawn scores whose true curves are known."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np

import costcurves as cc
from replications.domains import Bools, Floats
from replications.study import BEYOND, Part, Row, Study, rng_of

FOLDS, RESAMPLES, POINTS, VERSIONS = 5, 200, 25, 3
# The mean and the spread of the positives' scores of two classifiers; negatives have mean 0 and spread 1.
WORLDS = {
    "equal": ((1.2, 1.0), (1.2, 1.0)),
    "equal, tied": ((1.2, 1.0), (1.2, 1.0)),
    "crossing": ((1.2, 1.0), (1.6, 2.0)),
    "dominating": ((2.2, 1.0), (1.2, 1.0)),
}
SIZES = ((50, 250), (250, 50))
ASKED: dict[str, dict[str, Any]] = {
    "intervals": {"space": "roc", "test": "intervals"},
    "paired": {"space": "roc"},
    "paired, fpr up to 0.2": {"space": "roc", "over": (0, 0.2)},
    "cost": {"space": "cost"},
    "versions": {"versions": {"a": "a", "b": ["b", *(f"b{i}" for i in range(1, VERSIONS))]}},
}


def parts(size: str) -> list[Part]:
    """List one part per world and size of the test set."""
    if size == "small":
        return [{"world": "equal", "n_pos": 30, "n_neg": 30, "sets": 3}]
    return [{"world": world, "n_pos": pos, "n_neg": neg, "sets": 100} for world in WORLDS for pos, neg in SIZES]


def drawn(part: Part, rng: np.random.Generator) -> tuple[Bools, dict[str, Floats], Any]:
    """Draw labels, the scores of both classifiers and of further versions of the second, and folds."""
    y = np.repeat([True, False], [part["n_pos"], part["n_neg"]])
    fold = np.concatenate([rng.permutation(int(kind.sum())) % FOLDS for kind in (y, ~y)])
    shared = rng.normal(size=y.size)
    first, second = WORLDS[part["world"]]
    scores = {}
    for name, (mean, spread) in {"a": first, **{f"b{i or ''}": second for i in range(VERSIONS)}}.items():
        noise = (shared + rng.normal(size=y.size)) / np.sqrt(2)
        scores[name] = np.where(y, mean + spread * noise, noise)
        if "tied" in part["world"]:
            scores[name] = np.round(scores[name])
    return y, scores, fold


def truth(world: str, points: Floats) -> Floats:
    """The true advantage of the first classifier at some false positive rates."""
    from scipy.special import ndtr, ndtri

    first, second = (ndtr((mean - ndtri(1 - points)) / spread) for mean, spread in WORLDS[world])
    return np.asarray(first - second)


def work(part: Part, seed: int) -> Part:
    """Count, for each test, sets with any claim, with a false claim in ROC space, and with a dominator."""
    counts = {name: {"any": 0, "false": 0, "unrefuted": 0, "dominator": 0} for name in ASKED}
    for k in range(part["sets"]):
        y, scores, fold = drawn(part, rng_of(seed, *part.values(), k))
        for name, options in ASKED.items():
            used = scores if name == "versions" else {one: scores[one] for one in ("a", "b")}
            found = cc.significant_dominance(
                y, used, folds=fold, n_points=POINTS, n_resamples=RESAMPLES, rng=k, **options
            )
            count = counts[name]
            count["any"] += any(found.where(*pair) for pair in permutations(("a", "b")))
            count["unrefuted"] += bool(found.unrefuted)
            count["dominator"] += bool(found.dominators)
            if found.space == "roc":
                gap = truth(part["world"], np.maximum(found.points, 1e-9))  # at 0 all curves are 0 in the limit
                count["false"] += bool(
                    ((found.lower[0] > 0) & (gap <= 0)).any() or ((found.upper[0] < 0) & (gap >= 0)).any()
                )
    return {"counts": counts}


def rows(found: list[Part]) -> list[Row]:
    """List the shares of data sets with wrong and with right claims."""
    out = []
    for part in found:
        where = f"Simulation, {part['world']}, {part['n_pos']} + {part['n_neg']} cases"
        for name, count in part["counts"].items():
            kinds = ["any"]
            if part["world"] == "crossing":
                # Up to 0.2 the second one truly dominates.
                kinds = ["unrefuted"] if "over" not in ASKED[name] else []
                kinds += ["false"] if ASKED[name].get("space") == "roc" else []
            elif part["world"] == "dominating":
                kinds = ["any", "dominator"]
            for kind in kinds:
                share = count[kind] / part["sets"]
                error = float(np.sqrt(share * (1 - share) / part["sets"]))
                out.append(Row(where, f"{_WHAT[kind]}: {name}", None, share, BEYOND, "", error))
    return out


_WHAT = {
    "any": "share of data sets in which a difference is called significant",
    "false": "share with a claim at a point where the truth is the opposite",
    "unrefuted": "share with a classifier better somewhere and worse nowhere, though none dominates",
    "dominator": "share with a classifier that is better everywhere in the region",
}


def settings(size: str) -> dict[str, Any]:
    """The settings that a reader needs to repeat the study."""
    return {"data sets": parts(size)[0]["sets"], "folds": FOLDS, "points": POINTS, "resamples": RESAMPLES}


STUDY = Study("tests-1998", "Tests of dominance: false claims and power (1998)", parts, work, rows, settings)
