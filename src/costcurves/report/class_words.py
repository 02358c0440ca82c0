"""The sentences about k classes: the first lines of the page, and the card of the answer."""

from __future__ import annotations

from dataclasses import dataclass

from costcurves.report.answers import SURE, UNSURE
from costcurves.report.classes import ClassesSummary
from costcurves.report.headline import Headline, saved_words
from costcurves.report.markup import Markup
from costcurves.report.numbers import money, money_span, percent, rounded, together
from costcurves.report.words import Card, Speaker


@dataclass(frozen=True, slots=True)
class ClassTeller:
    """Writes the sentences about k classes. `cases` is the number of cases per year, if it is known."""

    say: Speaker
    found: ClassesSummary
    cases: float | None

    @property
    def best(self) -> str:
        """The cheapest classifier, or the cheapest constant prediction."""
        return self.found.comparison.best_name

    @property
    def trivial(self) -> bool:
        """Whether always predicting one class is cheapest."""
        return self.best in self.found.comparison.constants

    def rule(self, name: str) -> Markup:
        """The name of a classifier, or of always predicting one class."""
        return self.say.class_rule(name, self.found.comparison.constants)

    def _listed(self, names: tuple[str, ...]) -> Markup:
        some = [self.rule(name) for name in names]
        return Markup(", ").join(some[:-1]) + Markup(" or ") * (len(some) > 1) + some[-1]

    def headline(self) -> Headline:
        """Write the first lines: what to do, what it costs and saves, and what would change the answer."""
        many = self.found.comparison
        why = "every other choice is shown to cost more"
        said = Markup(why) if many.sure else Markup("{} may be as good").format(self._listed(many.rivals))
        keep = self.found.baseline == self.best
        action = Markup("Keep {}").format(self.rule(self.best)) if keep else self.use()
        lines = [self.cost(), self.saved(), self.turn()]
        verdict = SURE if many.sure else UNSURE
        return Headline("Overall", verdict, said, action, tuple(line for line in lines if line))

    def use(self) -> Markup:
        """Say what to use."""
        return Markup("Use no classifier: {}" if self.trivial else "Use {}").format(self.rule(self.best))

    def _amount(self, value: float) -> str:
        """Format an amount per year, or per 1,000 cases if their number is not known."""
        unit = "per 1,000 cases" if self.cases is None else "per year"
        return f"{money(rounded(value * (self.cases or 1000.0)), self.say.currency)} {unit}"

    def _span(self, low: float, high: float) -> str:
        times = self.cases or 1000.0
        return money_span(rounded(low * times), rounded(high * times), self.say.currency)

    def cost(self) -> Markup:
        """State what the choice costs, with limits that allow for having chosen."""
        chosen, many = self.found.chosen, self.found.comparison
        if chosen is None:
            cost = self._amount(float(many.constant_costs.min()))
            return Markup("It costs {} at these class frequencies.").format(cost)
        count = len(many.names)
        among = f", which allow for having chosen among {count} classifiers," if count > 1 else ""
        text = Markup("On these cases it costs about {}; the {} limits for new cases{} are {}.")
        span = self._span(chosen.lower, chosen.upper)
        return text.format(self._amount(chosen.estimate), percent(self.say.level), among, span)

    def saved(self) -> Markup:
        """State what the choice saves against today's classifier."""
        today, many = self.found.baseline, self.found.comparison
        if today is None:
            return Markup("")
        if today == self.best:
            return Markup("It decides as today.")
        pair = many.pair(today, self.best)
        limits = f"{percent(self.say.level)} limits {self._span(pair.lower, pair.upper)}"
        shown = pair.cheaper == self.best
        return saved_words(self.rule(today), pair.estimate, self._amount(pair.estimate), limits, shown=shown)

    def turn(self) -> Markup:
        """State the nearest share of one class at which another choice is cheaper on these cases."""
        turn = self.found.turn
        if turn is None:
            return Markup("")
        text = Markup("On these cases the answer changes to {} if {} than {} of the cases are <bdi>{}</bdi>, {}.")
        limit, now, side = percent(turn.share), percent(turn.now), "more" if turn.above else "fewer"
        others = "other classes keeping their proportions"
        told = others if limit == now else f"not {now} ({others})"
        return text.format(self.rule(turn.name), side, limit, turn.label, told)

    def card(self) -> Card:
        """Write the card of the answer."""
        summary, many, say = self.found, self.found.comparison, self.say
        lines = [("Cost", self._card_cost()), ("How sure", self._sureness())]
        if not self.trivial:
            cost = say.amount(float(many.constant_costs.min()))
            said = Markup("{} costs {} per case.").format(self.rule(many.constant), cost)
            lines.append(("Without a classifier", said))
        chosen = summary.chosen
        risks = () if chosen is None else many.risks or chosen.risks
        if risks:
            cells = Markup("; ").join(
                Markup("true <bdi>{}</bdi> predicted <bdi>{}</bdi> (cost {}, seen {} times)").format(
                    str(risk.true), str(risk.predicted), say.amount(risk.cost), risk.count
                )
                for risk in risks[:3]
            )
            text = Markup("There are too few examples to judge rare, expensive errors: {}.")
            lines.append(("Caution", text.format(cells)))
        if summary.hull is not None:
            lines.append(("What would change it", self._change()))
        where = "class frequencies as given" if summary.priors else "class frequencies as in the data"
        return Card("Overall", Markup(where), self.use(), SURE if many.sure else UNSURE, tuple(lines))

    def _card_cost(self) -> Markup:
        chosen, many = self.found.chosen, self.found.comparison
        if chosen is None:
            cost = self.say.amount(float(many.constant_costs.min()))
            return Markup("{} per case at these class frequencies.").format(cost)
        value, low, high = together([chosen.estimate, chosen.lower, chosen.upper])
        text = Markup("{} per case on these cases ({} limits for new ones {}).")
        span = money_span(low, high, self.say.currency)
        return text.format(money(value, self.say.currency), percent(self.say.level), span)

    def _sureness(self) -> Markup:
        many = self.found.comparison
        if many.sure and self.trivial:
            return Markup("The data show that it is cheaper than every classifier and than predicting another class.")
        if many.sure:
            others = "every other classifier, and than " if len(many.names) > 1 else ""
            return Markup("The data show that it is cheaper than {}always predicting one class.").format(others)
        return Markup("The data do not show that it is cheaper than {}.").format(self._listed(many.rivals))

    def _change(self) -> Markup:
        hull = self.found.hull
        assert hull is not None
        can = [name for name in hull.can_be_best if name in self.found.names and name != self.best]
        if [name for name in hull.can_be_best if name not in hull.only_ties] == [self.best]:
            return Markup("On these cases no other choice is cheaper, whatever the class frequencies are.")
        if can:
            text = Markup("Other class frequencies: on these cases {} can be cheapest under some of them.")
            return text.format(self.say.names(can))
        return Markup(
            "On these cases none of the classifiers is cheapest, whatever the class frequencies are."
            if self.trivial
            else "Other class frequencies: on these cases always predicting one class is cheapest under some of them."
        )
