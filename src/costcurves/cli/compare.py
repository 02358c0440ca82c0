"""`compare`: which classifier costs significantly less, at a condition or over a range of conditions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

import typer
from rich.console import Console

import costcurves as cc
import costcurves.cli._answers as types
from costcurves._base.text import level_text, safe
from costcurves.cli._ci import GateReports
from costcurves.cli._gates import Gate, better_throughout, candidate_of, not_worse, show_gates
from costcurves.cli._groups import GATES, option, with_groups
from costcurves.cli._options import Candidate, Condition, Conditions, Costs, Scores, Statistics, finite, span_text
from costcurves.cli._print import (
    Output,
    Problem,
    chance,
    heading,
    line,
    listing,
    new_grid,
    padded,
    stacked,
    working,
)
from costcurves.decisions.compare_many import ManyDifferences, PairwiseTests
from costcurves.decisions.curve_difference import CurveDifference, Verdicts

# Pairs up to which all of them are printed: those of twelve classifiers.
MOST_PAIRS = 66


@dataclass(frozen=True, slots=True)
class Gates:
    """What a pipeline asserts of two classifiers."""

    candidate: Candidate = None
    assert_not_worse_than: Annotated[
        str | None,
        option(
            GATES,
            "NAME",
            "Fail if the candidate costs significantly more than NAME anywhere in the range. Few rows rarely "
            "show that: add --margin.",
        ),
    ] = None
    margin: Annotated[
        float | None,
        option(
            GATES,
            "M",
            "Make --assert-not-worse-than a proof: fail unless the upper limit of the candidate's excess cost is at "
            "most this: money per case at a condition with costs, and otherwise a share of the cost of getting every "
            "case wrong, everywhere in the range.",
            callback=finite("--margin"),
        ),
    ] = None
    assert_better_than: Annotated[
        str | None,
        option(GATES, "NAME", "Fail unless the candidate costs significantly less than NAME everywhere in the range."),
    ] = None

    def check(self, names: Sequence[str], where: Condition | None) -> None:
        """Refuse gates that cannot be judged, before anything is computed."""
        if self.margin is not None and self.assert_not_worse_than is None:
            raise Problem("--margin goes with --assert-not-worse-than")
        baselines = [name for name in (self.assert_not_worse_than, self.assert_better_than) if name is not None]
        if self.candidate is not None and not baselines:
            raise Problem("--candidate goes with --assert-not-worse-than or --assert-better-than")
        if self.assert_better_than is not None and where is None:
            raise Problem(
                "--assert-better-than needs a condition or a range (--prevalence and costs, --costs, --pc or --slope): "
                "where errors of one kind are free nobody is better"
            )
        for name in baselines:
            candidate_of(self.candidate, name, names)

    @property
    def any(self) -> bool:
        """Whether anything is asserted."""
        return self.assert_not_worse_than is not None or self.assert_better_than is not None

    def judge(
        self,
        many: ManyDifferences,
        tests: PairwiseTests | None,
        n: int,
        here: cc.OperatingCondition | None,
        currency: str,
    ) -> list[Gate]:
        """Return the verdicts of n rows, those that are printed above them."""
        gates = []
        if (baseline := self.assert_not_worse_than) is not None:
            both = _pair(many, tests, candidate_of(self.candidate, baseline, many.names), baseline)
            gates.append(not_worse(*both, self.margin, n, here, currency))
        if (baseline := self.assert_better_than) is not None:
            both = _pair(many, tests, candidate_of(self.candidate, baseline, many.names), baseline)
            gates.append(better_throughout(*both, n))
        return gates


@with_groups
def compare(
    table: Scores,
    conditions: Conditions,
    statistics: Statistics,
    gates: Gates,
    reports: GateReports,
    out: Output,
) -> None:
    """costcurves compare example:german_credit --positive bad --score forest --score tree --pc 0.2..0.8

    Say for which operating conditions one classifier costs significantly less than another, on the same rows. The
    limits hold for all pairs and all conditions in the range jointly. Without a range all conditions count.
    """
    reports.check(gates.any, table.file, out)
    asked = conditions.read(needed=False)
    if len(asked.cases) > 1:
        raise Problem(f"choose one scenario with --scenario: {', '.join(safe(name) for name in asked.cases)}")
    where = next(iter(asked.cases.values()), None)
    data = table.load(asked)
    if len(data.names) < 2:
        raise Problem("two classifiers or more are needed to compare: repeat --score")
    gates.check(data.names, where)
    level = statistics.level
    with working("comparing"):
        many = data.predictions.compare_many(pc=where, policy=statistics.rule(data), level=level)
    here = where if isinstance(where, cc.OperatingCondition) else None
    pairs = many.pairs
    tests = None if here is None else many.at(here)
    verdicts = gates.judge(many, tests, data.predictions.y_true.size, here, asked.currency)

    def show(screen: Console) -> None:
        heading(screen, data.summary(), statistics.note(data))
        text = asked.text(next(iter(asked.cases))) if asked.cases else "All conditions, pc 0 to 1"
        screen.print(f"\n{text}", style="bold")
        if here is None or tests is None:
            _show(pairs, level, screen)
        else:
            _show_here(pairs, tests, here, asked, screen)
        show_gates(verdicts, screen)

    document: types.Compare = {
        "schema": "costcurves/compare/1",
        "data": data.document(),
        "currency": asked.currency,
        "policy": statistics.policy_name,
        "calibrated_at": statistics.calibrated_at(data),
        "thresholds_from": statistics.found_on,
        "level": level,
        "scenario": next(iter(asked.cases), "") or None,
        "pc": (float(pairs[0].pc[0]), float(pairs[0].pc[-1])),
        "pairs": [_document(one, tests, i) for i, one in enumerate(pairs)],
        "gates": [gate.document() for gate in verdicts],
    }
    out.emit(show, document, stacked(one._columns() for one in pairs))
    reports.leave("compare", verdicts, out, show)


def _pair(
    many: ManyDifferences, tests: PairwiseTests | None, candidate: str, baseline: str
) -> tuple[CurveDifference, Verdicts]:
    """Return the candidate minus the baseline, and who of them costs significantly less where."""
    i, one = next((i, one) for i, one in enumerate(many.pairs) if set(one.names) == {candidate, baseline})
    return one if one.names[0] == candidate else one.reversed(), _verdicts(one, tests, i)


def _verdicts(one: CurveDifference, tests: PairwiseTests | None, i: int) -> Verdicts:
    """Return who of pair i costs significantly less, at a condition by its adjusted p-value."""
    return one.significant() if tests is None else tests.verdict(i)


def _show(pairs: Sequence[CurveDifference], level: float, screen: Console) -> None:
    """Print for which conditions one of each pair costs significantly less."""
    for one in pairs:
        verdicts = one.significant()
        text = " and ".join(
            f"{safe(name)} costs significantly less for pc {', '.join(map(span_text, verdicts.where(name)))}"
            for name in one.names
            if len(verdicts.where(name))
        )
        line(screen, f"{listing(one.names, 'against')}: {text or 'neither is shown to cost less anywhere'}.")
    line(screen, f"At {level_text(level)}, jointly for all pairs and all conditions in the range.", "dim")


def _show_here(
    pairs: Sequence[CurveDifference],
    tests: PairwiseTests,
    where: cc.OperatingCondition,
    asked: Costs,
    screen: Console,
) -> None:
    """Print the differences at one condition, in money."""
    level, count = tests.level, len(pairs)
    sure, below = tests.significant().tolist(), (tests.estimate < 0).tolist()
    told = _told(pairs, below)
    for i in told:
        if sure[i]:
            a, b = pairs[i].names if below[i] else pairs[i].names[::-1]
            line(screen, f"{safe(a)} costs significantly less than {safe(b)}.", "green")
    if not any(sure):
        line(screen, "Neither is shown to cost less." if count == 1 else "No pair is shown to differ.", "yellow")
    elif len(told) < count:
        line(screen, f"Of all {count:,} pairs, {sum(sure):,} are shown to differ.", "yellow")
    elif not all(sure):
        line(screen, "The other pairs are not shown to differ.", "yellow")
    unit = f" ({safe(asked.currency)})" if asked.currency else ""
    grid = new_grid("a", "b", f"a - b per case{unit}", f"{level_text(level)} interval", "p", numbers=(2,))
    for i in told:
        one = pairs[i]  # which has this condition only
        amount, low, high = (where.unit_cost * float(v[0]) for v in (one.estimate, one.lower, one.upper))
        limits = f"{padded(low)} to {padded(high)}"
        grid.add_row(safe(one.names[0]), safe(one.names[1]), padded(amount), limits, chance(float(tests.adjusted[i])))
    screen.print()
    screen.print(grid)
    if len(told) < count:
        screen.print(f"These are the pairs with the cheapest classifier; --json and --csv have all {count:,}.")
    line(
        screen,
        "p: of equal costs of two classifiers, each at its best threshold, adjusted for all pairs by Holm's method. It "
        "decides; intervals hold jointly and may show less. `decide` asks another question: whether the cheapest "
        "choice costs less than every other at any threshold of the other.",
        "dim",
    )


def _told(pairs: Sequence[CurveDifference], below: list[bool]) -> list[int]:
    """Return which pairs are printed: all of them or, if there are very many, those with the cheapest classifier."""
    if len(pairs) <= MOST_PAIRS:
        return list(range(len(pairs)))
    wins = Counter(one.names[0 if first else 1] for one, first in zip(pairs, below, strict=True))
    cheapest = wins.most_common(1)[0][0]
    return [i for i, one in enumerate(pairs) if cheapest in one.names]


def _document(one: CurveDifference, tests: PairwiseTests | None, i: int) -> types.Pair:
    return {
        "a": one.names[0],
        "b": one.names[1],
        "verdicts": _verdicts(one, tests, i)._records(),
        "p_value": None if tests is None else float(tests.p_value[i]),
        "adjusted": None if tests is None else float(tests.adjusted[i]),
        "difference": {
            "pc": one.pc.tolist(),
            "estimate": one.estimate.tolist(),
            "lower": one.lower.tolist(),
            "upper": one.upper.tolist(),
        },
    }


def add_to(app: typer.Typer) -> None:
    """Register the command."""
    app.command(short_help="Who costs significantly less than whom, and for which conditions.")(compare)
