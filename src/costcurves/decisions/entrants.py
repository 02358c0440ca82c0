"""Several classifiers on the same rows, each with its threshold policy, as they compete with each other."""

from __future__ import annotations

import copy
import math
from functools import cached_property
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves.conditions.condition import OperatingCondition
from costcurves.curves.choices import TRIVIAL, Choice, cheapest_of, cheapest_with_alarms, choice_at, trivial_choices
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import Fixed
from costcurves.decisions.rows import MANY, Rows, curve_in, named_policies
from costcurves.inference.scored_rows import Hashes, ScoredRows, order_key, row_hashes, row_keys


class Entrants:
    """Several classifiers on the same rows, each with its threshold policy.

    Parameters
    ----------
    rows : Rows
    policy : policy, or mapping of name to policy
    """

    def __init__(self, rows: Rows, policy: Any) -> None:
        for name in rows.names:
            if name in TRIVIAL:
                raise InputError(f"`scores` must not use the names of the trivial classifiers, got {name!r}")
        self.names = rows.names
        self.sample = rows.with_weight()
        rules = named_policies(policy, self.names)
        self.curves: dict[str, CostCurve] = {name: curve_in(self.sample, name, rules[name]) for name in self.names}
        self._choices: dict[tuple[str, OperatingCondition], Choice] = {}

    def with_rule(self, name: str, threshold: float) -> tuple[Entrants, str]:
        """Return the entrants with one more, a classifier at a fixed threshold, and what it is called among them."""
        called = f"{name} at {threshold!r}"
        while called in self.names:
            called += "'"
        more = copy.copy(self)
        for kept in ("order", "twins", "scored", "_hashes", "_keys"):  # they depend on who takes part
            more.__dict__.pop(kept, None)
        more.names, more.sample = (*self.names, called), self.sample.with_twin(name, called)
        more.curves = {**self.curves, called: curve_in(more.sample, called, Fixed(threshold))}
        more._choices = dict(self._choices)
        return more, called

    def follows_costs(self, name: str) -> bool:
        """Return whether a classifier's threshold is chosen on these rows."""
        policy = self.curves[name].policy
        return policy is not None and policy.chosen_here

    def roc(self, name: str) -> RocCurve:
        """Return the ROC curve of a classifier with all its points."""
        return self.sample.roc(name, "all")

    def choice(self, name: str, where: OperatingCondition) -> Choice:
        """Return how a classifier is used at a condition.

        A threshold that is chosen here is the cheapest with some alarms, but not all: without, the classifier would be
        one of the trivial ones, which compete by themselves.
        """
        key = (name, where)
        if key not in self._choices:
            self._choices[key] = self._choice(name, where)
        return self._choices[key]

    def _choice(self, name: str, where: OperatingCondition) -> Choice:
        curve = self.curves[name]
        step = int(curve.step_at(where.pc))
        if self.follows_costs(name):
            found = None
            if self.sample.positive.size > MANY and 0.0 < curve.fpr[step] + 1.0 - curve.fnr[step] < 2.0:
                assert curve.roc is not None
                found = cheapest_with_alarms(curve.roc, where)  # a vertex of the hull: nothing else is cheaper
            found = found or cheapest_with_alarms(self.roc(name), where)
            if found is not None:
                return found
            best = cheapest_of(trivial_choices(where))[0]
            return choice_at(name, best.threshold, best.fpr, best.tpr, where)
        threshold = float(curve.threshold_at(where.pc))
        rates = float(curve.fpr[step]), 1.0 - float(curve.fnr[step])
        return choice_at(name, threshold, *rates, where, curve.score_below(threshold))

    def cut(self, name: str, pc: float) -> float:
        """Return the score from which a classifier predicts positive at an operating point."""
        if self.follows_costs(name):
            return self.choice(name, OperatingCondition.from_pc(pc)).threshold
        cut = float(self.curves[name].cuts_at(np.array([pc]))[0])
        # A threshold that no score here reaches is still one that others may reach.
        return cut if math.isfinite(cut) else float(self.curves[name].threshold_at(pc))

    @cached_property
    def order(self) -> list[str]:
        """The classifiers in an order that depends on their scores alone, so that neither names nor places matter.

        Of several with the same scores and the same policy the first stands for all.
        """
        return sorted(self._keys, key=self._keys.__getitem__)

    @cached_property
    def _keys(self) -> dict[str, tuple[tuple[int, int], str]]:
        keys = row_keys(list(self._hashes.values()), self.sample.weights, ordered=False)
        return {name: (order_key(own, keys), repr(self.curves[name].policy)) for name, own in self._hashes.items()}

    def first_like(self, name: str, best: str) -> str:
        """Return the first classifier in order, but for the best one, that only its name tells apart from this one.

        Where two classifiers can exchange their scores and the data remain the same, but for the order of their rows,
        nothing but their names could give them different numbers.
        """
        own, apart = self.twins[name], self.twins.get(best)
        if own == apart:
            return own
        return next(
            one
            for one in self.order
            if one != apart and self._keys[one] == self._keys[own] and self._used_alike(one, own)
        )

    def _used_alike(self, one: str, other: str) -> bool:
        """Return whether classifiers of the same policy are used alike: a threshold that is given means a score."""
        if one == other or self.follows_costs(one):
            return True
        first, second = (np.sort(self.sample.scores[name]) for name in (one, other))
        return np.array_equal(first, second)

    @cached_property
    def _hashes(self) -> dict[str, Hashes]:
        """Hashes of the rows by each classifier that is no copy of another one."""
        names = dict.fromkeys(self.twins.values())
        return {name: row_hashes(self.sample.scores[name], self.sample.positive) for name in names}

    @cached_property
    def twins(self) -> dict[str, str]:
        """For each classifier the first one with the same scores and the same policy: itself, unless it is a copy."""
        found: dict[str, str] = {}
        for name in self.names:
            scores, rule = self.sample.scores[name], repr(self.curves[name].policy)
            found[name] = next(
                (
                    other
                    for other in dict.fromkeys(found.values())
                    if repr(self.curves[other].policy) == rule and np.array_equal(self.sample.scores[other], scores)
                ),
                name,
            )
        return found

    @cached_property
    def scored(self) -> ScoredRows:
        """The scores as arrays."""
        sample = self.sample
        return ScoredRows(sample.positive, sample.scores, sample.weights, self.order, hashes=self._hashes)

    @property
    def effective(self) -> tuple[float, float]:
        """Effective sample sizes."""
        return self.scored.effective
