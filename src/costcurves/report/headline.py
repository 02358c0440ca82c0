"""The first lines of the page: what to do, what it costs in a year, what it saves, and what would change the answer."""

from __future__ import annotations

from dataclasses import dataclass

from costcurves.conditions.condition import OperatingCondition
from costcurves.decisions.saving import Saving
from costcurves.report.answers import HOLLOW, SURE, Answer, ConditionAnswer, RangeAnswer
from costcurves.report.markup import Markup
from costcurves.report.numbers import money, money_span, number, percent, rounded, with_minus
from costcurves.report.summary import Summary
from costcurves.report.words import OF_ALL_WRONG, Speaker

# Scenarios that have a headline; the others have their card.
MOST = 3


@dataclass(frozen=True, slots=True)
class Headline:
    """The answer to one scenario for readers of one line: the verdict, the action, and sentences about it."""

    title: str
    verdict: str
    why: Markup
    action: Markup
    lines: tuple[Markup, ...]


def saved_words(today: Markup, value: float, amount: str, span: str, *, shown: bool) -> Markup:
    """State a saving against today's rule, as an estimate unless the data show it."""
    if shown:
        text = Markup("The data show that it saves money against today’s {}: about {} ({}).")
        return text.format(today, amount, span)
    if value > 0:
        text = Markup("Against today’s {} it is expected to save about {}, but the data do not show a saving ({}).")
        return text.format(today, amount, span)
    return Markup("The data do not show a saving against today’s {} ({}).").format(today, span)


@dataclass(frozen=True, slots=True)
class Teller:
    """Writes the headlines of a report. `cases` is the number of cases per year, if it is known."""

    say: Speaker
    cases: float | None
    moves: bool = False  # whether the threshold of today's rule is not known, and is the best one at each condition

    def headlines(self, summary: Summary) -> list[Headline]:
        """Write the headlines of the first scenarios."""
        return [
            self.of_condition(answer) if isinstance(answer, ConditionAnswer) else self.of_range(answer)
            for answer in summary.answers[:MOST]
        ]

    def of_condition(self, answer: ConditionAnswer) -> Headline:
        """Write the headline of one condition."""
        lines = [self.cost(answer), self.saved(answer.saving), self.turn(answer)]
        why = self.why(answer)
        return Headline(answer.name, answer.verdict, why, self.action(answer), tuple(line for line in lines if line))

    def of_range(self, answer: RangeAnswer) -> Headline:
        """Write the headline of a range: one action, then what it costs at both ends."""
        say = self.say
        found = answer.recommendation
        lines = [self.at_end(end, found.best_name) for end in answer.ends]
        if found.ranges.sensitive:
            most = percent(float(found.largest[0]))
            text = Markup("On these cases {} can each be the cheapest within the range; {} loses up to {} {}.")
            lines.append(text.format(say.names(found.ranges.candidates), say.name(found.best_name), most, OF_ALL_WRONG))
        else:
            text = Markup("On these cases {} is the cheapest throughout the range.")
            lines.append(text.format(say.name(found.best_name)))
        return Headline(answer.name, answer.verdict, self.why(answer), say.use_within(answer), tuple(lines))

    def at_end(self, end: ConditionAnswer, name: str) -> Markup:
        """State what the choice for a range costs at one of its ends, and who is cheaper there."""
        best = end.recommendation.best
        if name == best.classifier:
            return Markup("At {}: {} {}").format(end.name, self.cost(end), self.saved(end.saving))
        text = Markup("At {}: {} The cheapest there on these cases is {}. {}")
        return text.format(end.name, self.cost(end, name), self.say.rule(best), self.cost(end))

    def why(self, answer: Answer) -> Markup:
        """State in a few words what the verdict rests on."""
        found = answer.recommendation
        if answer.verdict == SURE:
            return Markup("every other choice is shown to cost more")
        return Markup("{} may be as good").format(self.say.names(found.rivals, "or"))

    def action(self, answer: ConditionAnswer) -> Markup:
        """Say what to do, compared with what is done today if that is known."""
        say, best, saving = self.say, answer.recommendation.best, answer.saving
        if answer.verdict == HOLLOW:
            unaided = answer.recommendation.cheaper_unaided
            assert unaided is not None
            text = Markup(
                "Expect no gain from a classifier: {} is the cheapest on these cases, "
                "but is expected to cost more on new ones than {}"
            )
            return text.format(say.rule(best), say.name(unaided))
        if saving is None or saving.baseline.classifier != best.classifier:
            return say.use(best)
        if saving.baseline.threshold == best.threshold:
            return Markup("Keep {}").format(say.rule(best))
        text = Markup("Keep {} and change its threshold: score ≥\N{NO-BREAK SPACE}{} instead of {}")
        cuts = (with_minus(rule.threshold_text) for rule in (best, saving.baseline))
        return text.format(say.name(best.classifier), *cuts)

    def _amount(self, value: float, where: OperatingCondition) -> str:
        """Format an expected amount, per year if the number of cases is known."""
        if where.pc_only:
            return f"{number(value)} {OF_ALL_WRONG}"
        if self.cases is None:
            return f"{money(number(value), self.say.currency)} per case"
        return f"{money(rounded(value * self.cases), self.say.currency)} per year"

    def _span(self, low: float, high: float, where: OperatingCondition) -> str:
        """Format the limits of an expected amount."""
        times = 1.0 if self.cases is None or where.pc_only else self.cases
        form = number if times == 1.0 else rounded
        first, last = form(low * times), form(high * times)
        span = f"{first} to {last}" if where.pc_only else money_span(first, last, self.say.currency)
        return f"{percent(self.say.level)} limits {span}"

    def cost(self, answer: ConditionAnswer, name: str | None = None) -> Markup:
        """State what the choice, or another classifier, is expected to cost on new cases."""
        found, where = answer.recommendation, answer.condition
        name = found.best.classifier if name is None else name
        i = found.index(name)
        value, low, high = (float(v[i]) for v in (found.money_estimate, found.money_lower, found.money_upper))
        start = Markup("{} is expected to cost").format(self.say.name(name))
        start = start[:1].upper() + start[1:]
        if low == high:
            text = Markup("{} {}, whatever the data are.")
            return text.format(start.replace("is expected to cost", "costs"), self._amount(value, where))
        text = Markup("{} about {} on new cases ({}){}.")
        if answer.verdict == HOLLOW and i == 0:
            unaided = found.cheaper_unaided
            assert unaided is not None
            known = float(found.money_estimate[found.index(unaided)])
            more = Markup(", {} {}").format(self.say.name(unaided), self._amount(known, where))
        else:
            more = Markup("")
        return text.format(start, self._amount(value, where), self._span(low, high, where), more)

    def saved(self, saving: Saving | None) -> Markup:
        """State what the choice saves against today's rule."""
        if saving is None:
            return Markup("")
        where, value, today = saving.condition, saving.money_estimate, self.say.rule(saving.baseline)
        if self.moves and saving.baseline.threshold_text:
            today += Markup(" (its best threshold here)")
        if saving.lower == saving.upper:
            if value == 0:
                return Markup("It decides as today.")
            word = "saves" if value > 0 else "costs"
            text = Markup("Against today’s {} it {} {}{}, whatever the data are.")
            return text.format(today, word, self._amount(abs(value), where), "" if value > 0 else " more")
        span = self._span(saving.money_lower, saving.money_upper, where)
        return saved_words(today, value, self._amount(value, where), span, shown=saving.shown)

    def turn(self, answer: ConditionAnswer) -> Markup:
        """State the nearest condition at which another choice wins on these cases."""
        turn, where = answer.turn, answer.condition
        if turn is None:
            text = "On these cases no other choice of classifier is cheaper, whatever the costs and frequencies are."
            return Markup(text)
        start = Markup("On these cases the answer changes to {} ").format(self.say.name(turn.classifier))
        if not where.pc_only and turn.cost_fn is None:
            return start + Markup("as soon as a false alarm costs something.")
        what, limit, now = "a miss costs", self.say.amount(turn.cost_fn or 0.0), self.say.amount(where.cost_fn)
        if where.pc_only:
            what, limit, now = "the probability-cost is", number(turn.pc), number(where.pc)
        side = "more" if turn.above else "less"
        if limit == now:
            return start + Markup("if {} a little {} than {}.").format(what, side, now)
        return start + Markup("if {} {} than {}, not {}.").format(what, side, limit, now)
