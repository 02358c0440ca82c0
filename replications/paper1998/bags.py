"""Table 1 of DNA and Adult with other classes, codings, criteria and numbers of bagged trees.

The paper does not say which of the two small classes of DNA it used, how the bases were coded, by which criterion the
trees split, and how many trees were bagged. Each of these is changed here while the others are kept.
"""

from __future__ import annotations

from typing import Any

from replications.domains import load_domain
from replications.paper1998.analysis import agreement, best_and_areas, written
from replications.paper1998.folds import FOLDS, drawn_waveforms, out_of_fold
from replications.paper1998.members import PAPER
from replications.paper1998.table1 import PRINTED
from replications.study import BEYOND, Part, Row, Study, rng_of

GAIN, RATIO = "gain", "gain ratio"
CODINGS = {"dna": "180 indicators", "splice": "60 bases"}
# In Table 1 of Adult only these two are best anywhere, and the others would take hours.
ADULT = ("NB", "Bagged-MC4")


def parts(size: str) -> list[Part]:
    """List one part per setting; the small form draws a few waveforms and reads nothing."""
    if size == "small":
        return [_part("waveform21", "1", criterion, 2) | {"drawn": 150} for criterion in (GAIN, RATIO)]
    chosen = [("dna", one, GAIN, bags) for one in ("ie", "ei") for bags in (10, 25, 50)]
    chosen += [("dna", one, RATIO, 25) for one in ("ie", "ei")]
    chosen += [("splice", one, criterion, 25) for one in ("IE", "EI") for criterion in (GAIN, RATIO)]
    # The study has gain and 25 trees, and variants-1998 has gain ratio and 10.
    return [_part(*one) for one in (*chosen, ("adult", ">50K", GAIN, 10))]


def _part(domain: str, positive: str, criterion: str, bags: int) -> Part:
    return {"domain": domain, "positive": positive, "criterion": criterion, "bags": bags, "drawn": 0}


def work(part: Part, seed: int, data: Any = None) -> Part:
    """Find who is best where with these settings, and the areas under the averaged curves."""
    if part["drawn"]:
        domain = drawn_waveforms(part["drawn"], rng_of(seed, "waveforms", part["drawn"]))
    else:
        domain = load_domain(part["domain"], data, positive=part["positive"])
    names = ADULT if part["domain"] == "adult" else PAPER
    variant = None if part["criterion"] == GAIN else part["criterion"]
    result, _ = out_of_fold(domain, names, part | {"variant": variant}, seed, None)
    return best_and_areas(result, names)


def rows(found: list[Part]) -> list[Row]:
    """List the table of each setting with its agreement with the paper's."""
    out = []
    for part in found:
        domain = "adult" if part["domain"] == "adult" else "dna"
        printed = PRINTED[domain]
        words = [f"class {part['positive']}"] if domain == "dna" else []
        words += [CODINGS[part["domain"]]] if part["domain"] in CODINGS else []
        out.append(
            Row(
                f"Table 1, {'Adult' if domain == 'adult' else 'DNA'}",
                ", ".join([*words, part["criterion"], f"{part['bags']} in a bag"]),
                written(printed),
                written(part["ranges"]),
                BEYOND,
                f"the same name for {100 * agreement(printed, part['ranges']):.0f} % of pc; area of Bagged-MC4 "
                f"{part['auc']['Bagged-MC4']:.4f}, of NB {part['auc']['NB']:.4f}",
            )
        )
    return out


def settings(size: str) -> dict[str, Any]:
    """The settings that a reader needs to repeat the study."""
    return {"settings": len(parts(size)), "folds": FOLDS}


STUDY = Study(
    "bags-1998",
    "Table 1 of DNA and Adult with other settings (1998)",
    parts,
    work,
    rows,
    settings,
    reads_data=True,
)
