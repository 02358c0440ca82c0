"""The outcome of a promise, part by part and in one sentence."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from costcurves._base.results import Result, jsonable
from costcurves._base.validation import FloatArray
from costcurves.conditions.condition import OperatingCondition
from costcurves.curves.choices import Choice

PARTS = ("cost", "prevalence", "fpr", "tpr")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PromiseCheck(Result):
    """Whether new labelled cases agree with what was promised, part by part.

    Attributes
    ----------
    choice : Choice
        The classifier and threshold that were promised, with their rates and cost on the cases of the promise.
    condition : OperatingCondition
        The condition that was promised.
    n, n_pos : int
        The number of new cases, and of positives among them.
    part : tuple of str
        ``("cost", "prevalence", "fpr", "tpr")``: what the arrays below are about. The cost is per case in money
        (normalized if the promise was made at a pc).
    promised, promised_lower, promised_upper : arrays of shape (4,)
        What was promised for new cases, with the limits that the cases of the promise leave. Both limits of a
        prevalence that was stated are the prevalence. NaN if nothing was promised.
    observed, observed_lower, observed_upper : arrays of shape (4,)
        What the new cases showed, with limits; NaN for a rate of a class that has no case.
    p_value, adjusted : arrays of shape (4,)
        Of "nothing has changed", allowing for the uncertainty of the promise and of the new cases, and adjusted for
        the four parts by Hochberg's method; NaN where there is nothing to test.
    due_to_prevalence, due_to_misses, due_to_alarms, due_to_costs : float
        The change of the cost per case, split into what the class frequencies, the misses, the false alarms and the
        costs of errors contributed; they add up to the change.
    cost_fn, cost_fp : float
        What errors cost now.
    level : float

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(2000) < 0.05
    >>> here = cc.OperatingCondition(prevalence=0.05, cost_fp=1, cost_fn=10)
    >>> promise = cc.recommend(y, {"model": 2 * y + rng.normal(size=2000)}, here)
    >>> new = rng.random(500) < 0.37
    >>> check = cc.check_promise(promise, new, 2 * new + rng.normal(size=500))
    >>> check.kept, check.moved
    (False, ('cost', 'prevalence'))
    >>> print(check.sentence)
    Promised 0.257 per case; these 500 cases cost 0.704: 36 % are positive where 5 % were promised.
    """

    choice: Choice
    condition: OperatingCondition
    n: int
    n_pos: int
    promised: FloatArray
    promised_lower: FloatArray
    promised_upper: FloatArray
    observed: FloatArray
    observed_lower: FloatArray
    observed_upper: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    due_to_prevalence: float
    due_to_misses: float
    due_to_alarms: float
    due_to_costs: float
    cost_fn: float
    cost_fp: float
    level: float

    @property
    def part(self) -> tuple[str, ...]:
        """What the arrays are about."""
        return PARTS

    @property
    def moved(self) -> tuple[str, ...]:
        """The parts that are shown to have changed."""
        return tuple(part for part, p in zip(PARTS, self.adjusted, strict=True) if p <= 1.0 - self.level)

    @property
    def kept(self) -> bool:
        """Whether nothing is shown to have changed."""
        return not self.moved

    @property
    def change(self) -> float:
        """By how much the new cases cost more than promised, per case."""
        return float(self.observed[0] - self.promised[0])

    @property
    def sentence(self) -> str:
        """The outcome in one sentence."""
        unit = "of getting every case wrong" if self.condition.pc_only else "per case"
        cases = "this case costs" if self.n == 1 else f"these {self.n:,} cases cost"
        start = f"Promised {self.promised[0]:.3g} {unit}; {cases} {self.observed[0]:.3g}"
        if (self.cost_fn, self.cost_fp) != (self.condition.cost_fn, self.condition.cost_fp):
            start += (
                f" at today's costs of errors and {self.observed[0] - self.due_to_costs:.3g} at those of the promise"
            )
        missing = [word for word, n in (("positive", self.n_pos), ("negative", self.n - self.n_pos)) if n == 0]
        absent = "".join(f"; no case is {word}, so that the {_RATE_OF[word]} cannot be checked" for word in missing)
        if self.kept:
            return f"{start}, which agrees with the promise{absent}."
        said = [text for part, text in self._in_words() if part in self.moved]
        if not said:
            said = ["no single part is shown to have changed"]
        joint = ":" if "cost" in self.moved else ", which agrees with the promise, but"
        return f"{start}{joint} {_joined(said)}{absent}."

    def _in_words(self) -> list[tuple[str, str]]:
        _, p, fpr, tpr = self.observed
        _, was_p, was_fpr, was_tpr = self.promised
        return [
            ("prevalence", f"{_percent(p)} are positive where {_percent(was_p)} were promised"),
            ("fpr", f"{_percent(fpr)} of the negatives raise an alarm instead of {_percent(was_fpr)}"),
            ("tpr", f"{_percent(tpr)} of the positives are found instead of {_percent(was_tpr)}"),
        ]

    def _columns(self) -> dict[str, Any]:
        names = (
            *("promised", "promised_lower", "promised_upper", "observed", "observed_lower", "observed_upper"),
            *("p_value", "adjusted"),
        )
        moved = np.array([part in self.moved for part in PARTS])
        return {"part": list(PARTS), **{name: getattr(self, name) for name in names}, "moved": moved}

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain Python values, one entry per part."""
        due = ("due_to_prevalence", "due_to_misses", "due_to_alarms", "due_to_costs")
        return {
            "sentence": self.sentence,
            "kept": self.kept,
            "moved": list(self.moved),
            "choice": jsonable(self.choice),
            "condition": self.condition._records()[0],
            "n": self.n,
            "n_pos": self.n_pos,
            "level": self.level,
            "cost_fn": self.cost_fn,
            "cost_fp": self.cost_fp,
            "change": jsonable(self.change),
            **{name: jsonable(getattr(self, name)) for name in due},
            "parts": self._records(),
        }

    def __repr__(self) -> str:
        """Return the sentence, the parts and what they contribute to the change."""
        lines = [f"PromiseCheck of {self.choice.rule}: {'kept' if self.kept else 'not kept'}", f"  {self.sentence}"]
        for i, part in enumerate(PARTS):
            if math.isnan(self.observed[i]):
                continue
            was = _limits(self.promised[i], self.promised_lower[i], self.promised_upper[i])
            now = _limits(self.observed[i], self.observed_lower[i], self.observed_upper[i])
            verdict = "not tested" if math.isnan(self.p_value[i]) else f"p={_p_text(self.adjusted[i])}"
            lines.append(f"  {part:<10}  promised {was:<26}  observed {now:<26}  {verdict}")
        due = [("prevalence", self.due_to_prevalence), ("misses", self.due_to_misses)]
        due += [("false alarms", self.due_to_alarms), ("costs", self.due_to_costs)]
        shares = ", ".join(f"{name} {value:+.3g}" for name, value in due if name != "costs" or value)
        lines.append(f"  change      {self.change:+.3g}: {shares}")
        return "\n".join(lines)


_RATE_OF = {"positive": "tpr", "negative": "fpr"}


def _percent(value: float) -> str:
    return f"{100 * value:.3g} %"


def _limits(value: float, low: float, high: float) -> str:
    if math.isnan(value):
        return "nothing"
    return f"{value:.3g}" if low == high else f"{value:.3g} in [{low:.3g}, {high:.3g}]"


def _p_text(p: float) -> str:
    return "<0.001" if p < 0.001 else f"{p:.2g}"


def _joined(texts: list[str]) -> str:
    return texts[0] if len(texts) == 1 else f"{', '.join(texts[:-1])} and {texts[-1]}"
