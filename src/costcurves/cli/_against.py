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
        n, today = data.predictions.y_true.size, self._threshold(baseline)
        if isinstance(answer, Recommendation):
            named = None if self.candidate == answer.best.classifier else self.candidate
            return better_here(answer.saving(baseline, today, candidate=named), named, where, n)
        if self.candidate in (None, answer.best_name) and today is None:
            return better_over(answer, baseline, where)
        if self.candidate is None:
            raise Problem("--baseline-threshold needs a condition, not a range, or a --candidate")
        if baseline in TRIVIAL:
            raise Problem(f"--candidate against {quoted(baseline)} needs a condition, not a range")
        rules = rule if isinstance(rule, dict) else dict.fromkeys((self.candidate, baseline), rule)
        policy = (rules[self.candidate], rules[baseline] if today is None else today)
        difference: CurveDifference = data.predictions.compare(
            self.candidate, baseline, pc=answer.over, policy=policy, level=answer.level
        )
        return better_throughout(difference, difference.significant(), n, where)

    def compares_no_range(self, answer: Answer) -> bool:
        """Return whether an answer is about a range, where the threshold of the baseline needs a candidate."""
        return (
            isinstance(answer, RangeRecommendation) and self.baseline_threshold is not None and self.candidate is None
        )

    def _threshold(self, baseline: str) -> float | None:
        """Return the threshold at which a classifier is used today, if it was given."""
        return self.baseline_threshold if baseline == self.baseline else None

    def against(self, name: str, answer: Answer, data: ScoreTable, rule: Any, currency: str) -> types.Against:
        """Return what is saved against the baseline in one scenario."""
        assert self.baseline is not None
        gate = self._better(answer, self.baseline, data, rule, "")
        saved: tuple[float, float, float] | None = None
        chosen = self.candidate or answer.classifier[0]
        if isinstance(answer, Recommendation):
            found = answer.saving(self.baseline, self.baseline_threshold, candidate=self.candidate)
            saved = found.money_estimate, found.money_lower, found.money_upper
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
        limits = f"{level_text(level)} limits {lower} to {upper}"
        head += f"{safe(chosen)} saves {estimate}{unit} per case expected on new rows ({limits}); "
    return f"{head}{safe(gate.line)}."
