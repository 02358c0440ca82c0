"""The gates of `decide`, and what its choice or a candidate saves against the classifier in use."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, Any

import costcurves.cli._answers as types
import costcurves.cli._complete as complete
from costcurves._base.text import level_text, safe
from costcurves.cli._gates import Gate, better_here, better_over, better_throughout, check_known, cost_below
from costcurves.cli._groups import GATES, option
from costcurves.cli._input import ScoreTable
from costcurves.cli._options import Costs, finite
from costcurves.cli._print import Problem, money, quoted
from costcurves.conditions.scenarios import in_use
from costcurves.curves.choices import TRIVIAL
from costcurves.decisions.claims import SHOWN, claim_below
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
    baseline_threshold: Annotated[
        float | None,
        option(
            GATES,
            "SCORE",
            "The threshold of the baseline today, also for --assert-better-than; by default its best one.",
            callback=finite("--baseline-threshold"),
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

    def known(self, asked: Costs) -> Gates:
        """Return the gates with what is in use today, as the file of scenarios says unless options do."""
        baseline, threshold = in_use(asked, self.baseline, self.baseline_threshold)
        return replace(self, baseline=baseline, baseline_threshold=threshold)

    def check(self, names: tuple[str, ...]) -> None:
        """Refuse gates that cannot be judged, before anything is computed."""
        if self.baseline_threshold is not None and (self.baseline is None or self.baseline in TRIVIAL):
            raise Problem("--baseline-threshold needs a --baseline that has a threshold")
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
        if self._recommended(answer):
            if isinstance(answer, Recommendation):
                return better_here(answer, answer.saving(baseline, self._threshold(baseline)), where, n)
            if self._threshold(baseline) is not None:
                raise Problem("--baseline-threshold needs a condition, not a range, or a --candidate")
            return better_over(answer, baseline, where)
        difference = self._difference(answer, baseline, data, rule)
        if difference is not None:
            return better_throughout(difference, n, where)
        assert isinstance(answer, Recommendation)
        assert self.candidate is not None
        c, cost = answer.index(self.candidate), float(answer.normalized_cost[answer.index(baseline)])
        limits = (answer.estimate[c], answer.lower[c], answer.upper[c])
        claim = claim_below(*limits, cost, n=n, level=answer.level)
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
        rules = rule if isinstance(rule, dict) else dict.fromkeys((self.candidate, baseline), rule)
        today = self._threshold(baseline)
        policy = (rules[self.candidate], rules[baseline] if today is None else today)
        difference: CurveDifference = data.predictions.compare(
            self.candidate, baseline, pc=over, policy=policy, level=answer.level
        )
        return difference

    def _recommended(self, answer: Answer) -> bool:
        """Return whether the recommended classifier is judged: nobody was named, or it was."""
        return self.candidate is None or (
            isinstance(answer, Recommendation) and self.candidate == answer.best.classifier
        )

    def _threshold(self, baseline: str) -> float | None:
        """Return the threshold at which a classifier is used today, if it was given."""
        return self.baseline_threshold if baseline == self.baseline else None

    def _saved(self, answer: Recommendation, baseline: str, data: ScoreTable, rule: Any) -> tuple[float, float, float]:
        """Return what is saved per case in money, with its limits."""
        if self._recommended(answer):
            found = answer.saving(baseline, self._threshold(baseline))
            return found.money_estimate, found.money_lower, found.money_upper
        difference = self._difference(answer, baseline, data, rule)
        if difference is None:  # what a trivial baseline costs is known
            assert self.candidate is not None
            c, cost = answer.index(self.candidate), float(answer.expected_cost[answer.index(baseline)])
            limits = (answer.money_estimate[c], answer.money_upper[c], answer.money_lower[c])
            estimate, lower, upper = (cost - float(limit) for limit in limits)
            return estimate, lower, upper
        here = difference.at(answer.condition).money
        assert here is not None
        return -here.estimate, -here.upper, -here.lower

    def against(self, name: str, answer: Answer, data: ScoreTable, rule: Any, currency: str) -> types.Against:
        """Return what is saved against the baseline in one scenario."""
        assert self.baseline is not None
        gate = self._better(answer, self.baseline, data, rule, "")
        saved: tuple[float, float, float] | None = None
        chosen = self.candidate or answer.classifier[0]
        if isinstance(answer, Recommendation):
            saved = self._saved(answer, self.baseline, data, rule)
        return {
            "scenario": name or None,
            "candidate": chosen,
            "baseline": self.baseline,
            "verdict": gate.verdict,  # type: ignore[typeddict-item]
            "reason": gate.reason,
            "cases_needed": gate.needed,
            "saving": None if saved is None else saved[0],
            "saving_lower": None if saved is None else saved[1],
            "saving_upper": None if saved is None else saved[2],
            "text": _text(chosen, self.baseline, saved, gate, currency, answer.level),
        }


def _text(
    chosen: str, baseline: str, saved: tuple[float, float, float] | None, gate: Gate, currency: str, level: float
) -> str:
    """Return in words what is saved."""
    head = f"Against {safe(baseline)}: "
    if saved == (0, 0, 0):
        return f"{head}nothing is saved, it is the recommended one."
    if saved is not None:
        estimate, lower, upper = (money(value) for value in saved)
        unit = f" {safe(currency)}" if currency else ""
        head += f"{safe(chosen)} saves {estimate}{unit} per case ({level_text(level)} limits {lower} to {upper}); "
    return f"{head}{safe(gate.line)}."
