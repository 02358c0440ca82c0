"""The gates of `decide`, and what its choice or a candidate saves against the classifier in use."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import costcurves.cli._answers as types
import costcurves.cli._complete as complete
from costcurves._base.text import level_text, safe
from costcurves.cli._gates import Gate, better_here, better_over, better_throughout, check_known, cost_below
from costcurves.cli._groups import GATES, option
from costcurves.cli._input import ScoreTable
from costcurves.cli._options import finite
from costcurves.cli._print import Problem, money, quoted
from costcurves.curves.choices import TRIVIAL
from costcurves.decisions.claims import SHOWN, Saving, saving_against
from costcurves.decisions.curve_difference import CurveDifference
from costcurves.decisions.recommend import Recommendation
from costcurves.decisions.recommend_within import RangeRecommendation
from costcurves.inference.bands.results import Interval

Answer = Recommendation | RangeRecommendation


@dataclass(frozen=True, slots=True)
class Gates:
    """What a pipeline asserts of the answer."""

    candidate: Annotated[
        str | None,
        option(
            GATES,
            "NAME",
            "The classifier that the gates and --baseline judge, instead of the recommended one.",
            autocompletion=complete.columns,
        ),
    ] = None
    baseline: Annotated[
        str | None,
        option(
            GATES,
            "NAME",
            "The classifier in use (a column, 'always negative' or 'always positive'): say what is saved against it.",
            autocompletion=complete.columns,
        ),
    ] = None
    assert_better_than: Annotated[
        str | None,
        option(
            GATES,
            "NAME",
            "Fail unless the recommended classifier, or the candidate, is shown to cost less than NAME (a column, or "
            "'always negative' or 'always positive'), over a range at every point of it.",
            autocompletion=complete.columns,
        ),
    ] = None
    assert_cost_below: Annotated[
        float | None,
        option(
            GATES,
            "MONEY",
            "Fail unless the upper confidence limit of the cost per case of the recommended classifier, or of the "
            "candidate, is below this.",
            callback=finite("--assert-cost-below"),
        ),
    ] = None

    @property
    def any(self) -> bool:
        """Whether anything is asserted."""
        return self.assert_better_than is not None or self.assert_cost_below is not None

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse gates that cannot be judged, before anything is computed."""
        for other in (self.baseline, self.assert_better_than):
            if other is not None:
                check_known(other, (*names, *TRIVIAL) if other in TRIVIAL else names)
                if other == self.candidate:
                    raise Problem(f"--candidate and the baseline are both {quoted(other)}")
        if self.candidate is not None:
            check_known(self.candidate, names)
            if not self.any and self.baseline is None:
                raise Problem("--candidate goes with --baseline, --assert-better-than or --assert-cost-below")

    def judge(self, name: str, answer: Answer, data: ScoreTable, rule: Any, currency: str) -> list[Gate]:
        """Return the verdicts on the answer to one scenario."""
        where = f" in scenario {name}" if name else ""
        gates = []
        if (baseline := self.assert_better_than) is not None:
            gates.append(self._better(answer, baseline, data, rule, where))
        if self.assert_cost_below is not None:
            if not isinstance(answer, Recommendation):
                raise Problem(f"--assert-cost-below needs a condition, not a range{where}")
            i = 0 if self.candidate is None else answer.index(self.candidate)
            estimate, lower, upper = answer.money_estimate[i], answer.money_lower[i], answer.money_upper[i]
            cost = Interval(float(estimate), float(lower), float(upper), answer.level)
            n = data.predictions.y_true.size
            gates.append(cost_below(cost, self.assert_cost_below, answer.classifier[i], currency, n, where))
        return gates

    def _better(self, answer: Answer, baseline: str, data: ScoreTable, rule: Any, where: str) -> Gate:
        n = data.predictions.y_true.size
        if self.candidate is None:
            if isinstance(answer, Recommendation):
                return better_here(answer, baseline, where, n)
            return better_over(answer, baseline, where)
        difference = self._difference(answer, baseline, data, rule)
        if difference is not None:
            return better_throughout(difference, n, where)
        assert isinstance(answer, Recommendation)
        claim = saving_against(answer, baseline, n, self.candidate).claim
        reason = f"{self.candidate} is {'' if claim.verdict == SHOWN else 'not '}shown to cost less"
        title = f"{self.candidate} better than {baseline}{where}"
        return Gate(title, claim.verdict == SHOWN, claim.verdict, reason, claim.needed)

    def _difference(self, answer: Answer, baseline: str, data: ScoreTable, rule: Any) -> CurveDifference | None:
        """Return the candidate minus the baseline; None if the baseline is trivial, so that its cost is known."""
        assert self.candidate is not None
        over = answer.condition if isinstance(answer, Recommendation) else answer.over
        if baseline in TRIVIAL:
            if not isinstance(answer, Recommendation):
                raise Problem(f"--candidate against {quoted(baseline)} needs a condition, not a range")
            return None
        policy = (rule[self.candidate], rule[baseline]) if isinstance(rule, dict) else rule
        difference: CurveDifference = data.predictions.compare(
            self.candidate, baseline, pc=over, policy=policy, level=answer.level
        )
        return difference

    def against(self, name: str, answer: Answer, data: ScoreTable, rule: Any, currency: str) -> types.Against:
        """Return what is saved against the baseline in one scenario."""
        assert self.baseline is not None
        gate = self._better(answer, self.baseline, data, rule, "")
        saving: Saving | None = None
        chosen = self.candidate or answer.classifier[0]
        if isinstance(answer, Recommendation):
            difference = None if self.candidate is None else self._difference(answer, self.baseline, data, rule)
            n = data.predictions.y_true.size
            saving = saving_against(answer, self.baseline, n, self.candidate, difference)
        return {
            "scenario": name or None,
            "candidate": chosen,
            "baseline": self.baseline,
            "verdict": gate.verdict,  # type: ignore[typeddict-item]
            "reason": gate.reason,
            "cases_needed": gate.needed,
            "saving": None if saving is None else saving.estimate,
            "saving_lower": None if saving is None else saving.lower,
            "text": _text(chosen, self.baseline, saving, gate, currency, answer.level),
        }


def _text(chosen: str, baseline: str, saving: Saving | None, gate: Gate, currency: str, level: float) -> str:
    """Return in words what is saved."""
    head = f"Against {safe(baseline)}: "
    if chosen == baseline:
        return f"{head}it is the recommended one."
    if saving is not None:
        word = "saves" if saving.estimate >= 0 else "costs"
        least = f"{'saves' if saving.lower >= 0 else 'may cost'} {money(abs(saving.lower), currency)}"
        least += "" if saving.lower >= 0 else " more"
        amount = money(abs(saving.estimate), currency)
        head += (
            f"{safe(chosen)} {word} {amount}{'' if saving.estimate >= 0 else ' more'} per case on new rows, by the "
            f"best estimate; at worst it {least} ({level_text(level)} limit); "
        )
    return f"{head}{safe(gate.line)}."
