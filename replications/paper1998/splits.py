"""Table 1 with other folds, which shows how much of it is due to the domain and how much to the folds."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from replications.paper1998.analysis import agreement, best_and_areas
from replications.paper1998.folds import DOMAINS, FOLDS, SMALLER, domain_of, out_of_fold
from replications.paper1998.members import BAGS, PAPER
from replications.paper1998.table1 import PRINTED
from replications.study import BEYOND, Part, Row, Study

SPLITS = 5


def parts(size: str) -> list[Part]:
    """List one part per domain and assignment of its examples to folds."""
    if size == "small":
        return [{"domain": "waveform21", "drawn": 200, "bags": 2, "split": split} for split in (1, 2)]
    return [
        {"domain": name, "drawn": 0, "bags": BAGS, "split": split} for name in SMALLER for split in range(1, SPLITS + 1)
    ]


def work(part: Part, seed: int, data: Any = None, scratch: Path | None = None) -> Part:
    """Find who is best where in one split."""
    result, _ = out_of_fold(domain_of(part, seed, data), PAPER, part, seed, scratch)
    return {"ranges": best_and_areas(result, PAPER)["ranges"]}


def shares(found: list[Part]) -> dict[str, tuple[float, float]]:
    """For each domain, the mean share of pc on which two splits agree, and on which a split and the paper agree."""
    out = {}
    for domain in dict.fromkeys(part["domain"] for part in found):
        tables = [part["ranges"] for part in found if part["domain"] == domain]
        own = float(np.mean([agreement(a, b) for a, b in combinations(tables, 2)]))
        out[domain] = own, float(np.mean([agreement(table, PRINTED[domain]) for table in tables]))
    return out


def mean_shares(found: list[Part]) -> tuple[float, float]:
    """The two shares as means over the domains."""
    own, paper = np.mean(list(shares(found).values()), axis=0)
    return float(own), float(paper)


def rows(found: list[Part]) -> list[Row]:
    """List how much of Table 1 two splits agree on, and how much a split and the paper agree on."""
    out = []
    for domain, (alike, paper) in shares(found).items():
        tables = [part["ranges"] for part in found if part["domain"] == domain]
        orders = {tuple(name for name, _, _ in table) for table in tables}
        out.append(
            Row(
                f"Table 1, {DOMAINS[domain]}",
                "share of pc for which two of our splits name the same classifier",
                None,
                alike,
                BEYOND,
                f"a split and the paper: {paper:.2f}; {len(orders)} different tables of {len(tables)}",
            )
        )
    own, paper = mean_shares(found)
    words = f"a split and the paper: {paper:.2f}"
    return [*out, Row("Table 1", "the same, mean over the domains", None, own, BEYOND, words)]


def settings(size: str) -> dict[str, Any]:
    """The settings that a reader needs to repeat the study."""
    listed = parts(size)
    return {
        "domains": len({part["domain"] for part in listed}),
        "splits": len({part["split"] for part in listed}),
        "folds": FOLDS,
        "bagged trees": listed[0]["bags"],
    }


STUDY = Study(
    "splits-1998",
    "Table 1 with other folds (1998)",
    parts,
    work,
    rows,
    settings,
    reads_data=True,
    keeps_steps=True,
)
