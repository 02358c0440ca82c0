"""The ROC curve of one classifier: false and true positives at each threshold on its scores."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.frames import AnyFrame, TableLike, source_of_frame
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import (
    BoolArray,
    Column,
    FloatArray,
    OnNull,
    Points,
    check_choice,
    check_flag,
    check_index,
    check_integer,
    check_name,
    check_threshold,
    check_thresholds,
    frozen,
)
from costcurves.counting import counts
from costcurves.counting.counts import UNNAMED
from costcurves.counting.hull_vertices import LateCounts, candidate_counts
from costcurves.counting.labels import checked_cases
from costcurves.curves import chance
from costcurves.curves.fixed_points import FixedPoints, Made, points_of_matrix, points_of_rates

LATER = "all, later"  # see `RocCurve.of_checked`


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RocCurve(Result):
    """The ROC points of one classifier, with the threshold of each: predicted positive iff score >= threshold.

    Make one with `from_predictions`, `from_frame`, `from_confusion_matrix` or `from_rates`.

    Attributes
    ----------
    name : str
        The classifier's name in results and pictures.
    fp, tp : array
        False and true positives at each threshold, from the highest down: integers, or sums of weights, or rates.
    n_neg, n_pos : int or float
        Their totals (1 for rates).
    thresholds : array
        The first is inf (nothing is predicted positive); NaN if the classifier has no threshold.
    made_from : {"counts", "weights", "rates"}
        Whether the numbers are integer counts, weighted sums, or rates whose counts are unknown.
    complete : bool
        Whether every distinct score has its point; False if only the vertices of the hull were kept.
    effective : (n_pos, n_neg) or None
        Effective sample sizes (Σw)²/Σw² of weighted data, which intervals use.
    max_error : float
        The most by which the normalized cost of the hull can be too high at any pc because scores were binned; 0 if
        they were not.
    binned : bool
        Whether the points are all boundaries of bins of scores.

    Examples
    --------
    >>> import costcurves as cc
    >>> curve = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], name="forest")
    >>> curve
    RocCurve('forest': 4 examples (2 positive), 5 points, auc=0.75)
    >>> curve.to_frame("pandas")
        name  threshold  fpr  tpr  fp  tp
    0  forest        inf  0.0  0.0   0   0
    1  forest       0.80  0.0  0.5   0   1
    2  forest       0.40  0.5  0.5   1   1
    3  forest       0.35  0.5  1.0   1   2
    4  forest       0.10  1.0  1.0   2   2
    """

    name: str
    _counts: counts.ScoreCounts | LateCounts
    n_neg: int | float
    n_pos: int | float
    made_from: Made
    complete: bool = True
    effective: tuple[float, float] | None = None
    max_error: float = 0.0
    binned: bool = False

    def __new__(cls, *values: Any, **named: Any) -> RocCurve:
        """Refuse labels and scores, for which there is `from_predictions`."""
        first = next(iter(values), "")
        if {"y_true", "y_score"} & set(named) or (hasattr(first, "__len__") and not isinstance(first, str)):
            raise InputError(
                "`RocCurve` must be made by one of its methods, got values: for labels and scores use "
                "RocCurve.from_predictions(y_true, y_score)"
            )
        return object.__new__(cls)

    def __post_init__(self) -> None:
        """Check the name."""
        check_name("name", self.name)

    @property
    def _every(self) -> counts.ScoreCounts:
        """All points, with their numbers as they are kept: if there are very many, each may take 4 bytes."""
        return self._counts.every

    @property
    def _known(self) -> counts.ScoreCounts:
        """All points; of very many, only those that can be best, until all are asked for."""
        return self._counts.known

    @property
    def fp(self) -> npt.NDArray[Any]:
        """False positives at each threshold."""
        return counts.wide(self._every.fp)

    @property
    def tp(self) -> npt.NDArray[Any]:
        """True positives at each threshold."""
        return counts.wide(self._every.tp)

    @property
    def thresholds(self) -> FloatArray:
        """The thresholds, from the highest down."""
        return counts.wide(self._every.thresholds)

    @property
    def below(self) -> FloatArray:
        """The next lower score of the data below each threshold: -inf if there is none, NaN if it is not known.

        All thresholds above that score, up to the threshold of the point, classify these data in the same way.
        """
        if self._every.below is not None:
            return self._every.below
        lower = np.append(self.thresholds[1:], -np.inf)
        return frozen(lower if self._has_every_score else np.full(lower.size, np.nan))

    @property
    def _has_every_score(self) -> bool:
        """Whether all scores of the data are thresholds."""
        return self.complete and self.made_from != "rates" and bool(self._known.thresholds[-1] > -np.inf)

    def score_below(self, threshold: float) -> float:
        """Return the next lower score of the data below a threshold: -inf if there is none, NaN if it is not known.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve.score_below(0.8), curve.score_below(0.2), curve.score_below(0.1)
        (0.4, 0.1, -inf)
        """
        points, threshold = self._known, check_threshold(threshold)
        i = points.first_below(threshold)
        if points.below is not None and i > 0 and float(points.thresholds[i - 1]) == threshold:
            return float(points.below[i - 1])
        if not self._has_every_score or i == points.fp.size:
            return -math.inf if self._has_every_score else math.nan
        return float(self._every.thresholds[self._every.first_below(threshold)])

    @classmethod
    def from_predictions(
        cls,
        y_true: Column,
        y_score: npt.ArrayLike,
        *,
        pos_label: Hashable | None = None,
        sample_weight: npt.ArrayLike | None = None,
        name: str = UNNAMED,
        points: Points = "all",
    ) -> RocCurve:
        """Return the ROC curve of labels and scores, with a point at every distinct score.

        Parameters
        ----------
        y_true : array-like of shape (n,)
            True labels: booleans, numbers or strings, of two classes.
        y_score : array-like of shape (n,)
            Scores, higher for the positive class: any floats or integers.
        pos_label : label, optional
            The positive class; needed unless labels are booleans, 0/1 or -1/1.
        sample_weight : array-like of shape (n,), optional
            Non-negative weights; the curve then has weighted rates.
        name : str
            The classifier's name.
        points : {"all", "hull"}
            ``"hull"`` keeps only the vertices of the ROC convex hull, so that the curve takes little memory. It is
            hardly faster: of many scores, the points that can be best are found without sorting all scores, and the
            others are counted when something first needs them. Until then the curve has a copy of labels and scores.

        Warns
        -----
        WorseThanChanceWarning
            If positives have significantly lower scores than negatives: the scores may be those of the other class.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocCurve.from_predictions(["good", "bad", "good"], [0.2, 0.9, 0.4], pos_label="bad", name="logit")
        RocCurve('logit': 3 examples (1 positive), 4 points, auc=1)
        """
        check_choice("points", points, ("all", "hull"))
        cases = checked_cases(y_true, y_score, pos_label, sample_weight, name)
        return cls.of_checked(*cases, name=name, points=LATER if points == "all" else points)

    @classmethod
    def of_checked(
        cls, positive: BoolArray, scores: Any, weights: FloatArray | None, *, name: str, points: str
    ) -> RocCurve:
        """Return the ROC curve of labels, scores and weights that were checked before.

        `points` may also be `LATER`: all points, but those that cannot be best are counted when they are asked for.
        """
        if weights is None:
            few = None if points == "all" else candidate_counts(positive, scores)
            if few is not None and not chance.is_poor(few.fp, few.tp):
                table = few.on_hull() if points == "hull" else LateCounts(positive, scores, few)
                return cls._from_counts(table, name=name, effective=None, complete=points != "hull")
            every, effective = counts.count_scores(positive, scores), None
        else:
            every = counts.count_weights(positive, scores, weights)
            effective = counts.effective_sizes(positive, weights)
        table = every.on_hull() if points == "hull" else every
        curve = cls._from_counts(table, name=name, effective=effective, complete=points != "hull")
        if (auc := chance.worse_than_chance(every.fp, every.tp, effective)) is not None:
            chance.tell(name, auc)
        return curve

    @classmethod
    def from_frame(
        cls,
        frame: AnyFrame,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: Hashable | None = None,
        name: str | None = None,
        points: Points = "all",
        on_null: OnNull = "refuse",
    ) -> RocCurve:
        """Return the ROC curve of a column of labels and a column of scores, from a dataframe of any library.

        Parameters
        ----------
        frame : dataframe
            pandas, polars (also lazy), pyarrow, a DuckDB relation, ibis, Dask, Spark, or another that narwhals reads.
        label, score, weight : str
            The columns of true labels, of scores and, optionally, of weights.
        pos_label : label, optional
            As for `from_predictions`.
        name : str, optional
            The classifier's name, by default the score column.
        points : {"all", "hull"}
            As for `from_predictions`. ``"hull"`` takes bounded memory, also in Spark's driver: use it for large frames.
        on_null : {"refuse", "drop"}
            What to do with missing values (null, NaN and empty texts): raise an error that counts them, or leave their
            rows out with a `DroppedRowsWarning` that counts them.

        Notes
        -----
        The curve is bit for bit the one that `from_predictions` makes of arrays, whatever the library and however the
        frame is split (up to rounding, if weights are not whole numbers). Only the named columns are read. Frames in
        memory and tables of ibis are read at once. LazyFrames and relations are read in batches, and partitions of
        Dask and Spark are counted by their own tasks, in one pass or two: the query behind them runs that often and
        must give the same rows each time, so cache the result of an expensive one.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 0, 1, 1], "p_forest": [0.1, 0.4, 0.35, 0.8]})
        >>> cc.RocCurve.from_frame(df, label="y", score="p_forest")
        RocCurve('p_forest': 4 examples (2 positive), 5 points, auc=0.75)
        """
        check_choice("points", points, ("all", "hull"))
        name = score if name is None else check_name("name", name)
        options: dict[str, Any] = {"weight": weight, "pos_label": pos_label, "on_null": on_null}
        found: RocCurve = source_of_frame(frame, label=label, scores={"score": [score]}, **options).rocs(points)[score]
        return found.renamed(name)

    @classmethod
    def _from_counts(
        cls,
        table: counts.ScoreCounts | LateCounts,
        *,
        name: str,
        effective: tuple[float, float] | None,
        complete: bool,
        max_error: float = 0.0,
        binned: bool = False,
        made_from: Made | None = None,
    ) -> RocCurve:
        made_from = made_from or ("counts" if effective is None else "weights")
        totals = table.known.fp[-1].item(), table.known.tp[-1].item()
        return cls(name, table, *totals, made_from, complete, effective, max_error, binned)

    @classmethod
    def from_confusion_matrix(
        cls, confusion: TableLike, *, pos_label: Hashable | None = None, name: str = UNNAMED
    ) -> RocCurve:
        """Return the one ROC point of a fixed classifier, from its 2x2 confusion matrix.

        Parameters
        ----------
        confusion : array-like of shape (2, 2)
            Rows are the true class (negative, positive), columns the predicted one, as in scikit-learn:
            ``[[tn, fp], [fn, tp]]``. (Two of the papers write the transpose.) A pandas DataFrame with labels as
            index and columns, such as a crosstab, is matched by name; it needs `pos_label`.
        pos_label : label, optional
            The positive class of a labelled frame.
        name : str
            The classifier's name.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocCurve.from_confusion_matrix([[90, 10], [4, 16]], name="rules")
        RocCurve('rules': 120 examples (20 positive), fpr=0.1, tpr=0.8)
        """
        return cls._from_points(points_of_matrix(confusion, pos_label), name)

    @classmethod
    def from_rates(
        cls, fpr: npt.ArrayLike, tpr: npt.ArrayLike, *, thresholds: npt.ArrayLike | None = None, name: str = UNNAMED
    ) -> RocCurve:
        """Return the ROC curve of known rates, for example of a hand-made classifier or of a published curve.

        Parameters
        ----------
        fpr, tpr : float or array-like of shape (m,)
            Rates in [0, 1]; for several points both must increase together (in any row order).
        thresholds : float or array-like of shape (m,), optional
            The threshold of each point.
        name : str
            The classifier's name.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocCurve.from_rates(fpr=0.1, tpr=0.6, name="expert")
        RocCurve('expert': fpr=0.1, tpr=0.6)
        """
        return cls._from_points(points_of_rates(fpr, tpr, thresholds), name)

    @classmethod
    def _from_points(cls, points: FixedPoints, name: str) -> RocCurve:
        fp, tp, thresholds, made_from, effective = points
        table = counts.ScoreCounts(thresholds, fp, tp)
        return cls._from_counts(table, name=name, effective=effective, complete=True, made_from=made_from)

    @property
    def fpr(self) -> FloatArray:
        """False positive rates."""
        rates: FloatArray = self._every.fp / self.n_neg
        return frozen(rates)

    @property
    def tpr(self) -> FloatArray:
        """True positive rates."""
        rates: FloatArray = self._every.tp / self.n_pos
        return frozen(rates)

    @property
    def fnr(self) -> FloatArray:
        """False negative rates, 1 - tpr."""
        rates: FloatArray = (self.n_pos - self._every.tp) / self.n_pos
        return frozen(rates)

    @property
    def has_thresholds(self) -> bool:
        """Whether the points come from a score that can be cut anywhere."""
        cuts = self._known.thresholds
        hand_made = cuts.size == 2 and cuts[-1] == -np.inf  # it is itself a trivial one
        return not hand_made and not bool(np.isnan(cuts).any())

    @property
    def prevalence(self) -> float:
        """Share of positives in the data, NaN if the counts are unknown."""
        return float("nan") if self.made_from == "rates" else self.n_pos / (self.n_pos + self.n_neg)

    def exact_rates(self, index: int) -> tuple[Fraction, Fraction]:
        """Return (fpr, tpr) of one point as exact fractions."""
        i = check_integer("index", index, -self.fp.size, self.fp.size - 1)
        fp, tp = self._every.fp[i].item(), self._every.tp[i].item()
        return Fraction(fp) / Fraction(self.n_neg), Fraction(tp) / Fraction(self.n_pos)

    def auc(self) -> float:
        """Return the area under the ROC curve (ties count one half), from exact counts.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocCurve.from_predictions([0, 1, 0, 1], [1, 1, 0, 2]).auc()
        0.875
        """
        self.need_all_points("auc")
        if self.made_from == "counts" and 2 * self.n_neg * self.n_pos < 2**63:
            tp = self.tp
            doubled = int((np.diff(self._every.fp) * (tp[1:] + tp[:-1])).sum())
            return doubled / (2 * self.n_neg * self.n_pos)
        return float((np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])).sum() / 2)

    def on_hull(self) -> RocCurve:
        """Return the curve with only the vertices of its own convex hull.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve.on_hull().tpr.tolist()
        [0.0, 0.5, 1.0, 1.0]
        """
        return self._restricted(self._with_below(self._known).on_hull())

    def candidates(self) -> RocCurve:
        """Return the curve with both ends and the points that can be the cheapest of the points between them.

        They are the vertices of the upper hull of all points with some alarms, but not all.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.8, 0.1, 0.3, 0.4])
        >>> curve.on_hull().fp.tolist(), curve.candidates().fp.tolist()
        ([0, 1, 2], [0, 1, 1, 2])
        """
        if isinstance(self._counts, LateCounts):
            return self._restricted(self._counts.candidates)
        few = self._with_below(self._counts).candidates()
        return self if few.fp.size == self._counts.fp.size else self._restricted(few)

    def at(self, index: int | slice | Sequence[int] | npt.NDArray[Any]) -> RocCurve:
        """Return the curve restricted to some of its points, or to one of them, by index."""
        return self._restricted(self._with_below(self._every).at(check_index(index, self.fp.size)))

    def _with_below(self, points: counts.ScoreCounts) -> counts.ScoreCounts:
        """Return points with NaN for the next lower scores if these are not known."""
        return points if points.below is not None or self._has_every_score else replace(points, below=self.below)

    def _restricted(self, few: counts.ScoreCounts) -> RocCurve:
        return replace(self, complete=False, binned=False, _counts=few)

    def index_of(self, threshold: float | FloatArray, *, above: bool = False) -> Any:
        """Return the point reached by predicting positive iff score >= threshold (score > threshold if `above`)."""
        if not self.has_thresholds:
            raise UnsupportedError(f"`threshold` needs a curve made from scores, got {self.name!r}, which has none")
        cut, above = check_thresholds(threshold), check_flag("above", above)
        return np.maximum(np.searchsorted(-self.thresholds, -cut, side="left" if above else "right") - 1, 0)

    def renamed(self, name: str) -> RocCurve:
        """Return the same curve under another name."""
        return replace(self, name=name)

    def need_all_points(self, what: str) -> None:
        """Raise an error if only the points of the hull were kept: `what` needs all points."""
        if not self.complete:
            raise UnsupportedError(
                f"`{what}` needs every point of the ROC curve, got {self.name!r} with only those of its hull: "
                "make it with cc.RocCurve.from_predictions(..., points='all')"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain Python values that `json.dumps` takes."""
        every = self._every
        points = {"fp": every.fp, "tp": every.tp, "n_neg": self.n_neg, "n_pos": self.n_pos}
        plain = {"name": self.name, **points, "thresholds": every.thresholds}
        plain |= {f.name: getattr(self, f.name) for f in fields(self) if f.name != "_counts"}
        return {name: jsonable(value) for name, value in (plain | {"below": every.below}).items()}

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "name": [self.name] * self.fp.size,
            "threshold": self.thresholds,
            "fpr": self.fpr,
            "tpr": self.tpr,
        }
        if self.made_from != "rates":
            columns |= {"fp": self.fp, "tp": self.tp}
        return columns

    def __repr__(self) -> str:
        what = ""
        if self.made_from == "counts":
            what = f"{self.n_pos + self.n_neg} examples ({self.n_pos} positive), "
        elif self.made_from == "weights":
            what = f"weight {self.n_pos + self.n_neg:.6g} ({self.n_pos:.6g} positive), "
        if self.fp.size == 3 and not self.has_thresholds:
            return f"RocCurve({self.name!r}: {what}fpr={self.fpr[1]:.3g}, tpr={self.tpr[1]:.3g})"
        tail = f", auc={self.auc():.3g}" if self.complete else " of the hull"
        if self.max_error:
            tail += f", max_error={self.max_error:.2g}"
        return f"RocCurve({self.name!r}: {what}{self.fp.size} points{tail})"
