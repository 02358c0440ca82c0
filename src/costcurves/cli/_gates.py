"""Gates for pipelines: a claim about costs, and whether the data bear it out. Each reads limits that the core found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from rich.console import Console

import costcurves as cc
from costcurves._base.text import level_text, safe
from costcurves.cli._answer_parts import Gate as GateDocument
from costcurves.cli._options import span_text
from costcurves.cli._print import Problem, money, quoted
from costcurves.decisions.claims import (
    NOT_SHOWN,
    OTHERWISE,
    SHOWN,
    Claim,
    claim_below,
    claim_saving,
    recommended_below_within,
)
from costcurves.decisions.curve_difference import CurveDifference, Verdicts
from costcurves.decisions.recommend_within import RangeRecommendation
from costcurves.decisions.saving import Saving
from costcurves.multiclass.bdeltacost import CostDifference

FAILED = 1

# More rows than this are never collected to settle a question.
MOST_ROWS = 10**8


@dataclass(frozen=True, slots=True)
class Gate:
    """A claim, the verdict on it, and whether the pipeline may go on."""

    claim: str
    passed: bool
    verdict: str
    reason: str
    needed: int | None = None

    @property
    def line(self) -> str:
        """Why it passed or failed, with the number of rows that would settle it."""
        if self.needed is None:
            return self.reason
        many = f"about {self.needed:,} rows would be needed"
        return f"{self.reason}; {many if self.needed < MOST_ROWS else 'no realistic number of rows would show it'}"

    def document(self) -> GateDocument:
        """Return the gate for a JSON answer."""
        named = ("claim", "passed", "verdict", "reason")
        document: Any = {name: getattr(self, name) for name in named} | {"cases_needed": self.needed}
        gate: GateDocument = document
        return gate


def _gate(claim: str, found: Claim, reason: str, *, passed: bool | None = None) -> Gate:
    """Return a gate, which is passed if its claim is shown unless it is said otherwise."""
    return Gate(claim, found.verdict == SHOWN if passed is None else passed, found.verdict, reason, found.needed)


def show_gates(gates: Sequence[Gate], out: Console) -> None:
    """Print every verdict."""
    for gate in gates:
        word, style = ("PASS", "green") if gate.passed else ("FAIL", "red")
        out.print(f"{word}: {safe(gate.claim)}: {safe(gate.line)}", style=style, soft_wrap=not out.is_terminal)


def better_here(saving: Saving, candidate: str | None, where: str, n: int) -> Gate:
    """Claim that the recommended classifier, or the candidate, is shown to cost less than the baseline at a condition.

    Unless the baseline has a given threshold, the claim is about every threshold of the baseline.
    """
    chosen, baseline, found = saving.choice.classifier, saving.baseline.classifier, claim_saving(saving, n)
    if saving.estimate == saving.lower == saving.upper == 0:
        reason = (
            f"nothing costs less than {baseline}" if candidate is None else f"{candidate} decides as {baseline} does"
        )
    elif found.verdict == OTHERWISE:
        reason = f"{chosen} is shown to cost more"
    else:
        reason = f"{chosen} is {'' if found.verdict == SHOWN else 'not '}shown to cost less"
    return _gate(f"{'' if candidate is None else f'{candidate} '}better than {baseline}{where}", found, reason)


def better_over(answer: RangeRecommendation, baseline: str, where: str) -> Gate:
    """Claim that the recommended classifier is shown to cost less than the baseline throughout a range."""
    check_known(baseline, answer.classifier)
    found, span = recommended_below_within(answer, baseline), f"pc {span_text(answer.over.pc)}"
    if baseline == answer.best_name or baseline not in answer.shown_worse:
        reason = f"nothing loses less than {baseline} in the worst case"
    elif found.verdict == SHOWN:
        reason = f"{answer.best_name} is shown to cost less throughout {span}"
    else:
        shown = answer.shown_worse[baseline]
        some = f"only for {_spans(shown)}" if len(shown) else "nowhere"
        reason = f"{answer.best_name} is shown to cost less {some} in {span}"
        if found.verdict == OTHERWISE:
            reason += f", and {baseline} for {_spans(answer.shown_better[baseline])}"
    return _gate(f"better than {baseline}{where}", found, reason)


def cost_below(cost: Any, limit: float, name: str, currency: str, n: int, where: str = "") -> Gate:
    """Claim that the expected cost is below a limit with confidence: its upper limit is."""
    found = claim_below(cost.estimate, cost.lower, cost.upper, limit, n=n, level=cost.level)
    lower = found.verdict == OTHERWISE
    bound = money(cost.lower if lower else cost.upper, currency)
    reason = f"the {'lower' if lower else 'upper'} limit at {level_text(cost.level)} is {bound}"
    return _gate(f"cost of {name} below {money(limit, currency)}{where}", found, reason)


def better_throughout(difference: CurveDifference, verdicts: Verdicts, n: int, where: str = "") -> Gate:
    """Claim that the first of two costs significantly less than the second at every condition that was judged."""
    candidate, baseline = difference.names
    found = _first_costs_less(difference, verdicts, n)
    if difference.pc.size == 1:
        word = {SHOWN: "costs significantly less", OTHERWISE: "costs significantly more"}
        reason = f"{candidate} {word.get(found.verdict, 'is not shown to cost less')}"
    elif found.verdict == SHOWN:
        reason = f"{candidate} costs significantly less throughout {_span(difference)}"
    else:
        shown, lost = verdicts.where(candidate), verdicts.where(baseline)
        some = "nowhere" if not len(shown) else f"only for {_spans(shown)}"
        reason = f"{candidate} costs significantly less {some} in {_span(difference)}"
        reason += f", and more for {_spans(lost)}" if len(lost) else ""
    return _gate(f"{candidate} better than {baseline}{where}", found, reason)


def not_worse(
    difference: CurveDifference,
    verdicts: Verdicts,
    margin: float | None,
    n: int,
    here: cc.OperatingCondition | None,
    currency: str,
) -> Gate:
    """Claim that the first of two is nowhere significantly worse, or shown not to be by more than a margin.

    At a condition with costs the margin is money per case, otherwise a share of the cost of getting every case wrong.
    """
    candidate, baseline = difference.names
    claim = f"{candidate} not worse than {baseline}"
    if margin is None:
        lost = verdicts.where(baseline)
        found = _first_costs_less(difference, verdicts, n)
        more = f"more for {_spans(lost)}" if len(lost) else f"more nowhere in {_span(difference)}"
        reason = f"it costs significantly {more}"
        if difference.pc.size == 1:
            reason = "it costs significantly more" if len(lost) else "it is not shown to cost more"
        return _gate(claim, found, reason, passed=not len(lost))
    priced = None if here is None or here.pc_only else difference.at(here).money
    if priced is None:
        found, most = _below(difference, margin, n), float(difference.upper.max())
        text, upper = f"{margin:g}", f"{most:.4g}"
    else:
        found = claim_below(priced.estimate, priced.lower, priced.upper, margin, n=n, level=priced.level)
        most, text, upper = priced.upper, money(margin, currency), money(priced.upper, currency)
    reason = f"the upper limit of its excess cost {'per case' if priced else f'in {_span(difference)}'} is {upper}"
    return _gate(f"{claim} by more than {text}", found, reason, passed=most <= margin)


def cheaper(difference: CostDifference) -> Gate:
    """Claim that the first of two costs significantly less, for k classes."""
    candidate, baseline = difference.names
    word = "less" if difference.estimate < 0 else "more"
    sure = "significantly " if difference.significant() else "not significantly "
    passed = difference.cheaper == candidate
    return _gate(f"{candidate} better than {baseline}", _of_pair(difference), f"it costs {sure}{word}", passed=passed)


def not_costlier(difference: CostDifference, margin: float | None, currency: str) -> Gate:
    """Claim that the first of two does not cost significantly more, or not by more than a margin, for k classes."""
    candidate, baseline = difference.names
    claim = f"{candidate} not worse than {baseline}"
    if margin is not None:
        upper = f"the upper limit of its excess cost is {money(difference.upper, currency)}"
        found, passed = _of_pair(difference, margin), difference.upper <= margin
        return _gate(f"{claim} by more than {money(margin, currency)}", found, upper, passed=passed)
    lost = difference.cheaper == baseline
    return _gate(claim, _of_pair(difference), f"it costs {'' if lost else 'not '}significantly more", passed=not lost)


def _first_costs_less(difference: CurveDifference, verdicts: Verdicts, n: int) -> Claim:
    """Return the claim with the verdicts that are printed; limits say how many rows would settle it."""
    candidate, baseline = difference.names
    if set(verdicts.better) == {candidate}:
        return Claim(SHOWN)
    return Claim(OTHERWISE) if baseline in verdicts.better else Claim(NOT_SHOWN, _below(difference, 0.0, n).needed)


def _below(difference: CurveDifference, limit: float, n: int) -> Claim:
    limits = (difference.estimate, difference.lower, difference.upper)
    return claim_below(*limits, limit, n=n, level=difference.level)


def _of_pair(difference: CostDifference, limit: float = 0.0) -> Claim:
    limits = (difference.estimate, difference.lower, difference.upper)
    return claim_below(*limits, limit, n=difference.n, level=difference.level)


def candidate_of(candidate: str | None, baseline: str, names: Sequence[str]) -> str:
    """Return who is compared with the baseline: the one named, or the only other one."""
    check_known(baseline, names)
    others = [name for name in names if name != baseline]
    if candidate is None:
        if len(others) != 1:
            raise Problem(f"say with --candidate which classifier is to be judged against {quoted(baseline)}")
        return others[0]
    check_known(candidate, names)
    if candidate == baseline:
        raise Problem(f"--candidate and the baseline are both {quoted(baseline)}")
    return candidate


def check_known(name: str, names: Sequence[str]) -> None:
    """Refuse a name that does not belong to a classifier."""
    if name not in names:
        raise Problem(f"{quoted(name)} is not one of the classifiers {', '.join(quoted(n) for n in names)}")


def _span(difference: CurveDifference) -> str:
    return f"pc {span_text((float(difference.pc[0]), float(difference.pc[-1])))}"


def _spans(where: Any) -> str:
    return "pc " + ", ".join(span_text(pair) for pair in where)
