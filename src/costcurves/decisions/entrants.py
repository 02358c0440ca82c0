"""Several classifiers on the same rows, each with its threshold policy, as they compete with each other."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.validation import FloatArray, IntArray
from costcurves.conditions.condition import OperatingCondition
from costcurves.counting import counts
from costcurves.curves.choices import TRIVIAL, Choice, cheapest_of, cheapest_with_alarms, choice_at, trivial_choices
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import Fixed
from costcurves.decisions.rows import MANY, Rows, curve_in, named_policies

# Rows of one class from which the covariance of errors is estimated.
ROWS = 4096


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
        self._scores_of: dict[str, tuple[FloatArray, float]] = {}

    def with_rule(self, name: str, threshold: float) -> tuple[Entrants, str]:
        """Return the entrants with one more, a classifier at a fixed threshold, and what it is called among them."""
        called = f"{name} at {threshold!r}"
        while called in self.names:
            called += "'"
        more = copy.copy(self)
        for kept in ("order", "twins", "keys"):  # they depend on who takes part
            more.__dict__.pop(kept, None)
        more.names, more.sample = (*self.names, called), self.sample.with_twin(name, called)
        more.curves = {**self.curves, called: curve_in(more.sample, called, Fixed(threshold))}
        more._choices, more._scores_of = dict(self._choices), dict(self._scores_of)
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

    def spread_out(self, name: str, most: int, used: Sequence[float] = ()) -> FloatArray:
        """Return thresholds all along the scores, denser where few cases decide: at the ends and near those in use."""
        distinct, _ = self._distinct(name)
        n = distinct.size - 1
        if n <= most:
            return distinct[1:]
        parts = [np.linspace(1, n, most // 4)]
        ends = np.geomspace(1, n / 2, most // 8)
        parts += [ends, n + 1 - ends]
        if used:
            near = np.searchsorted(distinct, np.unique(used))
            steps = np.geomspace(1, n / 2, max(2, most // 4 // near.size))
            parts += [(near[:, None] + sign * steps).ravel() for sign in (-1, 1)]
        ranks = np.unique(np.clip(np.rint(np.concatenate(parts)), 1, n))
        return distinct[ranks.astype(np.int64)]

    def between(self, name: str, grid: FloatArray) -> FloatArray:
        """Return about how many more thresholds lie between each of some thresholds and the next; 0 for the last."""
        distinct, times = self._distinct(name)
        more = np.diff(np.searchsorted(distinct, grid)) - 1
        return np.append(times * np.maximum(more, 0), 0.0)[: grid.size]

    def _distinct(self, name: str) -> tuple[FloatArray, float]:
        """Return the distinct scores of a classifier, and how many each of them stands for if there are very many."""
        if name not in self._scores_of:
            scores, times = self.sample.scores[name], 1.0
            if scores.size > 16 * ROWS:
                scores, times = scores[self.few_rows(np.arange(scores.size))], scores.size / ROWS
            self._scores_of[name] = np.unique(scores).astype(np.float64), times
        return self._scores_of[name]

    @cached_property
    def order(self) -> list[str]:
        """The classifiers in an order that depends on their scores alone, so that neither names nor places matter.

        Of several with the same scores and the same policy the first stands for all.
        """
        key = {name: int(self._hashes(name).sum(dtype=np.uint64)) for name in self.names}
        return sorted(dict.fromkeys(self.twins.values()), key=lambda name: (key[name], repr(self.curves[name].policy)))

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

    def _hashes(self, name: str) -> npt.NDArray[np.uint64]:
        """Return a hash of each row's score of one classifier."""
        return _hashed(self.sample.scores[name]) + self.sample.positive.astype(np.uint64)

    @cached_property
    def keys(self) -> npt.NDArray[np.uint64]:
        """A number for each row that depends on its scores, its label and its weight alone."""
        total = np.zeros(self.sample.positive.size, dtype=np.uint64)
        for name in self.order:
            # What the scores of two classifiers have exchanged is another row, whatever the classifiers are called.
            hashes = self._hashes(name)
            total += hashes * (hashes.sum(dtype=np.uint64) | np.uint64(1))
        if self.sample.weights is not None:
            total += _hashed(self.sample.weights) * np.uint64(0x94D049BB133111EB)
        return total

    def few_rows(self, rows: IntArray) -> IntArray:
        """Return at most `ROWS` of some rows, picked by their scores alone."""
        if rows.size <= ROWS:
            return rows
        return rows[np.argpartition(self.keys[rows], ROWS)[:ROWS]]

    @cached_property
    def rows(self) -> tuple[IntArray, IntArray]:
        """The positive and the negative rows."""
        return np.flatnonzero(self.sample.positive), np.flatnonzero(~self.sample.positive)

    @cached_property
    def weights(self) -> tuple[FloatArray | None, FloatArray | None]:
        """The weights of the rows of each class."""
        weights = self.sample.weights
        return (None, None) if weights is None else (weights[self.rows[0]], weights[self.rows[1]])

    @cached_property
    def effective(self) -> tuple[float, float]:
        """Effective sample sizes."""
        pos, neg = (
            float(rows.size) if weight is None else counts.effective_number(weight)
            for rows, weight in zip(self.rows, self.weights, strict=True)
        )
        return pos, neg


def _hashed(values: npt.NDArray[Any]) -> npt.NDArray[np.uint64]:
    """Return a hash of each number."""
    bits = (values.astype(np.float64) + 0.0).view(np.uint64)
    bits = (bits ^ (bits >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray((bits ^ (bits >> np.uint64(29))) * np.uint64(0xBF58476D1CE4E5B9))
