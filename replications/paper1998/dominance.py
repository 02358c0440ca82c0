"""Figures 2 and 3 and Table 1: nine domains, six inducers, and three present-day learners."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

import costcurves as cc
from replications.paper1998 import significance
from replications.paper1998.analysis import LEVEL, POINTS, agreement, judged
from replications.paper1998.folds import DOMAINS, FOLDS, domain_of, out_of_fold
from replications.paper1998.members import BAGS, FOREST, PAPER, TODAY
from replications.paper1998.table1 import PRINTED, names_of, table_row
from replications.study import BEYOND, DIRECTION, FAILS, REPLICATES, Part, Row, Study

GROUPS = {"paper": PAPER, "today": TODAY, "all": (*PAPER, *TODAY)}
# The paper does not give numbers for "few" and "many". These are ours.
FEW, SOME = 0.1, 0.5
# A curve is called very close to dominating if it is never further than this below, in true positive rate.
CLOSE = 0.02


def parts(size: str) -> list[Part]:
    """List one part per domain; the small form draws a few hundred waveforms and reads nothing."""
    if size == "small":
        return [{"domain": "waveform21", "drawn": 200, "bags": 2}]
    return [{"domain": name, "drawn": 0, "bags": BAGS} for name in DOMAINS]


def work(part: Part, seed: int, data: Any = None, scratch: Path | None = None) -> Part:
    """Compute the averaged curves of all members on one domain, and their results."""
    domain = domain_of(part, seed, data)
    result, named = out_of_fold(domain, GROUPS["all"], part, seed, scratch)
    return {"positive": domain.positive, **judged(result, named, GROUPS)}


def rows(found: list[Part]) -> list[Row]:
    """Compare the paper's statements with ours, and add those about the present-day learners."""
    return [
        *_choice_of_domains(found),
        *(_absolute(part) for part in found),
        *_runs(found),
        *(table_row(part, found) for part in found),
        *_whole_table(found),
        *_certainty(found),
        *_accuracy(found),
        *_today(found),
    ]


def _choice_of_domains(found: list[Part]) -> list[Row]:
    fewest = min(part["rows"] for part in found)
    accurate = {DOMAINS[part["domain"]]: part["accuracy"]["MC4"] for part in found}
    high = [name for name, value in accurate.items() if value >= 0.95]
    return [
        Row("Section 3.3", "examples of the smallest domain", "at least 250", str(fewest), _holds(fewest >= 250)),
        Row(
            "Section 3.3",
            "domains in which the accuracy of the tree is below 95 %",
            "all",
            f"{len(found) - len(high)} of {len(found)}",
            _graded(len(found) - len(high), len(found)),
            f"the minority against the rest; the paper may have counted all classes; more on {_listed(set(high))}",
        ),
    ]


def _absolute(part: Part) -> Row:
    """Make the row on a dominator, by the curves or by their hulls as in Table 1."""
    group = part["groups"]["paper"]
    printed = PRINTED[part["domain"]][0][0] if len(PRINTED[part["domain"]]) == 1 else None
    by_curve, by_hull = group["dominator"], group["hull_dominator"]
    # The paper's definition is about the curves. A classifier that dominates only by its hull is close to that.
    verdict = REPLICATES if printed == by_curve else DIRECTION if printed is not None and printed == by_hull else FAILS
    name, gap = nearest(part, PAPER)
    words = f"nearest to it is {name}, at most {gap:.3f} of true positive rate below the best"
    if by_curve is not None:
        share = agreement(PRINTED[part["domain"]], [[by_curve, 0.0, None]])
        words = f"its curve lies nowhere below another; in the paper's table it is best for {100 * share:.0f} % of pc"
    elif by_hull is not None:
        words = f"on the hull {by_hull} dominates, its curve is up to {gap:.3f} below the best"
    return Row(
        f"Figures 2 and 3, {DOMAINS[part['domain']]}",
        "absolute dominator",
        printed or "none",
        by_curve or (f"none by curves, {by_hull} by hulls" if printed is not None and by_hull else "none"),
        verdict,
        words,
    )


def nearest(part: Part, names: tuple[str, ...]) -> tuple[str, float]:
    """Find the averaged curve that falls least below the highest of all at its worst point, and by how much."""
    curves = np.array([part["curves"][name] for name in names])
    gaps = (curves.max(axis=0) - curves).max(axis=1)
    return names[int(np.argmin(gaps))], float(gaps.min())


def _runs(found: list[Part]) -> list[Row]:
    runs = FOLDS * len(found)
    by_curve = sum(name is not None for part in found for name in part["groups"]["paper"]["fold_dominators"])
    by_hull = sum(name is not None for part in found for name in part["groups"]["paper"]["fold_hull_dominators"])
    gaps = {part["domain"]: nearest(part, PAPER)[1] for part in found}
    close = [name for name in ("adult", "waveform21") if name in gaps]
    near = [gaps[name] <= CLOSE for name in close]
    return [
        Row(
            "Section 3.3",
            "runs (a fold of a domain) with a dominating classifier",
            "very few of 100",
            f"{by_curve} of {runs}",
            REPLICATES if by_curve <= FEW * runs else DIRECTION if by_curve <= SOME * runs else FAILS,
            f"{by_hull} by their hulls",
        ),
        Row(
            "Section 3.3",
            "how far the nearest is from dominating: Adult, Waveform-21",
            "very close",
            ", ".join(f"{gaps[name]:.3f}" for name in close),
            REPLICATES if near and all(near) else DIRECTION if any(near) else FAILS,
            f"at most {CLOSE} of true positive rate counts as very close",
        ),
    ]


def _whole_table(found: list[Part]) -> list[Row]:
    printed = [PRINTED[part["domain"]] for part in found]
    ours = [part["groups"]["paper"]["ranges"] for part in found]
    never = {"paper": set(PAPER) - names_of(printed), "ours": set(PAPER) - names_of(ours)}
    out = [
        Row(
            "Table 1",
            "who is best nowhere, in no domain",
            _listed(never["paper"]),
            _listed(never["ours"]),
            REPLICATES if never["paper"] == never["ours"] else DIRECTION if never["paper"] & never["ours"] else FAILS,
        )
    ]
    for place, words in ((0, "smallest"), (-1, "largest")):
        same = sum(a[place][0] == b[place][0] for a, b in zip(printed, ours, strict=True))
        counts = [Counter(table[place][0] for table in tables) for tables in (printed, ours)]
        text = [", ".join(f"{name} {n}" for name, n in count.most_common()) for count in counts]
        out.append(
            Row(
                "Table 1",
                f"who is best at the {words} slopes, in how many domains",
                text[0],
                text[1],
                _beyond_chance(same, counts, len(found)),
                f"the same name in {same} of {len(found)}; {expected(counts, len(found)):.1f} would be by chance",
            )
        )
    return out


def _certainty(found: list[Part]) -> list[Row]:
    groups = {DOMAINS[part["domain"]]: part["groups"]["paper"] for part in found}
    judged_sure = {name: significance.sure_dominator(group) for name, group in groups.items()}
    sure = {name: one for name, one in judged_sure.items() if one is not None}
    pairs = sum(len(group["pairs"]) for group in groups.values())
    split = {name: significance.split_pairs(group) for name, group in groups.items()}
    points = {DOMAINS[part["domain"]]: significance.split_by_points(part, list(PAPER)) for part in found}
    there = {name: significance.equal_here_worse_there(group) for name, group in groups.items()}
    return [
        Row(
            "Section 3.3",
            f"domains with a significant dominator (bands of {100 * LEVEL:.0f} % over all pairs and conditions)",
            "the hypothesis is refuted",
            f"{len(sure)} of {len(found)}",
            REPLICATES if len(sure) < SOME * len(found) else FAILS,
            "; ".join(f"{one} on {name}" for name, one in sure.items()),
        ),
        Row(
            "Section 3.3",
            "domains in which a classifier equals the best in one area and is significantly worse in another",
            "many",
            f"{sum(map(bool, there.values()))} of {len(found)}",
            _many(sum(map(bool, there.values())), len(found)),
            f"an area is {significance.AREA} of pc; on average {_mean_length(there):.1f} of the six",
        ),
        _split_row("the paper's pointwise intervals", points, pairs),
        _split_row("simultaneous bands of costs", split, pairs),
    ]


def _mean_length(lists: dict[str, list[str]]) -> float:
    return float(np.mean([len(one) for one in lists.values()]))


def _split_row(words: str, split: dict[str, list[tuple[str, str]]], pairs: int) -> Row:
    count = sum(map(len, split.values()))
    where = [f"{name} {len(one)}" for name, one in split.items() if one]
    return Row(
        "Section 3.3",
        f"pairs of which each is clearly better somewhere, by {words}",
        "many",
        f"{count} of {pairs}",
        _many(len(where), len(split)),
        ", ".join(where),
    )


def _accuracy(found: list[Part]) -> list[Row]:
    """Compute the cost of choosing by accuracy, for which the paper argues without numbers."""
    worst, elsewhere = {}, 0
    for part in found:
        accurate = max(PAPER, key=lambda name: part["accuracy"][name])
        fpr = np.linspace(0, 1, POINTS)
        hull = cc.RocHull([cc.RocCurve.from_rates(fpr, part["curves"][name], name=name) for name in PAPER])
        worst[DOMAINS[part["domain"]]] = (accurate, cc.regret(accurate, hull).largest)
        elsewhere += {name for name, _, _ in part["groups"]["paper"]["ranges"]} != {accurate}
    most = max(worst, key=lambda name: worst[name][1])
    return [
        Row(
            "Section 3.2",
            "domains in which the most accurate classifier is not the cheapest everywhere",
            "all but Vehicle",
            f"{elsewhere} of {len(found)}",
            _graded(elsewhere, len(found)),
        ),
        Row(
            "Section 3.2",
            "the largest extra cost of choosing by accuracy (as a share of the cost of getting every case wrong)",
            None,
            float(worst[most][1]),
            BEYOND,
            f"{worst[most][0]} on {most}; {np.median([x for _, x in worst.values()]):.3f} in the median domain",
        ),
    ]


def _today(found: list[Part]) -> list[Row]:
    out = []
    for label, words in (("today", "the three present-day ones"), ("all", "all nine")):
        groups = {DOMAINS[part["domain"]]: part["groups"][label] for part in found}
        curve = {name: group["dominator"] for name, group in groups.items()}
        hull = {name: group["hull_dominator"] for name, group in groups.items()}
        sure = {name: significance.sure_dominator(group) for name, group in groups.items()}
        best = Counter(name for group in groups.values() for name in {line[0] for line in group["ranges"]})
        folds = sum(name is not None for group in groups.values() for name in group["fold_dominators"])
        kinds = {"an absolute dominator": curve, "a dominator by the hull": hull, "a significant dominator": sure}
        for what, hits in kinds.items():
            why = "; ".join(f"{one} on {name}" for name, one in hits.items() if one)
            count = sum(one is not None for one in hits.values())
            out.append(Row("Today", f"domains with {what}, {words}", None, f"{count} of {len(found)}", BEYOND, why))
        out.append(Row("Today", f"runs with a dominator, {words}", None, f"{folds} of {FOLDS * len(found)}", BEYOND))
        text = ", ".join(f"{name} {count}" for name, count in best.most_common())
        out.append(Row("Today", f"best somewhere, in how many domains, {words}", None, text, BEYOND))
    return out


def _holds(fact: bool) -> str:
    return REPLICATES if fact else FAILS


def _graded(count: int, of: int) -> str:
    """The verdict on a statement about domains, which is true for nearly all, for half, or for fewer."""
    return REPLICATES if count >= of - 1 else DIRECTION if count >= SOME * of else FAILS


def expected(counts: list[Counter[str]], of: int) -> float:
    """The number of domains with the same name if the names were assigned to the domains at random."""
    return sum(counts[0][name] * counts[1][name] for name in counts[0]) / of


def _beyond_chance(same: int, counts: list[Counter[str]], of: int) -> str:
    """The verdict on names by domain: nearly all the same, at least two more than by chance, or fewer."""
    return REPLICATES if same >= of - 1 else DIRECTION if same >= expected(counts, of) + 2 else FAILS


def _many(count: int, of: int) -> str:
    """The verdict on a statement about many domains, which is true for half of them, for some, or for none."""
    return REPLICATES if count >= SOME * of else DIRECTION if count else FAILS


def _listed(names: set[str]) -> str:
    return ", ".join(sorted(names)) or "none"


def settings(size: str) -> dict[str, Any]:
    """The settings that a reader needs to repeat the study."""
    first = parts(size)[0]
    return {
        "domains": len(parts(size)),
        "folds": FOLDS,
        "bagged trees": first["bags"],
        "trees of the forest": FOREST,
        "points of an averaged curve": POINTS,
        "level": LEVEL,
    }


STUDY = Study(
    "domains-1998",
    "Figures 2 and 3, Table 1: who dominates on nine domains (1998)",
    parts,
    work,
    rows,
    settings,
    reads_data=True,
    keeps_steps=True,
)
