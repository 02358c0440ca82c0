"""Figure 1: raw curves of one test set, in the largest domains.

The text does not say which two domains the figure shows. It says that they are two of the largest, that naive Bayes
dominates in the first, and that nobody does in the second.
"""

from __future__ import annotations

from typing import Any

import numpy as np

import costcurves as cc
from replications.learners.folds import fold_numbers
from replications.paper1998.analysis import in_roc_space
from replications.paper1998.dominance import CLOSE
from replications.paper1998.folds import DOMAINS, domain_of
from replications.paper1998.members import BAGS, PAPER, scores
from replications.study import DIRECTION, FAILS, REPLICATES, Part, Row, Study, judged, rng_of

# The domains with more than a thousand examples, and the number of parts of the data, of which one is the test set.
LARGEST, THIRDS = ("adult", "satimage", "waveform21", "dna"), 3
# Curves are recorded at this many points, which is finer than their picture.
GRID = 501


def parts(size: str) -> list[Part]:
    """List one part per domain; the small form draws a few waveforms and reads nothing."""
    if size == "small":
        return [{"domain": "waveform21", "drawn": 150}]
    return [{"domain": name, "drawn": 0} for name in LARGEST]


def work(part: Part, seed: int, data: Any = None) -> Part:
    """Train on two thirds of a domain, and find the curves of the other third and who dominates there."""
    domain = domain_of(part, seed, data)
    third = fold_numbers(domain.y, THIRDS, rng_of(seed, part["domain"], "thirds"))
    train, test = domain.take(np.flatnonzero(third != 0)), domain.take(np.flatnonzero(third == 0))
    bags = 2 if part["drawn"] else BAGS
    curves = []
    for name in PAPER:
        found, _ = scores(name, train, test, rng_of(seed, part["domain"], "thirds", name), bags)
        curves.append(cc.RocCurve.from_predictions(test.y, found, name=name))
    grid = np.linspace(0, 1, GRID)
    return {
        "tests": test.y.size,
        "positives": int(test.y.sum()),
        "dominator": in_roc_space(curves),
        "curves": {curve.name: np.round(np.interp(grid, curve.fpr, curve.tpr), 4) for curve in curves},
    }


def behind(part: Part, name: str) -> float:
    """The most by which a curve lies below the highest of all."""
    curves = {key: np.array(values) for key, values in part["curves"].items()}
    return float((np.max(list(curves.values()), axis=0) - curves[name]).max())


def rows(found: list[Part]) -> list[Row]:
    """Ask whether there is a domain like each of the figure's two."""
    bayes = [DOMAINS[part["domain"]] for part in found if part["dominator"] == "NB"]
    none = [DOMAINS[part["domain"]] for part in found if part["dominator"] is None]
    nearest = min(found, key=lambda part: behind(part, "NB"))
    short = behind(nearest, "NB")
    where = f"of the {len(found)} largest domains; the text does not name those of the figure"
    near = f"nearest to it on {DOMAINS[nearest['domain']]}, at most {short:.3f} of true positive rate below the best"
    return [
        Row(
            "Figure 1a",
            "domains in whose test set naive Bayes dominates",
            "one is shown",
            ", ".join(bayes) or "none",
            REPLICATES if bayes else DIRECTION if short <= CLOSE else FAILS,
            f"{where}; {near}",
        ),
        judged(
            "Figure 1b",
            "domains in whose test set nobody dominates",
            "one is shown",
            ", ".join(none) or "none",
            bool(none),
            where,
        ),
    ]


def settings(size: str) -> dict[str, Any]:
    """The settings that a reader needs to repeat the study."""
    return {"domains": len(parts(size)), "share of the test set": "1/3", "bagged trees": BAGS}


STUDY = Study("raw-1998", "Figure 1: raw curves of one test set (1998)", parts, work, rows, settings, reads_data=True)
