"""The sentences of the report. Names have their own elements, so that they cannot change the text around them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from costcurves.conditions.condition import OperatingCondition
from costcurves.conditions.range import OperatingRange
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL, Rule
from costcurves.decisions.curve_difference import NO_VERDICT, CurveDifference
from costcurves.report.answers import ConditionAnswer, RangeAnswer, Slices
from costcurves.report.markup import Markup
from costcurves.report.numbers import money, money_span, number, percent, together, with_minus
from costcurves.report.summary import Summary

# Names of a list that are told before it is cut short.
MOST_NAMES = 6
# The unit of costs if only pc is known, and of costs over all conditions.
OF_ALL_WRONG = "of the cost of getting every case wrong"


# What stands below the answers, by the policy of the thresholds.
NOTES = {
    "optimal": "Thresholds were chosen on the same cases that judge them, so costs on these cases are a little too "
    "low. The answers above say what to expect on new cases. The pictures and tables below show costs on these cases; "
    "the limits of cost curves allow for the choice of thresholds, those beside the sliders take them as given.",
    "crossfit": "In the cost curves below, each case is judged at the threshold that is best on all cases outside its "
    "fold, so their costs are not too low. The hull, who is best where and the sliders show the thresholds that are "
    "best on these cases, and so do the comparisons; their costs are a little too low. The answers above say what to "
    "expect on new cases.",
    "validation": "Thresholds were found on other cases. The answers above, the cost curves, the comparisons, who is "
    "best where and the sliders say what those cost on these cases. Only the hull shows the thresholds that are best "
    "on these cases, whose costs are a little too low.",
    "given": "Thresholds were given. The answers above, the cost curves, the comparisons, who is best where and the "
    "sliders say what those cost on these cases. Only the hull shows the thresholds that are best on these cases, "
    "whose costs are a little too low.",
}
# Which thresholds the cost curves use, by the policy.
USED = {
    "optimal": "at its best threshold on these cases",
    "crossfit": "with each case judged at the threshold that is best outside its fold",
    "validation": "at the thresholds that were found on other cases",
    "given": "at the thresholds that were given",
}


@dataclass(frozen=True, slots=True)
class Card:
    """One answer in words: the condition, what to use, what it costs, how certain that is, and what would change it."""

    title: str
    where: Markup
    use: Markup
    verdict: str
    lines: tuple[tuple[str, Markup], ...]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Writes the sentences of one report, with its positive class, currency and level."""

    positive: str
    currency: str
    level: float

    def name(self, name: str) -> Markup:
        """The name of a classifier. Trivial classifiers are described in terms of the data."""
        if name == ALWAYS_NEGATIVE:
            return Markup("never predicting <bdi>{}</bdi>").format(self.positive)
        if name == ALWAYS_POSITIVE:
            return Markup("always predicting <bdi>{}</bdi>").format(self.positive)
        return Markup("<b><bdi>{}</bdi></b>").format(name)

    def names(self, names: Sequence[str], joint: str = "and") -> Markup:
        """List names in words. A long list is cut short."""
        said = [self.name(name) for name in names[:MOST_NAMES]]
        if (more := len(names) - len(said)) > 1:
            return Markup(", ").join(said) + Markup(" {} {} others").format(joint, more)
        said = [self.name(name) for name in names]
        if len(said) == 1:
            return said[0]
        return Markup(", ").join(said[:-1]) + Markup(" {} ").format(joint) + said[-1]

    def rule(self, choice: Rule) -> Markup:
        """Describe how to use a classifier by its name and its threshold."""
        if not choice.threshold_text:
            return self.name(choice.classifier)
        text = Markup("{} at score ≥\N{NO-BREAK SPACE}{}")
        return text.format(self.name(choice.classifier), with_minus(choice.threshold_text))

    def amount(self, value: float) -> str:
        """Format an amount of money."""
        return money(number(value), self.currency)

    def price(self, value: float, where: OperatingCondition | OperatingRange) -> str:
        """Describe the cost of a case at a condition, in money, or as a share if only pc is known."""
        return f"{number(value)} {OF_ALL_WRONG}" if where.pc_only else f"{self.amount(value)} per case"

    def condition(self, where: OperatingCondition) -> Markup:
        """Describe the condition in words."""
        if where.pc_only:
            return Markup("probability-cost {}; costs are shares {}").format(number(where.pc), OF_ALL_WRONG)
        return Markup("{} of cases are <bdi>{}</bdi>; a miss costs {}, a false alarm {}").format(
            percent(where.prevalence), self.positive, self.amount(where.cost_fn), self.amount(where.cost_fp)
        )

    def span(self, span: OperatingRange) -> Markup:
        """Describe a range of conditions in words."""
        if span.pc_only:
            text = Markup("probability-cost {} to {}; costs are shares {}")
            return text.format(*map(number, span.pc), OF_ALL_WRONG)
        low, high = span.prevalence
        share = percent(low) if low == high else f"{number(100 * low)} to {percent(high)}"
        return Markup("{} of cases are <bdi>{}</bdi>; a miss costs {}, a false alarm {}").format(
            share, self.positive, self._amounts(span.cost_fn), self._amounts(span.cost_fp)
        )

    def _amounts(self, bounds: tuple[float, float]) -> str:
        low, high = bounds
        return self.amount(low) if low == high else money_span(number(low), number(high), self.currency)

    def cost(self, answer: ConditionAnswer) -> Markup:
        """State what the choice costs on these cases and on new ones, with an interval."""
        found, where = answer.recommendation, answer.condition
        here = found.best.expected_cost
        if found.lower[0] == found.upper[0]:
            text = Markup("{}, whatever the data are, because every case is treated alike.")
            return text.format(self.price(here, where))
        sure = (float(values[0]) for values in (found.money_estimate, found.money_lower, found.money_upper))
        seen, value, low, high = together([here, *sure])
        if where.pc_only:
            text = Markup("{} {} on these cases; {} expected on new ones ({} interval {} to {}).")
            return text.format(seen, OF_ALL_WRONG, value, percent(self.level), low, high)
        text = Markup("{} per case on these cases; {} expected on new ones ({} interval {}), {} per 1,000 cases.")
        return text.format(
            money(seen, self.currency),
            money(value, self.currency),
            percent(self.level),
            money_span(low, high, self.currency),
            self.amount(1000 * float(found.money_estimate[0])),
        )

    def sureness(self, answer: ConditionAnswer) -> Markup:
        """State what the data show about the choice, compared with the others and with treating every case alike."""
        if answer.recommendation.best.classifier in TRIVIAL:
            start = Markup("On these cases no classifier costs less than deciding without one. ")
        else:
            start = Markup("")
        if not answer.unbeaten:
            return start + Markup("The data show that it is cheaper than {}.").format(self.names(answer.beaten))
        not_shown = self.names(answer.unbeaten, "or")
        if not answer.beaten:
            text = Markup("The data do not show that it is cheaper than {}; treat them as equally good here.")
            return start + text.format(not_shown)
        text = Markup("The data show that it is cheaper than {}, but not that it is cheaper than {}.")
        return start + text.format(self.names(answer.beaten), not_shown)

    def runner_up(self, answer: ConditionAnswer) -> Markup:
        """State the next best choice and how much more it costs."""
        best, other = answer.recommendation.best, answer.recommendation.runner_up
        regret = answer.recommendation.money_regret
        more = f" ({percent(regret / best.expected_cost)})" if best.expected_cost > 0 else ""
        text = Markup(": {} more{}, on these cases.")
        return self.rule(other) + text.format(self.price(regret, answer.condition), more)

    def change(self, answer: ConditionAnswer) -> Markup:
        """State the costs and prevalences for which the choice stays the same, other things being equal."""
        where, (low, high) = answer.condition, answer.stretch
        if answer.before is None and answer.after is None:
            return Markup("On these cases, nothing: it is the cheapest choice whatever the costs and frequencies are.")
        parts = []
        if where.pc_only:
            ends = [number(pc) if 0 < pc < 1 else None for pc in (low, high)]
            text = Markup("The choice of classifier stays the same while pc is {}. ").format(self._between(ends))
            return text + self._beyond(answer)
        if where.cost_fp > 0:
            costs = [where.with_pc(pc, by="cost_fn").cost_fn if 0 < pc < 1 else None for pc in (low, high)]
            words = [None if cost is None else self.amount(cost) for cost in costs]
            parts.append(Markup("a miss costs {}").format(self._between(words)))
        if where.cost_fp > 0 and where.cost_fn > 0:
            shares = [where.with_pc(pc, by="prevalence").prevalence if 0 < pc < 1 else None for pc in (low, high)]
            words = [None if share is None else number(100 * share) for share in shares]
            text = Markup("{}\N{NO-BREAK SPACE}% of cases are <bdi>{}</bdi>")
            parts.append(text.format(self._between(words), self.positive))
        if not parts:
            return Markup("A false alarm that costs something.")
        text = Markup("The choice of classifier stays the same while ") + Markup(", or while ").join(parts)
        return text + Markup(" (other things being equal). ") + self._beyond(answer)

    def _beyond(self, answer: ConditionAnswer) -> Markup:
        """State which classifier is best beyond the ends."""
        if answer.before == answer.after and answer.before is not None:
            return Markup("Beyond that {} is best.").format(self.name(answer.before))
        parts = []
        if answer.before is not None:
            parts.append(Markup("below that {} is best").format(self.name(answer.before)))
        if answer.after is not None:
            parts.append(Markup("above that {} is best").format(self.name(answer.after)))
        text = Markup(", ").join(parts)
        return text[:1].upper() + text[1:] + Markup(".")

    @staticmethod
    def _between(ends: Sequence[str | None]) -> str:
        low, high = ends
        if low is None:
            return f"at most {high}"
        if high is None:
            return f"at least {low}"
        return f"{low} to {high}" if low != high else low

    def note(self, summary: Summary) -> str:
        """Return on which cases thresholds were chosen, and what that means for the costs."""
        return NOTES[summary.policy]

    def used(self, summary: Summary) -> str:
        """Return which thresholds the cost curves use."""
        return USED[summary.policy]

    def condition_card(self, answer: ConditionAnswer) -> Card:
        """Write the answer at one condition."""
        decision, best = answer.decision, answer.recommendation.best
        lines = [("Cost", self.cost(answer)), ("How sure", self.sureness(answer))]
        if (thresholds := answer.recommendation.threshold_set()) is not None:
            lines.append(("Other thresholds", Markup("{}").format(with_minus(thresholds.statement))))
        if decision.ties and (decision.classifier, decision.threshold) == (best.classifier, best.threshold):
            equal = Markup("; ").join(self.rule(tie) for tie in decision.ties)
            lines.append(("As good", equal + Markup(".")))
        lines += [("Next best", self.runner_up(answer)), ("What would change it", self.change(answer))]
        return Card(
            answer.name,
            self.condition(answer.condition),
            self.use(best),
            answer.verdict,
            tuple(lines),
        )

    def use(self, choice: Rule) -> Markup:
        """Say what to use."""
        if choice.classifier in TRIVIAL:
            return Markup("Use no classifier: ") + self.name(choice.classifier)
        return Markup("Use ") + self.rule(choice)

    def range_card(self, answer: RangeAnswer) -> Card:
        """Write the answer for a range of conditions."""
        found = answer.recommendation
        lines = []
        if found.ranges.sensitive:
            text = Markup("On these cases {} can each be the cheapest. {} loses up to {} {}, {} on average.")
            largest, mean = percent(float(found.largest[0])), percent(float(found.mean[0]))
            best = self.name(found.best_name)
            best = best[:1].upper() + best[1:]
            said = text.format(self.names(found.ranges.candidates), best, largest, OF_ALL_WRONG, mean)
        else:
            said = Markup("On these cases it is the cheapest throughout.")
        lines.append(("Within the range", said))
        text = Markup(
            "{} loses up to {} on these cases compared with the best choice at each condition, and at most {} on new "
            "ones ({:g} % confidence)."
        )
        lost, most = (
            f"{number(value)} {OF_ALL_WRONG}" if answer.span.pc_only else f"{self.amount(value)} per case"
            for value in (found.rule.money, found.rule.money_upper)
        )
        level = round(100 * found.level, 6)
        rule = self.rule(found.rule)
        rule = rule[:1].upper() + rule[1:]
        lines.append(("If one threshold must be used throughout", text.format(rule, lost, most, level)))
        for end in answer.ends:
            said = self.condition(end.condition) + Markup(". ")
            if found.best_name != end.recommendation.best.classifier:
                said += Markup("{} costs {} there. The cheapest there: ").format(*self._there(end, found.best_name))
            there = self.use(end.recommendation.best)
            lines.append((f"At {end.name}", said + there + Markup(": ") + self.cost(end)))
        lines.append(("How sure", self._sure_in_range(answer)))
        return Card(answer.name, self.span(answer.span), self.use_within(answer), answer.verdict, tuple(lines))

    def _there(self, end: ConditionAnswer, name: str) -> tuple[Markup, str]:
        """The name of the choice for a range, and what it costs on these cases at one of its ends."""
        found, said = end.recommendation, self.name(name)
        return said[:1].upper() + said[1:], self.price(float(found.expected_cost[found.index(name)]), end.condition)

    def use_within(self, answer: RangeAnswer) -> Markup:
        """Say what to use throughout a range."""
        found = answer.recommendation
        if found.best_name in TRIVIAL:
            return Markup("Use no classifier: ") + self.name(found.best_name)
        cuts = [cut for cut in dict.fromkeys(found.thresholds_between(*found.over.pc)) if not cut.endswith("inf")]
        if not cuts:
            return Markup("Use {}").format(self.name(found.best_name))
        text = Markup("Use {} at score ≥\N{NO-BREAK SPACE}{}{}")
        follows = ", whichever suits the condition" if len(cuts) > 1 else ""
        return text.format(self.name(found.best_name), with_minus(" to ".join(cuts)), follows)

    def _sure_in_range(self, answer: RangeAnswer) -> Markup:
        """State what the data show throughout the range or, failing that, at both ends."""
        found = answer.recommendation
        if found.sure:
            return Markup("The data show that {} is cheaper than every other choice throughout the range.").format(
                self.name(found.best_name)
            )
        text = Markup("")
        if found.beaten_by:
            text = Markup("The data show that {} is cheaper than {} in part of the range. ").format(
                self.names(found.beaten_by, "or"), self.name(found.best_name)
            )
        low, high = (self.sureness(end) for end in answer.ends)
        if low == high:
            return text + Markup("At both ends: ") + low
        return text + Markup("At {}: {} At {}: {}").format(answer.ends[0].name, low, answer.ends[1].name, high)

    def segments(self, slices: Slices) -> Markup:
        """State in which segments a rule of their own is shown to be cheaper than the rule for all cases."""
        rule = self.rule(slices.everywhere)
        own = [one.segment for one in slices.segments if one.saving is not None and one.saving.shown]
        if not own:
            return Markup("In no segment is another rule shown to be cheaper than {}.").format(rule)
        named = Markup(", ").join(Markup("<bdi>{}</bdi>").format(name) for name in own)
        return Markup("A rule of its own is shown to be cheaper than {} in: {}.").format(rule, named)

    def cards(self, summary: Summary) -> list[Card]:
        """Write one card per scenario."""
        return [
            self.condition_card(answer) if isinstance(answer, ConditionAnswer) else self.range_card(answer)
            for answer in summary.answers
        ]

    def overview(self, summary: Summary) -> Markup:
        """State which classifiers can be best at all."""
        useful = [name for name in summary.ranges.candidates if name not in TRIVIAL]
        if not useful:
            return Markup(
                "On these cases no classifier is better than treating every case alike, whatever the costs are."
            )
        never = [name for name in summary.names if name not in useful]
        text = Markup("On these cases {} can be the cheapest, depending on costs and frequencies")
        if len(summary.ranges.candidates) == 1:
            text = Markup("On these cases {} is the cheapest whatever the costs and frequencies are")
        elif len(useful) == 1:
            text = Markup("On these cases {} is the cheapest for some costs and frequencies")
        text = text.format(self.names(useful))
        if not never:
            return text + Markup(".")
        return text + Markup("; {} never {}.").format(self.names(never), "is" if len(never) == 1 else "are")

    def difference(self, pair: CurveDifference) -> Markup:
        """State where one of two classifiers is shown to be cheaper."""
        verdicts = pair.significant()
        winners = [name for name in dict.fromkeys(verdicts.better) if name not in NO_VERDICT]
        if not winners:
            return Markup("not shown to differ at any condition")
        parts = []
        for winner in winners:
            spans = ", ".join(f"{low:.2f} to {high:.2f}" for low, high in verdicts.where(winner))
            parts.append(self.name(winner) + Markup(" is cheaper for pc {}").format(spans))
        return Markup("; ").join(parts)

    def class_rule(self, name: str, constants: Sequence[str]) -> Markup:
        """The name of a classifier of k classes. Those that always predict one class are not bold."""
        return Markup("<bdi>{}</bdi>").format(name) if name in constants else self.name(name)
