"""Gates for pipelines: a claim about costs, and whether the data bear it out. Each reads limits that the core found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import typer
from rich.console import Console

from costcurves._base.text import safe
from costcurves.cli._answer_parts import Gate as GateDocument
from costcurves.cli._options import span_text
from costcurves.cli._print import Output, Problem, console, money, quoted
from costcurves.decisions.curve_difference import CurveDifference
from costcurves.decisions.recommend import Recommendation
from costcurves.decisions.recommend_within import RangeRecommendation
from costcurves.multiclass.bdeltacost import CostDifference

FAILED = 1


@dataclass(frozen=True, slots=True)
class Gate:
    """A claim and the verdict on it."""

    claim: str
    passed: bool
    reason: str

    def document(self) -> GateDocument:
        """Return the gate for a JSON answer."""
        return {"claim": self.claim, "passed": self.passed, "reason": self.reason}


def show_gates(gates: Sequence[Gate], out: Console) -> None:
    """Print every verdict."""
    for gate in gates:
        word, style = ("PASS", "green") if gate.passed else ("FAIL", "red")
        out.print(f"{word}: {safe(gate.claim)}: {safe(gate.reason)}", style=style)


def leave(gates: Sequence[Gate], out: Output) -> None:
    """End the command with exit code 1 if a gate failed; say why where the answer was not printed as text."""
    if not out.printed:
        show_gates(gates, console(stderr=True))
    if not all(gate.passed for gate in gates):
        raise typer.Exit(FAILED)


def better_here(answer: Recommendation, baseline: str, where: str) -> Gate:
    """Claim that the recommended classifier is shown to cost less than the baseline at one condition."""
    check_known(baseline, answer.classifier)
    best, i = answer.best.classifier, answer.index(baseline)
    claim = f"better than {baseline}{where}"
    if answer.same[i]:
        return Gate(claim, False, f"nothing costs less than {baseline}")
    if answer.worse[i]:
        return Gate(claim, True, f"{best} is shown to cost less")
    return Gate(claim, False, f"{best} is not shown to cost less")


def better_over(answer: RangeRecommendation, baseline: str, where: str) -> Gate:
    """Claim that the recommended classifier is shown to cost less than the baseline throughout a range."""
    check_known(baseline, answer.classifier)
    claim, span = f"better than {baseline}{where}", f"pc {span_text(answer.over.pc)}"
    if baseline == answer.best_name or baseline not in answer.shown_worse:
        return Gate(claim, False, f"nothing loses less than {baseline} in the worst case")
    if baseline not in answer.rivals:
        return Gate(claim, True, f"{answer.best_name} is shown to cost less throughout {span}")
    shown = answer.shown_worse[baseline]
    some = f"only for {_spans(shown)}" if len(shown) else "nowhere"
    return Gate(claim, False, f"{answer.best_name} is shown to cost less {some} in {span}")


def cost_below(cost: Any, limit: float, name: str, currency: str, where: str = "") -> Gate:
    """Claim that the expected cost is below a limit with confidence: its upper limit is."""
    claim = f"cost of {name} below {money(limit, currency)}{where}"
    upper = f"the upper limit at {100 * cost.level:g} % is {money(cost.upper, currency)}"
    return Gate(claim, bool(cost.upper < limit), upper)


def better_throughout(difference: CurveDifference) -> Gate:
    """Claim that the first of two costs significantly less than the second at every condition that was judged."""
    return _throughout(difference, f"{difference.names[0]} better than {difference.names[1]}")


def _throughout(difference: CurveDifference, claim: str) -> Gate:
    candidate = difference.names[0]
    verdicts = difference.significant()
    if set(verdicts.better) == {candidate}:
        return Gate(claim, True, f"{candidate} costs significantly less throughout {_span(difference)}")
    where = verdicts.where(candidate)
    some = "nowhere" if not len(where) else f"only for {_spans(where)}"
    return Gate(claim, False, f"{candidate} costs significantly less {some} in {_span(difference)}")


def not_worse(difference: CurveDifference, margin: float | None) -> Gate:
    """Claim that the first of two is nowhere significantly worse, or shown not to be by more than a margin."""
    candidate, baseline = difference.names
    claim = f"{candidate} not worse than {baseline}"
    if margin is not None:
        claim += f" by more than {margin:g}"
        most = float(difference.upper.max())
        return Gate(claim, most <= margin, f"the upper limit of its excess cost in {_span(difference)} is {most:.4g}")
    lost = difference.significant().where(baseline)
    if not len(lost):
        return Gate(claim, True, f"it costs significantly more nowhere in {_span(difference)}")
    return Gate(claim, False, f"it costs significantly more for {_spans(lost)}")


def cheaper(difference: CostDifference) -> Gate:
    """Claim that the first of two costs significantly less, for k classes."""
    candidate, baseline = difference.names
    word = "less" if difference.estimate < 0 else "more"
    sure = "significantly " if difference.significant() else "not significantly "
    passed = difference.cheaper == candidate
    return Gate(f"{candidate} better than {baseline}", passed, f"it costs {sure}{word}")


def not_costlier(difference: CostDifference, margin: float | None, currency: str) -> Gate:
    """Claim that the first of two does not cost significantly more, or not by more than a margin, for k classes."""
    candidate, baseline = difference.names
    claim = f"{candidate} not worse than {baseline}"
    if margin is not None:
        upper = f"the upper limit of its excess cost is {money(difference.upper, currency)}"
        return Gate(f"{claim} by more than {money(margin, currency)}", difference.upper <= margin, upper)
    lost = difference.cheaper == baseline
    return Gate(claim, not lost, f"it costs {'' if lost else 'not '}significantly more")


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
