"""The ROC convex hull of several classifiers: which can be best, where, and the decision at a condition."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from costcurves._files import write_atomically
from costcurves._results import Result, jsonable
from costcurves._validation import (
    FloatArray,
    IntArray,
    check_in_open_unit,
    check_in_unit,
    check_nonnegative,
    check_path,
    check_positive,
    frozen,
    shown,
)
from costcurves.chance import one_question
from costcurves.conditions import OperatingRange, check_condition, check_range, pc_array
from costcurves.decisions import (
    ALWAYS_NEGATIVE,
    ALWAYS_POSITIVE,
    TRIVIAL,
    Choice,
    Decision,
    LimitedChoice,
    Mixture,
    Ranges,
)
from costcurves.differences import EQUAL
from costcurves.errors import CostCurvesError, FormatError, InputError
from costcurves.frames import columns_of, curves_of_frames
from costcurves.geometry import common_integers, hull_of_integers
from costcurves.roc import RocCurve, check_curves, check_unique

JSON_FORMAT = "costcurves/roc-hull"
JSON_VERSION = 1


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class RocHull(Result):
    """The upper convex hull of the ROC points of some classifiers and of the two trivial ones.

    Only what lies on it can be optimal, whatever the costs and the class frequencies are.

    Parameters
    ----------
    curves : sequence of RocCurve, or mapping of name to RocCurve
        The classifiers; their names must differ. They may come from different test sets, from confusion matrices
        or from bare rates.

    Attributes
    ----------
    fpr, tpr : arrays of shape (v,)
        The vertices, from (0, 0) to (1, 1).
    owner, thresholds : tuple of str, array of shape (v,)
        Whose point each vertex is and at which threshold; of several owners the first by name.
    owners : tuple of tuples (name, threshold)
        All that reach each vertex.
    breaks : array of shape (v + 1,)
        Vertex i is best for pc in [breaks[i], breaks[i+1]].
    curves : tuple of RocCurve
        The classifiers as they were given.
    dropped : tuple of str
        Classifiers without a vertex: they cannot be optimal. They are still candidates for the runner-up.

    Notes
    -----
    Provost & Fawcett (1997). Which points are vertices is decided in integers, so equal and collinear points have
    one answer, and neither the order of the rows nor of the classifiers changes it.

    Examples
    --------
    >>> import costcurves as cc
    >>> hull = cc.RocHull([
    ...     cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]], name="rules"),
    ...     cc.RocCurve.from_rates(fpr=0.1, tpr=0.6, name="expert"),
    ... ])
    >>> hull
    RocHull(3 vertices from 1 of 2 classifiers: 'rules'; dropped: 'expert')
    """

    curves: tuple[RocCurve, ...]
    fpr: FloatArray
    tpr: FloatArray
    owner: tuple[str, ...]
    thresholds: FloatArray
    owners: tuple[tuple[tuple[str, float], ...], ...]
    breaks: FloatArray
    _hulls: tuple[RocCurve, ...]
    _counts: tuple[tuple[int, int], ...] | None

    def __init__(self, curves: Any) -> None:
        members = tuple(check_curves(curves))
        for curve in members:
            if curve.name in TRIVIAL:
                raise InputError(f"`curves` must not use the names of the trivial classifiers, got {shown(curve.name)}")
        hulls = tuple(curve.on_hull() for curve in members)
        x, y, who = _integer_points(hulls)
        vertices = hull_of_integers(x, y)
        right, top = x[1], y[1]  # the second point is (1, 1)
        at_point: dict[tuple[int, int], list[tuple[str, float]]] = {}
        for i, claim in enumerate(who):
            at_point.setdefault((x[i], y[i]), []).append(claim)
        owners = tuple(_trivial_first(at_point[x[i], y[i]]) for i in vertices)
        dx = [(x[b] - x[a]) * top for a, b in pairwise(vertices)]
        dy = [(y[b] - y[a]) * right for a, b in pairwise(vertices)]
        same_counts = members[0].made_from == "counts" and _one_test_set(members)
        values = {
            "curves": members,
            "fpr": frozen(np.array([x[i] / right for i in vertices])),
            "tpr": frozen(np.array([y[i] / top for i in vertices])),
            "owner": tuple(claims[0][0] for claims in owners),
            "thresholds": frozen(np.array([claims[0][1] for claims in owners])),
            "owners": owners,
            "breaks": frozen(np.array([0.0, *(a / (a + b) for a, b in zip(dx, dy, strict=True)), 1.0])),
            "_hulls": hulls,
            "_counts": tuple((x[i], y[i]) for i in vertices) if same_counts else None,
        }
        for field, value in values.items():
            object.__setattr__(self, field, value)

    @classmethod
    @one_question()
    def from_predictions(
        cls,
        y_true: Any,
        scores: Mapping[str, Any],
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        points: str = "all",
    ) -> RocHull:
        """Return the hull of several classifiers' scores on the same examples.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels.
        scores : mapping of name to array-like of shape (n,), or dataframe
            The scores of each classifier; of a dataframe, every column.
        pos_label, sample_weight, points
            As for `RocCurve.from_predictions`; ``points="hull"`` is faster and enough for decisions by cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull.from_predictions([0, 0, 1, 1], {"a": [0.1, 0.4, 0.35, 0.8], "b": [0.3, 0.2, 0.1, 0.1]})
        RocHull(4 vertices from 1 of 2 classifiers: 'a'; dropped: 'b')
        """
        scores = columns_of("scores", scores)
        return cls(
            [
                RocCurve.from_predictions(
                    y_true, score, pos_label=pos_label, sample_weight=sample_weight, name=name, points=points
                )
                for name, score in scores.items()
            ]
        )

    @classmethod
    @one_question()
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        scores: Sequence[str],
        weight: str | None = None,
        pos_label: Any = None,
        points: str = "all",
        on_null: str = "refuse",
    ) -> RocHull:
        """Return the hull of several score columns of a dataframe, of any library; all are counted in the same pass.

        Parameters
        ----------
        frame, label, weight, pos_label, points, on_null
            As for `RocCurve.from_frame`.
        scores : sequence of str
            The columns of scores, one a classifier.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 0, 1, 1], "a": [0.1, 0.4, 0.35, 0.8], "b": [0.3, 0.2, 0.1, 0.1]})
        >>> cc.RocHull.from_frame(df, label="y", scores=["a", "b"])
        RocHull(4 vertices from 1 of 2 classifiers: 'a'; dropped: 'b')
        """
        if isinstance(scores, str) or not scores:
            raise InputError(f"`scores` must be a list of columns, got {shown(scores)}")
        curves = curves_of_frames().roc_curves(
            frame, label=label, scores=scores, weight=weight, pos_label=pos_label, points=points, on_null=on_null
        )
        return cls(list(curves.values()))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classifiers, in the order given."""
        return tuple(curve.name for curve in self.curves)

    @property
    def name(self) -> str:
        """What the hull is called in pictures."""
        return "hull"

    def curve(self, name: str) -> RocCurve:
        """Return one of the classifiers by its name.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")]).curve("A")
        RocCurve('A': fpr=0.1, tpr=0.6)
        """
        for curve in self.curves:
            if curve.name == name:
                return curve
        raise InputError(f"`name` must be one of {', '.join(self.names)}, got {shown(name)}")

    @property
    def contributors(self) -> tuple[str, ...]:
        """Classifiers that own a vertex (alone or with others), in the order given."""
        on_hull = {name for claims in self.owners for name, _ in claims}
        return tuple(name for name in self.names if name in on_hull)

    @property
    def dropped(self) -> tuple[str, ...]:
        """Classifiers that cannot be optimal, in the order given."""
        contributors = self.contributors
        return tuple(name for name in self.names if name not in contributors)

    def evaluate(self, pc: Any) -> Any:
        """Return the normalized cost of the best vertex at pc.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6)]).evaluate(0.5)
        0.25
        """
        x = pc_array(pc)
        vertex = np.searchsorted(self.breaks[1:-1], x, side="left")
        cost = x * (1.0 - self.tpr[vertex]) + (1.0 - x) * self.fpr[vertex]
        return float(cost) if x.ndim == 0 else cost

    def to_curve(self) -> RocCurve:
        """Return the vertices as one ROC curve (of counts where all classifiers share a test set, else of rates)."""
        cuts = np.full(self.fpr.size, np.nan)
        cuts[0], cuts[-1] = np.inf, -np.inf
        if self._counts is None:
            return RocCurve("hull", self.fpr, self.tpr, 1.0, 1.0, cuts, "rates", complete=False)
        fp, tp = np.array(self._counts, dtype=np.int64).T
        return RocCurve("hull", fp.copy(), tp.copy(), fp[-1].item(), tp[-1].item(), cuts, "counts", complete=False)

    def best(self, condition: Any) -> Decision:
        """Return the cheapest classifier and threshold at an operating condition.

        Parameters
        ----------
        condition : OperatingCondition, or a number read as pc
            Where the classifier will be used. For an OperatingRange ask `within`.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> decision = hull.best(cc.OperatingCondition(prevalence=0.09, cost_fp=1, cost_fn=100))
        >>> decision.classifier, round(decision.expected_cost, 4)
        ('always positive', 0.91)
        """
        if isinstance(condition, OperatingRange):
            raise InputError(f"`condition` must be one condition; `within` takes ranges, got {condition!r}")
        where = check_condition(condition)
        cost = _cost(self.fpr, self.tpr, where.pc)
        best = int(np.argmin(cost))
        choices = [
            self._choice(name, threshold, float(self.fpr[i]), float(self.tpr[i]), where)
            for i in [best, *(int(j) for j in np.flatnonzero(cost - cost[best] <= EQUAL) if j != best)]
            for name, threshold in self.owners[i]
        ]
        first, *ties = choices
        return Decision(
            condition=where,
            classifier=first.classifier,
            threshold=first.threshold,
            fpr=first.fpr,
            tpr=first.tpr,
            normalized_cost=first.normalized_cost,
            expected_cost=first.expected_cost,
            ties=tuple(ties),
            runner_up=self._runner_up(first.classifier, where),
        )

    def _choice(self, name: str, threshold: float, fpr: float, tpr: float, where: Any) -> Choice:
        cost = float(_cost(fpr, tpr, where.pc))
        return Choice(name, threshold, fpr, tpr, cost, where.money(cost))

    def _runner_up(self, winner: str, where: Any) -> Choice:
        """Return the best point of any classifier but the winner; ties go to the first name."""
        rivals = []
        for curve in self._hulls:
            fpr, tpr = curve.fpr[1:-1], curve.tpr[1:-1]
            if curve.name != winner and fpr.size:
                i = int(np.argmin(_cost(fpr, tpr, where.pc)))
                rivals.append(
                    self._choice(curve.name, float(curve.thresholds[1 + i]), float(fpr[i]), float(tpr[i]), where)
                )
        for name, threshold, rate in ((ALWAYS_NEGATIVE, math.inf, 0.0), (ALWAYS_POSITIVE, -math.inf, 1.0)):
            if name != winner:
                rivals.append(self._choice(name, threshold, rate, rate, where))
        return min(rivals, key=lambda c: (c.normalized_cost, c.classifier in TRIVIAL, c.classifier))

    def ranges(self) -> Ranges:
        """Return who is best where, over all conditions: the 1998 study's Table 1, with thresholds.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> [(name, round(low, 3), round(high, 3)) for name, low, high in hull.ranges()]
        [('always negative', 0.0, 0.143), ('expert', 0.143, 0.692), ('always positive', 0.692, 1.0)]
        """
        return self._ranges(0.0, 1.0, None)

    def within(self, over: Any) -> Ranges:
        """Return who can be best within a range of conditions, and where: the 1997 sensitivity analysis.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.95, name="C")])
        >>> hull.within(cc.OperatingRange(prevalence=1/11, cost_fp=(5, 10), cost_fn=(500, 1000)))
        2 classifiers can be best for pc 0.833 .. 0.952: the choice is sensitive
          pc 0.833 .. 0.923 slope 0.0833 .. 0.2     C
          pc 0.923 .. 0.952 slope 0.05 .. 0.0833    always positive
        """
        span = check_range(over)
        low, high = span.pc
        return self._ranges(low, high, span)

    def segment(self, over: Any) -> slice:
        """Return which vertices can be best within a range of conditions: the segment that a slope range picks.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.95, name="C")])
        >>> part = hull.segment(cc.OperatingRange(prevalence=1/11, cost_fp=(5, 10), cost_fn=(500, 1000)))
        >>> hull.owner[part]
        ('C', 'always positive')
        """
        used = self._used(*check_range(over).pc)
        return slice(int(used[0]), int(used[-1]) + 1)

    def _used(self, low: float, high: float) -> IntArray:
        """Return the vertices that are best for some pc in [low, high]."""
        start, end = np.clip(self.breaks[:-1], low, high), np.clip(self.breaks[1:], low, high)
        used = np.flatnonzero(end > start)
        if not used.size:  # the range is one point: whoever is best there
            used = np.array([int(np.searchsorted(self.breaks[1:-1], low, side="left"))])
        return used

    def _ranges(self, low: float, high: float, over: Any) -> Ranges:
        """Return the stretches of pc within [low, high], consecutive vertices of one owner joined."""
        start, end = np.clip(self.breaks[:-1], low, high), np.clip(self.breaks[1:], low, high)
        used = self._used(low, high)
        rows: list[tuple[str, float, float, float, float]] = []
        for i in used.tolist():
            name, cut = self.owner[i], float(self.thresholds[i])
            if rows and rows[-1][0] == name:
                _, first, _, cut_low, cut_high = rows[-1]
                rows[-1] = (name, first, float(end[i]), min(cut_low, cut), max(cut_high, cut))
            else:
                rows.append((name, float(start[i]), float(end[i]), cut, cut))
        low_pc, high_pc, low_cut, high_cut = np.array([row[1:] for row in rows]).T.copy()
        return Ranges(tuple(row[0] for row in rows), low_pc, high_pc, low_cut, high_cut, over=over)

    def best_at_fpr(self, fpr: float) -> LimitedChoice:
        """Return the highest tpr with fpr at most this: the Neyman-Pearson observer, on the non-decreasing hull.

        Of points with the same tpr the one with the lowest fpr is taken.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_fpr(0.05).classifier
        'always negative'
        """
        limit = check_in_unit("fpr", fpr)
        points = self._all_points("best_at_fpr")
        chosen = min((p for p in points if p[0] <= limit), key=lambda p: (-p[1], p[0], p[2] in TRIVIAL, p[2]))
        return _limited(f"fpr <= {limit:g}", chosen, self.interpolate(fpr=limit))

    def best_at_tpr(self, tpr: float) -> LimitedChoice:
        """Return the lowest fpr with tpr at least this.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_tpr(0.5)
        LimitedChoice(tpr >= 0.5: expert, fpr=0.1, tpr=0.6; by chance down to fpr=0.0833)
        """
        floor = check_in_unit("tpr", tpr)
        points = self._all_points("best_at_tpr")
        chosen = min((p for p in points if p[1] >= floor), key=lambda p: (p[0], -p[1], p[2] in TRIVIAL, p[2]))
        return _limited(f"tpr >= {floor:g}", chosen, self.interpolate(tpr=floor))

    def best_at_capacity(self, *, alarms: float, population: float, prevalence: float) -> LimitedChoice:
        """Return the highest tpr that raises at most so many alarms: what a workforce of that size can handle.

        Parameters
        ----------
        alarms : float >= 0
            How many alarms can be handled.
        population : float > 0
            Out of how many cases.
        prevalence : float in (0, 1)
            The share of positives among them.

        Notes
        -----
        The limit is the line ``tpr·P + fpr·N = alarms`` with P and N the positives and negatives in the population.

        Examples
        --------
        >>> import costcurves as cc
        >>> strict = cc.RocCurve.from_rates(0.01, 0.2, name="strict")
        >>> hull = cc.RocHull([strict, cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> hull.best_at_capacity(alarms=200, population=10_000, prevalence=0.05)
        LimitedChoice(at most 200 alarms of 10000: strict, fpr=0.01, tpr=0.2, 195 alarms; by chance up to tpr=0.202)
        """
        most = check_nonnegative("alarms", alarms)
        population = check_positive("population", population)
        share = check_in_open_unit("prevalence", prevalence)
        n_pos, n_neg = share * population, (1.0 - share) * population
        slack = EQUAL * population
        points = self._all_points("best_at_capacity")
        allowed = [p for p in points if p[1] * n_pos + p[0] * n_neg <= most + slack]
        chosen = min(allowed, key=lambda p: (-p[1], p[0], p[2] in TRIVIAL, p[2]))
        load = self.tpr * n_pos + self.fpr * n_neg
        i = min(int(np.searchsorted(load[1:], most, side="right")), load.size - 2)
        with np.errstate(over="ignore"):
            share_of_second = min(1.0, max(0.0, float((most - load[i]) / (load[i + 1] - load[i]))))
        used = chosen[1] * n_pos + chosen[0] * n_neg
        return _limited(
            f"at most {most:.10g} alarms of {population:.10g}",
            chosen,
            self._mixture(i, share_of_second),
            used,
        )

    def interpolate(self, *, fpr: float | None = None, tpr: float | None = None) -> Mixture:
        """Return which two classifiers to choose between, with what probability, to reach a point on the hull.

        Parameters
        ----------
        fpr, tpr : float in [0, 1]
            One of them: the rate to reach. The other is then the best possible.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A"), cc.RocCurve.from_rates(0.4, 0.9, name="C")])
        >>> hull.interpolate(fpr=0.2)
        Mixture(C with probability 0.3333, else A: fpr=0.2, tpr=0.7)
        """
        if (fpr is None) == (tpr is None):
            raise InputError(f"`interpolate` must have one of `fpr` and `tpr`, got fpr={fpr} and tpr={tpr}")
        if fpr is not None:
            goal, along = check_in_unit("fpr", fpr), self.fpr
            i = int(np.searchsorted(along, goal, side="right")) - 1  # the top of a vertical edge
        else:
            goal, along = check_in_unit("tpr", tpr), self.tpr
            i = int(np.searchsorted(along, goal, side="left")) - 1  # the left of a horizontal edge
        i = min(max(i, 0), along.size - 2)
        gap = float(along[i + 1] - along[i])
        share = (goal - float(along[i])) / gap if gap else float(fpr is not None)
        return self._mixture(i, min(max(share, 0.0), 1.0))

    def _mixture(self, i: int, share: float) -> Mixture:
        """Return the mixture of vertices i and i + 1, with `share` the probability of the second."""
        return Mixture(
            first=self.owner[i],
            first_threshold=float(self.thresholds[i]),
            second=self.owner[i + 1],
            second_threshold=float(self.thresholds[i + 1]),
            probability=share,
            fpr=float((1 - share) * self.fpr[i] + share * self.fpr[i + 1]),
            tpr=float((1 - share) * self.tpr[i] + share * self.tpr[i + 1]),
        )

    def _all_points(self, what: str) -> list[tuple[float, float, str, float]]:
        """Return the staircase points (fpr, tpr, name, threshold) of every curve, and the trivial ones."""
        points = [(0.0, 0.0, ALWAYS_NEGATIVE, math.inf), (1.0, 1.0, ALWAYS_POSITIVE, -math.inf)]
        for curve in self.curves:
            curve.need_all_points(what)
            fpr, tpr = curve.fpr, curve.tpr
            # Of a vertical run only the top, of a horizontal run only the left end can be chosen.
            corner = (np.diff(fpr, append=2.0) > 0) & (np.diff(tpr, prepend=-1.0) > 0)
            corner[0] = corner[-1] = False
            points.extend(
                (float(fpr[i]), float(tpr[i]), curve.name, float(curve.thresholds[i])) for i in np.flatnonzero(corner)
            )
        return points

    def add(self, another: Any) -> RocHull:
        """Return a new hull with one more classifier (or several); what cannot be optimal is listed in `dropped`.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> hull.add(cc.RocCurve.from_rates(0.3, 0.5, name="F"))
        RocHull(3 vertices from 1 of 2 classifiers: 'A'; dropped: 'F')
        """
        added = check_curves(another, "another")
        check_unique([*self.names, *(curve.name for curve in added)], "another")
        return RocHull([*self.curves, *added])

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the hull as JSON text, and write it to a file if a path is given (whole or not at all).

        Only each classifier's own hull points are kept: no other point can be optimal. Rates and counts survive
        exactly, so the hull read back gives the same decisions, runners-up included.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> cc.RocHull.from_json_text(hull.to_json()).best(0.5).classifier
        'A'
        """
        document = {
            "format": JSON_FORMAT,
            "version": JSON_VERSION,
            "classifiers": [
                {
                    "name": curve.name,
                    "made_from": curve.made_from,
                    "n_neg": curve.n_neg,
                    "n_pos": curve.n_pos,
                    "effective": jsonable(curve.effective),
                    "fp": jsonable(curve.fp),
                    "tp": jsonable(curve.tp),
                    "thresholds": jsonable(curve.thresholds),
                }
                for curve in self._hulls
            ],
        }
        text = json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n"
        if path is not None:
            write_atomically(check_path(path), text)
        return text

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> RocHull:
        """Return the hull that `to_json` wrote to a file (for JSON text see `from_json_text`)."""
        if isinstance(path, str) and path.lstrip().startswith("{"):
            raise InputError("`path` must be the path of a file, got JSON text: use RocHull.from_json_text")
        check_path(path)
        try:
            text = Path(path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            raise FormatError(f"`path` must be a UTF-8 text file, got {shown(str(path))}") from None
        return cls.from_json_text(text)

    @classmethod
    def from_json_text(cls, text: str) -> RocHull:
        """Return the hull of JSON text that `to_json` returned."""
        if not isinstance(text, str):
            raise InputError(f"`text` must be a string, got {type(text).__name__}")
        try:
            document = json.loads(text)
        except json.JSONDecodeError as error:
            raise FormatError(f"`text` must be JSON, got an error at line {error.lineno}: {error.msg}") from None
        except (ValueError, RecursionError) as error:  # a number of thousands of digits, brackets without end
            raise FormatError(f"`text` must be JSON, got {shown(error)}") from None
        if not isinstance(document, dict) or document.get("format") != JSON_FORMAT:
            found = document.get("format") if isinstance(document, dict) else type(document).__name__
            raise FormatError(f"`format` must be {JSON_FORMAT!r}, got {shown(found)}")
        if document.get("version") != JSON_VERSION:
            raise FormatError(
                f"`version` must be {JSON_VERSION}, got {shown(document.get('version'))}: "
                "written by another version of costcurves"
            )
        try:
            return cls([_curve_from_json(entry) for entry in document["classifiers"]])
        except FormatError:
            raise
        except CostCurvesError as error:
            raise FormatError(f"`classifiers` must make a hull: {error}") from None
        except (KeyError, TypeError) as error:
            raise FormatError(f"`classifiers` must have all fields of version {JSON_VERSION}, got {error!r}") from None

    def to_dict(self) -> dict[str, Any]:
        """Return the vertices and the dropped names as plain Python values."""
        table = self._columns()
        return {"vertices": jsonable(table), "dropped": list(self.dropped)}

    def _columns(self) -> dict[str, Any]:
        return {
            "classifier": list(self.owner),
            "threshold": self.thresholds,
            "fpr": self.fpr,
            "tpr": self.tpr,
            "pc_low": self.breaks[:-1],
            "pc_high": self.breaks[1:],
        }

    def __repr__(self) -> str:
        """Return the size and who is on it."""
        names = ", ".join(repr(name) for name in self.contributors) or "none"
        dropped = f"; dropped: {', '.join(map(repr, self.dropped))}" if self.dropped else ""
        return (
            f"RocHull({self.fpr.size} vertices from {len(self.contributors)} of {len(self.curves)} classifiers: "
            f"{names}{dropped})"
        )


def _cost(fpr: Any, tpr: Any, pc: float) -> Any:
    """Return the normalized cost of points at pc."""
    return pc * (1.0 - tpr) + (1.0 - pc) * fpr


def _limited(
    limit: str, point: tuple[float, float, str, float], mixture: Mixture, alarms: float = math.nan
) -> LimitedChoice:
    fpr, tpr, name, threshold = point
    return LimitedChoice(limit, name, threshold, fpr, tpr, mixture, alarms)


def _one_test_set(curves: tuple[RocCurve, ...]) -> bool:
    """Return whether all curves are counts out of the same numbers of positives and negatives."""
    sizes = {(curve.made_from, curve.n_neg, curve.n_pos) for curve in curves}
    return len(sizes) == 1


def _integer_points(hulls: tuple[RocCurve, ...]) -> tuple[list[int], list[int], list[tuple[str, float]]]:
    """Return all points in common integer coordinates with their owners: (0, 0) first, then (1, 1), then the rest."""
    who = [(ALWAYS_NEGATIVE, math.inf), (ALWAYS_POSITIVE, -math.inf)]
    for curve in hulls:
        who += [(curve.name, threshold) for threshold in curve.thresholds[1:-1].tolist()]
    if hulls[0].made_from == "counts" and _one_test_set(hulls):
        x, y = [0, int(hulls[0].n_neg)], [0, int(hulls[0].n_pos)]
        for curve in hulls:
            x += curve.fp[1:-1].tolist()
            y += curve.tp[1:-1].tolist()
        return x, y, who
    rates = [curve.exact_rates(i) for curve in hulls for i in range(1, curve.fp.size - 1)]
    x = common_integers([Fraction(0), Fraction(1), *(rate[0] for rate in rates)])
    y = common_integers([Fraction(0), Fraction(1), *(rate[1] for rate in rates)])
    return x, y, who


def _trivial_first(claims: Sequence[tuple[str, float]]) -> tuple[tuple[str, float], ...]:
    """Return the claims on a vertex by name, a trivial classifier's before the others."""
    return tuple(sorted(claims, key=lambda claim: (claim[0] not in TRIVIAL, claim[0])))


def _curve_from_json(entry: Mapping[str, Any]) -> RocCurve:
    """Return one classifier's hull points, checked: they are data from outside."""
    name, made_from = entry["name"], entry["made_from"]
    if made_from not in ("counts", "weights", "rates"):
        raise FormatError(f"`made_from` must be 'counts', 'weights' or 'rates', got {shown(made_from)}")
    kind = "i" if made_from == "counts" else "if"
    try:
        fp, tp = np.array(entry["fp"]), np.array(entry["tp"])
        thresholds = np.array([math.nan if t is None else float(t) for t in entry["thresholds"]])
    except (ValueError, OverflowError):
        raise FormatError(f"`fp`, `tp` and `thresholds` must be numbers for {shown(name)}") from None
    if not (fp.ndim == 1 and fp.shape == tp.shape == thresholds.shape and fp.size >= 2):
        raise FormatError(f"`fp`, `tp` and `thresholds` must be as many, at least 2, for {shown(name)}")
    if fp.dtype.kind not in kind or tp.dtype.kind not in kind or not (np.isfinite(fp).all() and np.isfinite(tp).all()):
        numbers = "whole numbers" if made_from == "counts" else "finite numbers"
        raise FormatError(f"`fp` and `tp` must be {numbers} for {shown(name)}, made from {made_from}")
    dtype = np.int64 if made_from == "counts" else np.float64
    fp, tp = fp.astype(dtype), tp.astype(dtype)
    totals = fp[-1].item(), tp[-1].item()
    up, right = np.diff(tp), np.diff(fp)
    rising = min(up.min(), right.min()) >= 0 < (up + right).min() and fp[0] == tp[0] == 0 < min(totals)
    if not rising or totals != (entry["n_neg"], entry["n_pos"]) or (made_from == "rates" and totals != (1, 1)):
        raise FormatError(f"`fp` and `tp` must rise from 0 to `n_neg` and `n_pos` (1 for rates) for {shown(name)}")
    if thresholds[0] != np.inf or (np.diff(thresholds[~np.isnan(thresholds)]) > 0).any():
        raise FormatError(f"`thresholds` must fall from inf for {shown(name)}")
    effective = entry["effective"]
    if effective is not None:
        try:
            pos, neg = (check_positive("effective", value) for value in effective)
        except (InputError, TypeError, ValueError):
            raise FormatError(f"`effective` must be two numbers > 0 for {shown(name)}") from None
        effective = (pos, neg)
    return RocCurve(name, fp, tp, *totals, thresholds, made_from, complete=False, effective=effective)
