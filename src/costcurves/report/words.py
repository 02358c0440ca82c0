"""The sentences of the report. Names stand in their own element, so that no name changes the text around it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from costcurves.class_comparison import CostComparison
from costcurves.comparison import UNDECIDED, CurveDifference
from costcurves.conditions import OperatingCondition, OperatingRange
from costcurves.decisions import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL, rule_text
from costcurves.report.classes import ClassesSummary
from costcurves.report.numbers import money, money_span, number, percent, together
from costcurves.report.summary import ConditionAnswer, RangeAnswer, Summary

SURE, UNSURE, ALONE = "clear", "not settled", "no rival"


@dataclass(frozen=True, slots=True)
class Card:
    """One answer in words: where, what to use, what it costs, how sure that is, and what would change it."""

    title: str
    where: Markup
    use: Markup
    verdict: str
    lines: tuple[tuple[str, Markup], ...]


@dataclass(frozen=True, slots=True)
class Speaker:
    """Writes sentences in the words of one report: its positive class, its currency, its level."""

    positive: str
    currency: str
    level: float

    def name(self, name: str) -> Markup:
        """Return a classifier's name; the trivial ones are said in the words of the data."""
        if name == ALWAYS_NEGATIVE:
            return Markup("never predicting <bdi>{}</bdi>").format(self.positive)
        if name == ALWAYS_POSITIVE:
            return Markup("always predicting <bdi>{}</bdi>").format(self.positive)
        return Markup("<b><bdi>{}</bdi></b>").format(name)

    def names(self, names: Sequence[str], joint: str = "and") -> Markup:
        """Return names as a list in words."""
        said = [self.name(name) for name in names]
        if len(said) == 1:
            return said[0]
        return Markup(", ").join(said[:-1]) + Markup(" {} ").format(joint) + said[-1]

    def rule(self, classifier: str, threshold: float) -> Markup:
        """Return how to use a classifier: its name and its threshold."""
        if rule_text(classifier, threshold) == classifier:
            return self.name(classifier)
        return self.name(classifier) + Markup(" at score ≥ {}").format(number(threshold, 4))

    def amount(self, value: float) -> str:
        """Return money."""
        return money(number(value), self.currency)

    def condition(self, where: OperatingCondition) -> Markup:
        """Return the condition in words."""
        return Markup("{} of cases are <bdi>{}</bdi>; a miss costs {}, a false alarm {}").format(
            percent(where.prevalence), self.positive, self.amount(where.cost_fn), self.amount(where.cost_fp)
        )

    def span(self, span: OperatingRange) -> Markup:
        """Return a range of conditions in words."""
        low, high = span.prevalence
        share = percent(low) if low == high else f"{number(100 * low)} to {percent(high)}"
        return Markup("{} of cases are <bdi>{}</bdi>; a miss costs {}, a false alarm {}").format(
            share, self.positive, self._amounts(span.cost_fn), self._amounts(span.cost_fp)
        )

    def _amounts(self, bounds: tuple[float, float]) -> str:
        low, high = bounds
        return self.amount(low) if low == high else money_span(number(low), number(high), self.currency)

    def cost(self, answer: ConditionAnswer) -> Markup:
        """Return what the choice costs, with its interval."""
        decision = answer.decision
        per = Markup("{} per case").format(self.amount(decision.expected_cost))
        if answer.interval is None:
            return per + Markup(", whatever the data: every case is treated alike.")
        sure = answer.interval
        value, low, high = together([sure.estimate, sure.lower, sure.upper])
        thousand = self.amount(1000 * decision.expected_cost)
        span = money_span(low, high, self.currency)
        return Markup("{} per case ({} interval {}), {} per 1,000 cases.").format(
            money(value, self.currency), percent(self.level), span, thousand
        )

    def sureness(self, answer: ConditionAnswer) -> Markup:
        """Return what the data prove about the choice, against the others and against treating every case alike."""
        if answer.decision.classifier in TRIVIAL:
            return Markup("No classifier costs less here than deciding without one.")
        return self.against_rivals(answer) + Markup(" ") + self._without_classifier(answer)

    def against_rivals(self, answer: ConditionAnswer) -> Markup:
        """Return what the data prove about the choice against the other classifiers."""
        if answer.tests is None:
            return Markup("There is no other classifier to compare with.")
        if not answer.unbeaten:
            return Markup("The data show that it is cheaper than {}.").format(self.names(answer.beaten))
        if not answer.beaten:
            return Markup("The data do not show that it is cheaper than {}: treat them as equals here.").format(
                self.names(answer.unbeaten, "or")
            )
        return Markup("The data show that it is cheaper than {}, but not that it is cheaper than {}.").format(
            self.names(answer.beaten), self.names(answer.unbeaten, "or")
        )

    def _without_classifier(self, answer: ConditionAnswer) -> Markup:
        """Return how the choice compares with treating every case alike."""
        where = answer.condition
        name = ALWAYS_NEGATIVE if where.pc <= 0.5 else ALWAYS_POSITIVE
        cost = where.money(min(where.pc, 1.0 - where.pc))
        assert answer.interval is not None
        link = "It is clearly cheaper than" if answer.interval.upper < cost else "It is not clearly cheaper than"
        return Markup("{} {}, at {} per case.").format(link, self.name(name), self.amount(cost))

    def runner_up(self, answer: ConditionAnswer) -> Markup:
        """Return the next best choice and what it costs more."""
        decision = answer.decision
        other = decision.runner_up
        more = f" ({percent(decision.money_regret / decision.expected_cost)})" if decision.expected_cost > 0 else ""
        return self.rule(other.classifier, other.threshold) + Markup(": {}{} more per case.").format(
            self.amount(decision.money_regret), more
        )

    def change(self, answer: ConditionAnswer) -> Markup:
        """Return over which costs and prevalences the choice stays the same, other things equal."""
        where, (low, high) = answer.condition, answer.stretch
        if answer.before is None and answer.after is None:
            return Markup("Nothing: it is the best choice whatever the costs and frequencies are.")
        parts = []
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
        return text + Markup(" (other things equal). ") + self._beyond(answer)

    def _beyond(self, answer: ConditionAnswer) -> Markup:
        """Return who is best beyond the ends."""
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

    def condition_card(self, answer: ConditionAnswer) -> Card:
        """Return the answer at one condition."""
        decision = answer.decision
        verdict = ALONE if answer.tests is None else SURE if not answer.unbeaten else UNSURE
        lines = [("Cost", self.cost(answer)), ("How sure", self.sureness(answer))]
        if decision.ties:
            equal = Markup("; ").join(self.rule(tie.classifier, tie.threshold) for tie in decision.ties)
            lines.append(("As good", equal + Markup(".")))
        lines += [("Next best", self.runner_up(answer)), ("What would change it", self.change(answer))]
        return Card(
            answer.name,
            self.condition(answer.condition),
            self._use(decision.classifier, decision.threshold),
            verdict,
            tuple(lines),
        )

    def _use(self, classifier: str, threshold: float) -> Markup:
        if classifier in TRIVIAL:
            return Markup("Use no classifier: ") + self.name(classifier)
        return Markup("Use ") + self.rule(classifier, threshold)

    def range_card(self, answer: RangeAnswer) -> Card:
        """Return the answer for a range of conditions."""
        ranges, best = answer.ranges, answer.losses[0]
        many = len(ranges.candidates)
        if ranges.sensitive:
            use = Markup("It depends: {} can be best").format(self.names(ranges.candidates))
            verdict = f"{many} can be best"
        else:
            use = Markup("Use {} throughout").format(self.name(ranges.candidates[0]))
            unsure = any(end.tests is not None and end.unbeaten for end in answer.ends)
            verdict = UNSURE if unsure else "one choice"
        lines = []
        for end in answer.ends:
            said = self.condition(end.condition) + Markup(". Use ")
            rule = self.rule(end.decision.classifier, end.decision.threshold)
            lines.append((f"At {end.name}", said + rule + Markup(": ") + self.cost(end)))
        if ranges.sensitive:
            one = Markup("{} loses at most {} of the cost of always being wrong, {} on average.").format(
                self.name(best.name), number(best.largest), number(best.mean)
            )
            lines.append(("If one must serve throughout", one))
        lines.append(("How sure", self._sure_in_range(answer)))
        return Card(answer.name, self.span(answer.span), use, verdict, tuple(lines))

    def _sure_in_range(self, answer: RangeAnswer) -> Markup:
        """Return what the data prove at both ends, said once where it is the same."""
        low, high = (
            self.sureness(end) if self._decides_alone(end) else self.against_rivals(end) for end in answer.ends
        )
        if low == high:
            return Markup("At both ends: ") + low
        return Markup("At {}: {} At {}: {}").format(answer.ends[0].name, low, answer.ends[1].name, high)

    @staticmethod
    def _decides_alone(answer: ConditionAnswer) -> bool:
        return answer.decision.classifier in TRIVIAL

    def cards(self, summary: Summary) -> list[Card]:
        """Return one card a scenario."""
        return [
            self.condition_card(answer) if isinstance(answer, ConditionAnswer) else self.range_card(answer)
            for answer in summary.answers
        ]

    def overview(self, summary: Summary) -> Markup:
        """Return who can be best at all."""
        useful = [name for name in summary.ranges.candidates if name not in TRIVIAL]
        if not useful:
            return Markup("No classifier is better than treating every case alike, whatever the costs are.")
        never = [name for name in summary.names if name not in useful]
        text = Markup("{} can be the best choice, depending on costs and frequencies").format(self.names(useful))
        if len(summary.ranges.candidates) == 1:
            text = Markup("{} is the best choice whatever the costs and frequencies are").format(self.names(useful))
        elif len(useful) == 1:
            text = Markup("{} is the best choice for some costs and frequencies").format(self.names(useful))
        if not never:
            return text + Markup(".")
        return text + Markup("; {} never {}.").format(self.names(never), "is" if len(never) == 1 else "are")

    def difference(self, pair: CurveDifference) -> Markup:
        """Return where one of two is shown to be cheaper."""
        verdicts = pair.significant()
        winners = [name for name in dict.fromkeys(verdicts.better) if name != UNDECIDED]
        if not winners:
            return Markup("not shown to differ at any condition")
        parts = []
        for winner in winners:
            spans = ", ".join(f"{low:.2f} to {high:.2f}" for low, high in verdicts.where(winner))
            parts.append(self.name(winner) + Markup(" is cheaper for pc {}").format(spans))
        return Markup("; ").join(parts)

    def classes_card(self, summary: ClassesSummary) -> Card:
        """Return the answer for k classes."""
        many = summary.comparison
        trivial = many.best in many.constants
        lines = [("Cost", self._class_cost(summary)), ("How sure", self._class_sureness(many))]
        if not trivial:
            cost = self.amount(float(many.constant_costs.min()))
            said = Markup("{} costs {} per case.").format(self.class_rule(many, many.constant), cost)
            lines.append(("Without a classifier", said))
        risks = () if trivial else many.risks or summary.intervals[summary.names.index(many.best)].risks
        if risks:
            cells = Markup("; ").join(
                Markup("true <bdi>{}</bdi> predicted <bdi>{}</bdi> (cost {}, seen {} times)").format(
                    str(risk.true), str(risk.predicted), self.amount(risk.cost), risk.count
                )
                for risk in risks[:3]
            )
            lines.append(("Beware", Markup("Too few examples to judge rare, expensive errors: {}.").format(cells)))
        if summary.hull is not None:
            can = [name for name in summary.hull.can_be_best if name in summary.names]
            if [name for name in summary.hull.can_be_best if name not in summary.hull.only_ties] == [many.best]:
                said = Markup("Nothing: no other is cheaper, whatever the class frequencies are.")
            elif not can:
                said = Markup("None of the classifiers can be cheapest, whatever the class frequencies are.")
            else:
                said = Markup("Other class frequencies: {} can be cheapest under some.").format(self.names(can))
            lines.append(("What would change it", said))
        where = "class frequencies as given" if summary.priors else "class frequencies as in the data"
        use = Markup("Use no classifier: {}" if trivial else "Use {}").format(self.class_rule(many, many.best))
        return Card("Overall", Markup(where), use, SURE if many.sure else UNSURE, tuple(lines))

    def class_rule(self, many: CostComparison, name: str) -> Markup:
        """Return the name of a classifier of k classes; those that always predict one class are not set bold."""
        return Markup("<bdi>{}</bdi>").format(name) if name in many.constants else self.name(name)

    def _class_cost(self, summary: ClassesSummary) -> Markup:
        many = summary.comparison
        if many.best in many.constants:
            cost = self.amount(float(many.constant_costs.min()))
            return Markup("{} per case at these class frequencies.").format(cost)
        interval = summary.intervals[summary.names.index(many.best)]
        value, low, high = together([interval.estimate, interval.lower, interval.upper])
        return Markup("{} per case ({} interval {}).").format(
            money(value, self.currency), percent(self.level), money_span(low, high, self.currency)
        )

    def _class_sureness(self, many: CostComparison) -> Markup:
        if many.sure and many.best in many.constants:
            return Markup("The data show that it is cheaper than every classifier and than predicting another class.")
        if many.sure:
            others = "every other classifier, and than " if len(many.names) > 1 else ""
            return Markup("The data show that it is cheaper than {}always predicting one class.").format(others)
        some = [self.class_rule(many, name) for name in many.rivals]
        said = Markup(", ").join(some[:-1]) + Markup(" or ") * (len(some) > 1) + some[-1]
        return Markup("The data do not show that it is cheaper than {}.").format(said)
