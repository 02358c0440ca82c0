"""The curves of a ROC convex hull, its vertices, their owners, and how the hull grows and is stored."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from typing import Any, Self, overload

import numpy as np

from costcurves._base.errors import FormatError, InputError, UnsupportedError
from costcurves._base.files import write_atomically
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import FloatArray, check_path, check_unique, frozen, is_among, shown
from costcurves.conditions.condition import ConditionLike, PcLike
from costcurves.counting.counts import ScoreCounts
from costcurves.counting.geometry import common_integers, hull_of_integers
from costcurves.curves.choices import ALWAYS_NEGATIVE, ALWAYS_POSITIVE, TRIVIAL, threshold_text
from costcurves.curves.cost_function import CostFunction
from costcurves.curves.growing_hull import Claim, Growth, Points, Vertices, by_name, points_of
from costcurves.curves.hull_json import hull_text, parts_of_text
from costcurves.curves.roc import RocCurve

RocCurves = RocCurve | Iterable[RocCurve] | Mapping[str, RocCurve]
FROM_SCORES = ": for labels and scores use from_predictions"


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class HullPoints(Result):
    """What `RocHull` is made of; see there for the attributes."""

    names: tuple[str, ...]
    fpr: FloatArray
    tpr: FloatArray
    owner: tuple[str, ...]
    thresholds: FloatArray
    owners: tuple[tuple[Claim, ...], ...]
    breaks: FloatArray
    _curves: tuple[RocCurve, ...] | None  # None in a hull that was added to or read from JSON
    _candidates: tuple[RocCurve, ...]  # each with those of its points that can be best or the runner-up
    _points: Points
    _lattice: tuple[tuple[int, int], ...]  # the vertices in integers, the last of which is (1, 1); or empty
    _claims: tuple[tuple[int, ...], ...]  # the points at each vertex, by their position among all points; or empty
    _sizes: tuple[int, int] | None  # negatives and positives, if all classifiers have the same counts of both
    _growth: Growth | None  # instead of `_lattice` and `_claims`, if classifiers were added

    def _assemble(
        self, names: tuple[str, ...], candidates: tuple[RocCurve, ...], curves: tuple[RocCurve, ...] | None
    ) -> None:
        """Find the hull of all candidates at once."""
        x, y, who = _integer_points(candidates)
        vertices = hull_of_integers(x, y)
        right, top = x[1], y[1]  # the second point is (1, 1)
        at_point: dict[tuple[int, int], list[int]] = {}
        for i, place in enumerate(zip(x, y, strict=True)):
            at_point.setdefault(place, []).append(i)
        claims = [at_point[x[i], y[i]] for i in vertices]
        owners = tuple(by_name([who[i] for i in points]) for points in claims)
        dx = [(x[b] - x[a]) * top for a, b in pairwise(vertices)]
        dy = [(y[b] - y[a]) * right for a, b in pairwise(vertices)]
        order = {name: i for i, name in enumerate(names)}
        self._set(
            names=names,
            fpr=np.array([x[i] / right for i in vertices]),
            tpr=np.array([y[i] / top for i in vertices]),
            owner=tuple(there[0][0] for there in owners),
            thresholds=np.array([there[0][1] for there in owners]),
            owners=owners,
            breaks=np.array([0.0, *(a / (a + b) for a, b in zip(dx, dy, strict=True)), 1.0]),
            _curves=curves,
            _candidates=candidates,
            _points=Points.joined([points_of(curve, order[curve.name]) for curve in candidates]),
            _lattice=tuple((x[i], y[i]) for i in vertices),
            _claims=tuple(tuple(i - 2 for i in points if i > 1) for points in claims),
            _sizes=_common_sizes(candidates),
            _growth=None,
        )

    def roc_curves(self) -> dict[str, RocCurve]:
        """Return the classifiers as they were given, by name; a hull that was added to or read from JSON lacks them."""
        return {curve.name: curve for curve in self._whole("roc_curves")}

    @property
    def has_curves(self) -> bool:
        """Whether the hull has the curves of its classifiers; False if it was added to or read from JSON."""
        return self._curves is not None

    def _whole(self, what: str) -> tuple[RocCurve, ...]:
        if self._curves is None:
            raise UnsupportedError(
                f"`{what}` needs the whole curves of all classifiers, got a hull that was added to or read from JSON, "
                "which keeps only points that can be best or the runner-up: use cc.RocHull(curves)"
            )
        return self._curves

    @property
    def name(self) -> str:
        """The name of the hull in figures."""
        return "hull"

    def roc_curve(self, name: str) -> RocCurve:
        """Return the ROC curve of one of the classifiers.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")]).roc_curve("A")
        RocCurve('A': fpr=0.1, tpr=0.6)
        """
        curves = self.roc_curves()
        if is_among(name, curves):
            return curves[name]
        raise InputError(f"`name` must be one of {', '.join(self.names)}, got {shown(name)}")

    def points_of(self, name: str) -> tuple[FloatArray, FloatArray]:
        """Return (fpr, tpr) of those points of a classifier that can be best or the runner-up somewhere.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> hull.add(cc.RocCurve.from_rates(0.2, 0.5, name="B")).points_of("A")
        (array([0.1]), array([0.6]))
        """
        if not is_among(name, self.names):
            raise InputError(f"`name` must be one of {', '.join(self.names)}, got {shown(name)}")
        own = self._points.at(self._points.owner == self.names.index(name))
        return frozen(own.fpr), frozen(own.tpr)

    @property
    def can_be_best(self) -> tuple[str, ...]:
        """The classifiers that own a vertex, alone or with others, in the order given."""
        on_hull = {name for claims in self.owners for name, _ in claims}
        return tuple(name for name in self.names if name in on_hull)

    @property
    def never_best(self) -> tuple[str, ...]:
        """The classifiers that own no vertex and so are best under no condition, in the order given."""
        best = self.can_be_best
        return tuple(name for name in self.names if name not in best)

    @property
    def max_error(self) -> float:
        """The most by which the least cost can be too high at any pc because scores were binned."""
        return max((curve.max_error for curve in self._known), default=0.0)

    @property
    def _known(self) -> tuple[RocCurve, ...]:
        """What is kept of each classifier's curve."""
        return self._candidates if self._growth is None else tuple(self._growth.curves.values())

    @overload
    def evaluate(self, pc: ConditionLike) -> float: ...  # type: ignore[overload-overlap]
    @overload
    def evaluate(self, pc: PcLike) -> FloatArray: ...
    def evaluate(self, pc: PcLike) -> Any:
        """Return the normalized cost of the best vertex at pc.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6)]).evaluate(0.5)
        0.25
        """
        return CostFunction("hull", self.breaks, self.fpr, 1.0 - self.tpr, self.max_error).evaluate(pc)

    @property
    def threshold_text(self) -> tuple[str, ...]:
        """The thresholds in the fewest decimals that separate the same scores; empty if there is no threshold."""
        return tuple(
            threshold_text(name, threshold, self._score_below(name, threshold))
            for name, threshold in zip(self.owner, self.thresholds.tolist(), strict=True)
        )

    def _score_below(self, name: str, threshold: float) -> float:
        """Return the next lower score below a classifier's threshold, NaN if it is not known."""
        curve = next((curve for curve in self._known if curve.name == name), None)
        return math.nan if curve is None else curve.score_below(threshold)

    def to_roc_curve(self) -> RocCurve:
        """Return the vertices as a ROC curve: of counts if all classifiers share a test set, otherwise of rates."""
        cuts = np.full(self.fpr.size, np.nan)
        cuts[0], cuts[-1] = np.inf, -np.inf
        options: dict[str, Any] = {"complete": False, "max_error": self.max_error}
        if self._sizes is None:
            return RocCurve("hull", ScoreCounts(cuts, self.fpr, self.tpr), 1.0, 1.0, "rates", **options)
        n_neg, n_pos = self._sizes
        fp, tp = (np.rint(rates * n).astype(np.int64) for rates, n in ((self.fpr, n_neg), (self.tpr, n_pos)))
        return RocCurve("hull", ScoreCounts(cuts, fp, tp), n_neg, n_pos, "counts", **options)

    def add(self, another: RocCurves) -> Self:
        """Return a new hull with one more classifier (or several), without looking at the others again.

        Each added point is placed by a binary search, and only the vertices that it removes are looked at. The new hull
        keeps only the points that can be best, or the runner-up of the best, at some condition, and the names of all
        classifiers. It makes the same decisions by cost as the `RocHull` of all curves, except that it may name another
        runner-up if several cost the same. It has no `roc_curves`, and cannot find the best choice under a limit.

        Parameters
        ----------
        another : RocCurve, sequence of RocCurve, or mapping of name to RocCurve
            The classifiers to add, under names that the hull does not have.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> hull.add(cc.RocCurve.from_rates(0.3, 0.5, name="F"))
        RocHull(3 vertices from 1 of 2 classifiers: 'A'; never best: 'F')
        """
        added = check_curves(another, "another")
        check_not_trivial([curve.name for curve in added], "another")
        growth, sizes = self._grown(), self._sizes
        for curve in added:
            if curve.name in self.names:
                check_unique([*self.names, curve.name], "another")
            growth = growth.with_curve(curve)
            sizes = sizes if sizes == _common_sizes([curve]) else None
        vertices, grown = growth.vertices, object.__new__(type(self))
        grown._set(
            names=growth.names,
            fpr=vertices.fpr,
            tpr=vertices.tpr,
            owner=vertices.owner,
            thresholds=vertices.thresholds,
            owners=vertices.owners,
            breaks=vertices.breaks,
            _curves=None,
            _candidates=tuple(growth.curves.values()),
            _points=growth.standings.points.at(slice(2, None)),
            _lattice=(),
            _claims=(),
            _sizes=sizes,
            _growth=growth,
        )
        return grown

    def _grown(self) -> Growth:
        """Return what must be remembered of the classifiers when others are added."""
        if self._growth is not None:
            return self._growth
        right, top = self._lattice[-1]
        rates = [(Fraction(x, right), Fraction(y, top)) for x, y in self._lattice]
        vertices = Vertices(
            rates, self.owners, self._claims, self.owner, self.thresholds, self.fpr, self.tpr, self.breaks
        )
        return Growth.of(self.names, self._candidates, vertices)

    def to_json(self, path: str | os.PathLike[str] | None = None) -> str:
        """Return the hull as JSON text; if a path is given, also write it to that file, completely or not at all.

        The text has the points that can be best, or the runner-up of the best, at some condition, and the names of all
        classifiers, so that it is as long as the hull is large. Rates and counts are kept exactly. A hull that is read
        back makes the same decisions by cost, but has no `roc_curves` and no choices under a limit.

        Examples
        --------
        >>> import costcurves as cc
        >>> hull = cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="A")])
        >>> cc.RocHull.from_json_text(hull.to_json()).best(0.5).classifier
        'A'
        """
        curves = self._candidates if self._curves is None else tuple(self._grown().curves.values())
        text = hull_text(self.names, curves)
        if path is not None:
            write_atomically(check_path(path), text)
        return text

    @classmethod
    def from_json(cls, path: str | os.PathLike[str]) -> Self:
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
    def from_json_text(cls, text: str) -> Self:
        """Return the hull of JSON text that `to_json` returned."""
        if not isinstance(text, str):
            raise InputError(f"`text` must be a string, got {type(text).__name__}")
        names, curves = parts_of_text(text)
        try:
            check_not_trivial(names, "names")
        except InputError as error:
            raise FormatError(str(error)) from None
        hull = object.__new__(cls)
        hull._assemble(names, tuple(curve.candidates() for curve in curves), None)
        return hull

    def to_dict(self) -> dict[str, Any]:
        """Return the vertices and the names of those that are never best as plain Python values."""
        table = self._columns()
        return {"vertices": jsonable(table), "never_best": list(self.never_best), "max_error": self.max_error}

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
        names = ", ".join(repr(name) for name in self.can_be_best) or "none"
        never = f"; never best: {', '.join(map(repr, self.never_best))}" if self.never_best else ""
        never += f"; max_error={self.max_error:.2g}" if self.max_error else ""
        return (
            f"RocHull({self.fpr.size} vertices from {len(self.can_be_best)} of {len(self.names)} classifiers: "
            f"{names}{never})"
        )


def _common_sizes(curves: Sequence[RocCurve]) -> tuple[int, int] | None:
    """Return the numbers of negatives and positives, if all curves are counts and have the same numbers."""
    sizes = {(curve.made_from, curve.n_neg, curve.n_pos) for curve in curves}
    if len(sizes) == 1 and curves[0].made_from == "counts":
        return int(curves[0].n_neg), int(curves[0].n_pos)
    return None


def _integer_points(candidates: tuple[RocCurve, ...]) -> tuple[list[int], list[int], list[tuple[str, float]]]:
    """Return all points in common integer coordinates with their owners: (0, 0) first, then (1, 1), then the rest."""
    who = [(ALWAYS_NEGATIVE, math.inf), (ALWAYS_POSITIVE, -math.inf)]
    for curve in candidates:
        who += [(curve.name, threshold) for threshold in curve.thresholds[1:-1].tolist()]
    if (sizes := _common_sizes(candidates)) is not None:
        x, y = [0, sizes[0]], [0, sizes[1]]
        for curve in candidates:
            x += curve.fp[1:-1].tolist()
            y += curve.tp[1:-1].tolist()
        return x, y, who
    rates = [curve.exact_rates(i) for curve in candidates for i in range(1, curve.fp.size - 1)]
    x = common_integers([Fraction(0), Fraction(1), *(rate[0] for rate in rates)])
    y = common_integers([Fraction(0), Fraction(1), *(rate[1] for rate in rates)])
    return x, y, who


def check_curves(curves: RocCurves, what: str = "curves", *, repeats: bool = False) -> list[RocCurve]:
    """Return ROC curves from a sequence, or from a mapping whose keys are their names.

    Names must not repeat unless `repeats` allows it, as for the folds of one classifier.
    """
    if isinstance(curves, RocCurve):
        return [curves]
    if isinstance(curves, Mapping):
        listed = [c.renamed(n) if isinstance(c, RocCurve) else c for n, c in curves.items()]
    else:
        try:
            listed = list(curves)
        except TypeError:
            raise InputError(f"`{what}` must be RocCurves, got {shown(curves)}{FROM_SCORES}") from None
    if not listed:
        raise InputError(f"`{what}` must not be empty, got 0 curves")
    for curve in listed:
        if not isinstance(curve, RocCurve):
            raise InputError(f"`{what}` must be RocCurves, got {shown(curve)} ({type(curve).__name__}){FROM_SCORES}")
    if not repeats:
        check_unique([c.name for c in listed], what)
    return listed


def check_not_trivial(names: Sequence[str], what: str) -> None:
    """Raise an error if a name is that of a trivial classifier."""
    for name in names:
        if name in TRIVIAL:
            raise InputError(f"`{what}` must not use the names of the trivial classifiers, got {shown(name)}")
