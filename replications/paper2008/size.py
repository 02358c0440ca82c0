"""The size experiment (figure 3): coverage against pc for test sets of 25 to 10,000 examples per class."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from replications.paper2008.binormal import experiment, largest_gap, on_target
from replications.paper2008.spread import lowest
from replications.study import BEYOND, DIRECTION, FAILS, REPLICATES, Part, Row, Study, rng_of

EXAMPLES = (25, 250, 2500, 10_000)
LOCATION = 3.0


def parts(size: str) -> list[Part]:
    """List one part per size of the test set."""
    runs, step = (1000, 1) if size == "full" else (40, 14)
    return [
        {"mu": LOCATION, "n": n, "runs": runs, "step": step} for n in (EXAMPLES if size == "full" else EXAMPLES[:3])
    ]


def work(part: Part, seed: int) -> Part:
    """Compute the coverage of all intervals."""
    return dict(experiment(part["mu"], part["n"], part["runs"], part["step"], rng_of(seed, "size", part["n"])))


def rows(found: list[Part]) -> list[Row]:
    """Compare the paper's statements about figure 3, and list the corrected interval."""
    share = [on_target(part["stratified"]) for part in found]
    growing = all(b > a for a, b in pairwise(share))
    names = ", ".join(str(part["n"]) for part in found)
    out = [
        Row(
            "Figure 3",
            f"share of pc on target for {names} examples per class",
            "widens with the size",
            ", ".join(f"{100 * s:.0f} %" for s in share),
            REPLICATES if growing else DIRECTION if share[-1] > share[0] else FAILS,
        ),
        Row(
            "Figure 3",
            "share of pc on target for 25 examples per class",
            "very narrow",
            share[0],
            REPLICATES if share[0] < 0.2 else FAILS,
        ),
    ]
    gap, ratio = largest_gap(found, found[0]["runs"])
    why = f"{ratio:.1f} standard errors at its largest, of {2 * len(found) * len(found[0]['full'])} points"
    out.append(
        Row("Figure 3", f"largest gap between {found[0]['runs']} simulations and the sum", None, gap, BEYOND, why)
    )
    for kind, text in (("stratified", "the paper's interval"), ("corrected", "the corrected interval")):
        for part in found:
            value, at = lowest(part, kind)
            what = f"lowest coverage of {text}, {part['n']} per class"
            out.append(Row("Figure 3", what, None, value, BEYOND, f"at pc = {at:g}"))
    return out


def about(size: str) -> dict[str, Any]:
    """The settings that the pages state."""
    first = parts(size)[0]
    return {"location": LOCATION, "examples per class": list(EXAMPLES), "simulations": first["runs"], "level": 0.9}


STUDY = Study("size-2008", "Figure 3: coverage and the size of the test set (2008)", parts, work, rows, about)
