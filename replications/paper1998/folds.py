"""Out-of-fold scores of the members on one domain, in ten stratified folds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

import costcurves as cc
from replications.domains import Bools, Domain, Floats, load_domain
from replications.learners.folds import fold_numbers
from replications.paper1998.members import TREES, scores
from replications.study import Part, rng_of

FOLDS = 10
# Names as in the files, in the order of the paper's figures. The tenth, Road, is not public.
DOMAINS = {
    "vehicle": "Vehicle",
    "waveform21": "Waveform-21",
    "dna": "DNA",
    "adult": "Adult",
    "breast_cancer_wisconsin": "Breast cancer",
    "crx": "CRX",
    "german_credit": "German",
    "pima_diabetes": "Pima",
    "satimage": "Satimage",
}
# Domains with at most a thousand examples, for studies that run many times.
SMALLER = ("vehicle", "breast_cancer_wisconsin", "crx", "german_credit", "pima_diabetes")


def domain_of(part: Part, seed: int, data: Any) -> Domain:
    """Read the domain of a part, or draw `drawn` new examples."""
    if not part["drawn"]:
        return load_domain(part["domain"], data)
    return drawn_waveforms(part["drawn"], rng_of(seed, "waveforms", part["drawn"]))


def drawn_waveforms(count: int, rng: np.random.Generator) -> Domain:
    """Draw examples of waveform-21 by its definition (Breiman, Friedman, Olshen & Stone 1984).

    An example is a random mixture of two of three triangular waves, depending on its class, with standard normal noise.
    """
    places = np.arange(1, 22)
    first = np.maximum(6.0 - np.abs(places - 11), 0)
    wave = (first, np.maximum(6.0 - np.abs(places - 15), 0), np.maximum(6.0 - np.abs(places - 7), 0))
    pair = np.array([(1, 2), (0, 2), (0, 1)])
    kind = rng.integers(3, size=count)
    share = rng.random((count, 1))
    waves = np.stack(wave)
    X = share * waves[pair[kind, 0]] + (1 - share) * waves[pair[kind, 1]] + rng.normal(size=(count, 21))
    names = tuple(f"x{i}" for i in places)
    return Domain("waveform21", X, np.zeros(21, dtype=bool), kind == 1, names, ((),) * 21, "1")


def out_of_fold(
    domain: Domain, names: Sequence[str], part: Part, seed: int, scratch: Path | None
) -> tuple[cc.Predictions, dict[str, Bools]]:
    """Evaluate the named members, and find the examples that each would call positive.

    If `scratch` is given, the scores of each member are kept there and not computed again.
    """
    split, variant = part.get("split", 0), part.get("variant")
    fold = fold_numbers(domain.y, FOLDS, rng_of(seed, part["domain"], "folds", split))
    found: dict[str, Floats] = {}
    named: dict[str, Bools] = {}
    for name in names:
        words = (part["domain"], str(split), name, *([variant] if variant and name in TREES else []))
        path = None if scratch is None else scratch / f"{'-'.join(words).replace(' ', '-')}.npz"
        if path is not None and path.exists():
            kept = np.load(path)
            found[name], named[name] = kept["scores"], kept["named"]
            continue
        found[name], named[name] = np.empty(domain.y.size), np.empty(domain.y.size, dtype=bool)
        for k in range(FOLDS):
            train, test = domain.take(np.flatnonzero(fold != k)), domain.take(np.flatnonzero(fold == k))
            rng = rng_of(seed, part["domain"], split, name, k)
            found[name][fold == k], named[name][fold == k] = scores(name, train, test, rng, part["bags"], variant)
        if path is not None:
            path.parent.mkdir(parents=True, exist_ok=True)
            np.savez_compressed(path, scores=found[name], named=named[name])
    cv = [(np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(FOLDS)]
    return cc.evaluate(found, None, domain.y, cv=cv, progress=False), named
