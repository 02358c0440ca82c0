"""ROC points of one classifier: what is left of predictions once they are counted."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from fractions import Fraction
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError, UnsupportedError
from costcurves._base.frames import curves_of_frames
from costcurves._base.results import Result, jsonable
from costcurves._base.validation import (
    MOST_POINTS,
    BoolArray,
    FloatArray,
    check_choice,
    check_integer,
    check_level,
    check_name,
    check_unit_array,
    frozen,
    number_array,
    shown,
)
from costcurves.conditions.condition import matched_by_name
from costcurves.counting import counts, hull_vertices
from costcurves.counting.geometry import upper_hull
from costcurves.curves import chance

Array = npt.NDArray[Any]
Made = Literal["counts", "weights", "rates"]
UNNAMED = "classifier"


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
        The first is inf (nothing is predicted positive); NaN where a classifier has no threshold.
    made_from : {"counts", "weights", "rates"}
        Whether the numbers are integer counts, weighted sums, or rates whose counts are unknown.
    complete : bool
        Whether every distinct score has its point; False where only the hull's vertices were kept.
    effective : (n_pos, n_neg) or None
        Effective sample sizes (Σw)²/Σw² of weighted data, which intervals use.
    max_error : float
        The most by which the normalized cost of the hull can be too high at any pc, because scores were binned; 0 where
        they were not.

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
    _fp: Array  # of very many points in 4 bytes each
    _tp: Array
    n_neg: int | float
    n_pos: int | float
    _thresholds: Array
    made_from: Made
    complete: bool = True
    effective: tuple[float, float] | None = None
    max_error: float = 0.0
    _below: FloatArray | None = None  # the next lower scores, where they are not the thresholds of the next points

    def __new__(cls, *values: Any, **named: Any) -> RocCurve:
        """Refuse labels and scores, which have a door of their own; anything else is for the fields to take."""
        first = next(iter(values), "")
        if {"y_true", "y_score"} & set(named) or (hasattr(first, "__len__") and not isinstance(first, str)):
            raise InputError(
                "`RocCurve` must be made by one of its methods, got values: for labels and scores use "
                "RocCurve.from_predictions(y_true, y_score)"
            )
        return object.__new__(cls)

    def __post_init__(self) -> None:
        """Check the name and set the arrays read-only."""
        check_name("name", self.name)
        for array in (self._fp, self._tp, self._thresholds, self._below):
            if array is not None:
                frozen(array)

    @property
    def fp(self) -> Array:
        """False positives at each threshold."""
        return counts.wide(self._fp)

    @property
    def tp(self) -> Array:
        """True positives at each threshold."""
        return counts.wide(self._tp)

    @property
    def thresholds(self) -> FloatArray:
        """The thresholds, from the highest down."""
        return counts.wide(self._thresholds)

    @property
    def below(self) -> FloatArray:
        """The next lower score of the data below each threshold: -inf where there is none, NaN where it is not known.

        All thresholds above it and up to the point's own decide alike on these data.
        """
        if self._below is not None:
            return self._below
        if not self._has_every_score:
            return frozen(np.full(self._fp.size, np.nan))
        return frozen(np.append(self.thresholds[1:], -np.inf))

    @property
    def _has_every_score(self) -> bool:
        """Whether all scores of the data are thresholds."""
        return self.complete and self.made_from != "rates" and bool(self._thresholds[-1] > -np.inf)

    def score_below(self, threshold: float) -> float:
        """Return the next lower score of the data below a threshold: -inf if there is none, NaN if it is not known.

        Examples
        --------
        >>> import costcurves as cc
        >>> curve = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8])
        >>> curve.score_below(0.8), curve.score_below(0.2), curve.score_below(0.1)
        (0.4, 0.1, -inf)
        """
        # Without a copy of all thresholds, which are very many in some curves.
        i = bisect_right(self._thresholds, -threshold, key=lambda cut: -float(cut))
        if self._has_every_score:
            return float(self._thresholds[i]) if i < self._thresholds.size else -math.inf
        known = i > 0 and float(self._thresholds[i - 1]) == threshold
        return float(self.below[i - 1]) if known else math.nan

    @classmethod
    def from_predictions(
        cls,
        y_true: Any,
        y_score: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        name: str = UNNAMED,
        points: str = "all",
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
            ``"hull"`` keeps only the vertices of the ROC convex hull, which is all that decisions and cost curves
            need, and is found without sorting all scores: for large data.

        Warns
        -----
        WorseThanChanceWarning
            Where positives have lower scores than negatives, significantly: are they those of the other class?

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocCurve.from_predictions(["good", "bad", "good"], [0.2, 0.9, 0.4], pos_label="bad", name="logit")
        RocCurve('logit': 3 examples (1 positive), 4 points, auc=1)
        """
        check_choice("points", points, ("all", "hull"))
        positive = counts.binary_labels(y_true, pos_label)
        said = "y_score" if name == UNNAMED else counts.score_of(name)
        scores = counts.checked_scores(y_score, said)
        counts.same_length(said, scores, "y_true", positive.size)
        weights = None if sample_weight is None else counts.checked_weights(sample_weight, positive.size)
        counts.both_classes(positive, weights)
        return cls.of_checked(positive, scores, weights, name=name, points=points)

    @classmethod
    def of_checked(
        cls, positive: BoolArray, scores: Any, weights: FloatArray | None, *, name: str, points: str
    ) -> RocCurve:
        """Return the ROC curve of labels, scores and weights that were checked before."""
        effective = _effective(positive, weights)
        if weights is not None:
            table = every = counts.count_weights(positive, scores, weights)
            if points == "hull":
                table = hull_vertices.on_hull(table)
        elif points == "hull":
            table = every = hull_vertices.hull_counts(positive, scores)
            if chance.is_poor(table.fp, table.tp):
                every = counts.count_scores(positive, scores)
        else:
            table = every = counts.count_scores(positive, scores)
        curve = cls._from_counts(table, name=name, effective=effective, complete=points == "all")
        if (auc := chance.worse_than_chance(every.fp, every.tp, effective)) is not None:
            chance.tell(name, auc)
        return curve

    @classmethod
    def from_frame(
        cls,
        frame: Any,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: Any = None,
        name: str | None = None,
        points: str = "all",
        on_null: str = "refuse",
    ) -> RocCurve:
        """Return the ROC curve of two columns of a dataframe, of any library.

        Parameters
        ----------
        frame : dataframe
            pandas, polars (also lazy), pyarrow, a DuckDB relation, ibis, Dask, Spark, or another that narwhals reads.
        label, score : str
            The columns of true labels and of scores.
        weight : str, optional
            A column of weights.
        pos_label : label, optional
            As for `from_predictions`.
        name : str, optional
            The classifier's name, by default the score column.
        points : {"all", "hull"}
            As for `from_predictions`. ``"hull"`` is for large frames: it takes bounded memory, also of Spark's driver.
        on_null : {"refuse", "drop"}
            Missing values (null, NaN and empty texts) are an error that counts them, or their rows are left out with a
            `DroppedRowsWarning` that counts them.

        Notes
        -----
        All engines give the same bits as `from_predictions` does of arrays, however the frame is split (with weights
        that are not whole numbers: to rounding). Only the columns named are read. Frames in memory are read at once,
        and so is a table of ibis. LazyFrames and relations are read in batches, and partitions of Dask and Spark are
        counted by their own tasks, in one pass or two: the query behind them runs that often, and must give the same
        rows; cache what is dear.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 0, 1, 1], "p_forest": [0.1, 0.4, 0.35, 0.8]})
        >>> cc.RocCurve.from_frame(df, label="y", score="p_forest")
        RocCurve('p_forest': 4 examples (2 positive), 5 points, auc=0.75)
        """
        found: RocCurve = curves_of_frames().roc_curve(
            frame,
            label=label,
            score=score,
            weight=weight,
            pos_label=pos_label,
            name=name,
            points=points,
            on_null=on_null,
        )
        return found

    @classmethod
    def _from_counts(
        cls,
        table: counts.ScoreCounts,
        *,
        name: str,
        effective: tuple[float, float] | None,
        complete: bool,
        max_error: float = 0.0,
    ) -> RocCurve:
        return cls(
            name=name,
            _fp=table.fp,
            _tp=table.tp,
            n_neg=table.fp[-1].item(),
            n_pos=table.tp[-1].item(),
            _thresholds=table.thresholds,
            made_from="counts" if effective is None else "weights",
            complete=complete,
            effective=effective,
            max_error=max_error,
            _below=table.below,
        )

    @classmethod
    def from_confusion_matrix(cls, matrix: Any, *, pos_label: Any = None, name: str = UNNAMED) -> RocCurve:
        """Return the one ROC point of a fixed classifier, from its 2x2 confusion matrix.

        Parameters
        ----------
        matrix : array-like of shape (2, 2)
            Rows are the true class (negative, positive), columns the predicted one, as in scikit-learn:
            ``[[tn, fp], [fn, tp]]``. (Two of the papers write the transpose.) A pandas DataFrame with labels as
            index and columns, such as a crosstab, is matched by name and needs `pos_label`.
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
        if pos_label is not None or (hasattr(matrix, "index") and hasattr(matrix, "columns")):
            if pos_label is None:
                raise InputError("`pos_label` must name the positive class of a labelled `matrix`, got None")
            matrix = matched_by_name(matrix, pos_label)
        try:
            table = np.asarray(matrix)
        except ValueError:
            raise DataError(f"`matrix` must be a 2x2 table of counts, got {shown(matrix)}") from None
        if table.shape != (2, 2) or table.dtype.kind not in "iuf":
            raise DataError(f"`matrix` must be a 2x2 table of counts, got {shown(matrix)}")
        if not np.isfinite(table).all() or (table < 0).any():
            raise DataError(f"`matrix` must hold finite counts >= 0, got {shown(table.tolist())}")
        whole = bool((table == np.floor(table)).all()) and float(table.max()) <= counts.LARGEST_EXACT_INTEGER
        (tn, fp), (fn, tp) = (table.astype(np.int64) if whole else table.astype(np.float64)).tolist()
        if not math.isfinite(tn + fp + fn + tp):
            raise DataError(f"`matrix` must have a finite sum, got {shown(table.tolist())}")
        if tn + fp <= 0 or fn + tp <= 0:
            raise DataError(f"`matrix` must hold both classes, got {fn + tp} positive and {tn + fp} negative examples")
        dtype = np.int64 if whole else np.float64
        return cls._fixed(
            np.array([0, fp, tn + fp], dtype=dtype),
            np.array([0, tp, fn + tp], dtype=dtype),
            np.array([np.inf, np.nan, -np.inf]),
            name=name,
            made_from="counts" if whole else "weights",
            effective=None if whole else (fn + tp, tn + fp),
        )

    @classmethod
    def from_rates(cls, fpr: Any, tpr: Any, *, thresholds: Any = None, name: str = UNNAMED) -> RocCurve:
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
        x = np.atleast_1d(check_unit_array("fpr", fpr))
        y = np.atleast_1d(check_unit_array("tpr", tpr))
        if x.ndim != 1 or x.shape != y.shape or x.size == 0:
            raise InputError(
                f"`fpr` and `tpr` must be numbers or 1-D of one length, got shapes {x.shape} and {y.shape}"
            )
        if thresholds is None:
            cuts = np.full(x.size, np.nan)
        else:
            cuts = np.atleast_1d(number_array("thresholds", thresholds, booleans=False))
            if cuts.shape != x.shape:
                raise InputError(f"`thresholds` must be as many as `fpr`, got {cuts.size} and {x.size}")
            if np.isnan(cuts).any():
                raise InputError(f"`thresholds` must not be NaN, got {int(np.isnan(cuts).sum())} of {cuts.size}")
        order = np.lexsort((-cuts, y, x))
        x, y, cuts = x[order], y[order], cuts[order]
        if (np.diff(y) < 0).any():
            first = int(np.flatnonzero(np.diff(y) < 0)[0])
            raise InputError(
                "`tpr` must not fall as `fpr` rises on one classifier's curve (make separate curves of separate "
                f"classifiers), got ({x[first]:g}, {y[first]:g}) and ({x[first + 1]:g}, {y[first + 1]:g})"
            )
        if (cuts[1:] > cuts[:-1]).any():
            first = int(np.flatnonzero(cuts[1:] > cuts[:-1])[0])
            raise InputError(
                "`thresholds` must not rise as `fpr` and `tpr` rise (predicted positive means score >= threshold), "
                f"got {cuts[first]:g} and {cuts[first + 1]:g}"
            )
        last = cuts[(x == 1) & (y == 1)]  # the highest threshold of "always positive", where it has one
        inner = ((x > 0) | (y > 0)) & ((x < 1) | (y < 1))
        return cls._fixed(
            np.concatenate(([0.0], x[inner], [1.0])),
            np.concatenate(([0.0], y[inner], [1.0])),
            np.concatenate(([np.inf], cuts[inner], last[:1] if thresholds is not None and last.size else [-np.inf])),
            name=name,
            made_from="rates",
        )

    @classmethod
    def _fixed(
        cls,
        fp: Array,
        tp: Array,
        thresholds: FloatArray,
        *,
        name: str,
        made_from: Made,
        effective: tuple[float, float] | None = None,
    ) -> RocCurve:
        distinct = np.append(True, (np.diff(fp) != 0) | (np.diff(tp) != 0))
        distinct[0] = distinct[-1] = True
        if (fp[-2], tp[-2]) == (fp[-1], tp[-1]):
            distinct[-2] = False  # the fixed classifier is itself "always positive"
        return cls(
            name=name,
            _fp=fp[distinct],
            _tp=tp[distinct],
            n_neg=fp[-1].item(),
            n_pos=tp[-1].item(),
            _thresholds=thresholds[distinct],
            made_from=made_from,
            effective=effective,
        )

    @property
    def fpr(self) -> FloatArray:
        """False positive rates."""
        rates: FloatArray = self._fp / self.n_neg
        return frozen(rates)

    @property
    def tpr(self) -> FloatArray:
        """True positive rates."""
        rates: FloatArray = self._tp / self.n_pos
        return frozen(rates)

    @property
    def fnr(self) -> FloatArray:
        """False negative rates, 1 - tpr."""
        rates: FloatArray = (self.n_pos - self._tp) / self.n_pos
        return frozen(rates)

    @property
    def has_thresholds(self) -> bool:
        """Whether the points come from a score that can be cut anywhere."""
        hand_made = self._thresholds.size == 2 and self._thresholds[-1] == -np.inf  # one that is itself trivial
        return not hand_made and not bool(np.isnan(self._thresholds).any())

    @property
    def prevalence(self) -> float:
        """Share of positives in the data, NaN where counts are unknown."""
        return float("nan") if self.made_from == "rates" else self.n_pos / (self.n_pos + self.n_neg)

    def exact_rates(self, index: int) -> tuple[Fraction, Fraction]:
        """Return (fpr, tpr) of one point as exact fractions."""
        return (
            Fraction(self._fp[index].item()) / Fraction(self.n_neg),
            Fraction(self._tp[index].item()) / Fraction(self.n_pos),
        )

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
            doubled = int((np.diff(self._fp) * (tp[1:] + tp[:-1])).sum())
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
        vertex = upper_hull(self.fp, self.tp)
        if vertex.size == self._fp.size:
            return self
        return self.at(vertex)

    def at(self, index: Any) -> RocCurve:
        """Return the curve restricted to some of its points, by index."""
        below = None if self._has_every_score else self.below
        few = counts.ScoreCounts(self._thresholds, self._fp, self._tp, below).at(np.arange(self._fp.size)[index])
        return replace(self, _fp=few.fp, _tp=few.tp, _thresholds=few.thresholds, complete=False, _below=few.below)

    def index_of(self, threshold: float | FloatArray, *, above: bool = False) -> Any:
        """Return the point reached by predicting positive iff score >= threshold (score > threshold if `above`)."""
        if not self.has_thresholds:
            raise UnsupportedError(f"`threshold` needs a curve made from scores, got {self.name!r}, which has none")
        side: Literal["left", "right"] = "left" if above else "right"
        cut = number_array("threshold", threshold, booleans=False)
        if np.isnan(cut).any():
            raise InputError(f"`threshold` must not be NaN, got {shown(threshold)}")
        return np.maximum(np.searchsorted(-self.thresholds, -cut, side=side) - 1, 0)

    def renamed(self, name: str) -> RocCurve:
        """Return the same curve under another name."""
        return replace(self, name=name)

    def need_all_points(self, what: str) -> None:
        """Refuse what needs every point of the curve where only the hull was kept."""
        if not self.complete:
            raise UnsupportedError(
                f"`{what}` needs every point of the ROC curve, got {self.name!r} with only its hull's: "
                "make it with cc.RocCurve.from_predictions(..., points='all')"
            )

    def to_dict(self) -> dict[str, Any]:
        """Return the curve as plain Python values that `json.dumps` takes."""
        plain = {f.name.removeprefix("_"): getattr(self, f.name) for f in fields(self)}
        return {name: jsonable(value) for name, value in plain.items()}

    def _columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {
            "name": [self.name] * self._fp.size,
            "threshold": self.thresholds,
            "fpr": self.fpr,
            "tpr": self.tpr,
        }
        if self.made_from != "rates":
            columns |= {"fp": self.fp, "tp": self.tp}
        return columns

    def __repr__(self) -> str:
        """Return name, size and what there is to see."""
        what = ""
        if self.made_from == "counts":
            what = f"{self.n_pos + self.n_neg} examples ({self.n_pos} positive), "
        elif self.made_from == "weights":
            what = f"weight {self.n_pos + self.n_neg:.6g} ({self.n_pos:.6g} positive), "
        if self._fp.size == 3 and not self.has_thresholds:
            return f"RocCurve({self.name!r}: {what}fpr={self.fpr[1]:.3g}, tpr={self.tpr[1]:.3g})"
        tail = f", auc={self.auc():.3g}" if self.complete else " of the hull"
        if self.max_error:
            tail += f", max_error={self.max_error:.2g}"
        return f"RocCurve({self.name!r}: {what}{self._fp.size} points{tail})"


FROM_SCORES = ": for labels and scores use from_predictions"


def check_curves(curves: Any, what: str = "curves") -> list[RocCurve]:
    """Return ROC curves from a sequence, or from a mapping whose keys are their names; names must not repeat."""
    if isinstance(curves, RocCurve):
        return [curves]
    if isinstance(curves, dict):
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
    check_unique([c.name for c in listed], what)
    return listed


def check_unique(names: Sequence[str], what: str) -> None:
    """Refuse names that repeat."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise InputError(f"`{what}` must have different names, got {shown(name)} twice: pass name= to each")
        seen.add(name)


def pool(curves: Any, *, name: str = "pooled") -> RocCurve:
    """Return the ROC curve of all the curves' examples together, at shared thresholds.

    Pooling assumes that a score means the same in every curve, as with calibrated folds; where it does not, average.

    Parameters
    ----------
    curves : sequence of RocCurve
        Made from scores, all counted or all weighted. Names may repeat (folds of one classifier).
    name : str
        The name of the pooled curve.

    Examples
    --------
    >>> import costcurves as cc
    >>> a = cc.RocCurve.from_predictions([0, 1], [0.2, 0.7])
    >>> b = cc.RocCurve.from_predictions([0, 1, 1], [0.3, 0.1, 0.7])
    >>> cc.pool([a, b])
    RocCurve('pooled': 5 examples (3 positive), 5 points, auc=0.667)
    """
    listed = _listed_folds(curves)
    for curve in listed:
        if curve.made_from == "rates":
            raise UnsupportedError(f"`curves` must come from scores to be pooled, got {curve.name!r} made from rates")
        if not curve.has_thresholds:
            raise UnsupportedError(
                f"`curves` must come from scores to be pooled, got {curve.name!r} without thresholds"
            )
        curve.need_all_points("pool")
    cuts = np.concatenate([c.thresholds[1:] for c in listed])
    dtype = np.result_type(*[c.fp for c in listed])
    distinct, place = np.unique(-cuts, return_inverse=True)
    fp, tp = np.zeros(distinct.size, dtype), np.zeros(distinct.size, dtype)
    np.add.at(fp, place, np.concatenate([np.diff(c.fp) for c in listed]))
    np.add.at(tp, place, np.concatenate([np.diff(c.tp) for c in listed]))
    zero = np.zeros(1, dtype)
    table = counts.ScoreCounts(
        np.concatenate(([np.inf], -distinct)),
        np.concatenate((zero, np.cumsum(fp))),
        np.concatenate((zero, np.cumsum(tp))),
    )
    name = check_name("name", name)
    return RocCurve._from_counts(table, name=name, effective=_pooled_effective(listed), complete=True)


def _effective(positive: BoolArray, weights: FloatArray | None) -> tuple[float, float] | None:
    """Return the effective numbers (Σw)²/Σw² of positives and negatives, None without weights."""
    if weights is None:
        return None
    pos, neg = (counts.effective_number(w) for w in (weights[positive], weights[~positive]))
    return pos, neg


def _pooled_effective(curves: list[RocCurve]) -> tuple[float, float] | None:
    """Return the effective numbers of the examples of all curves, from those of each."""
    if all(curve.effective is None for curve in curves):
        return None
    known = [curve.effective or (curve.n_pos, curve.n_neg) for curve in curves]
    pos = sum(c.n_pos for c in curves) ** 2 / sum(c.n_pos**2 / e[0] for c, e in zip(curves, known, strict=True))
    neg = sum(c.n_neg for c in curves) ** 2 / sum(c.n_neg**2 / e[1] for c, e in zip(curves, known, strict=True))
    return float(pos), float(neg)


def _listed_folds(curves: Any) -> list[RocCurve]:
    """Return curves to be combined; the names of folds may repeat."""
    try:
        listed = list(curves.values()) if isinstance(curves, dict) else list(curves)
    except TypeError:
        raise InputError(f"`curves` must be a sequence of RocCurves, got {shown(curves)}") from None
    if not listed:
        raise InputError("`curves` must not be empty, got 0 curves")
    for curve in listed:
        if not isinstance(curve, RocCurve):
            raise InputError(f"`curves` must be RocCurves, got {shown(curve)} ({type(curve).__name__})")
    return listed


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AveragedRoc(Result):
    """A vertically averaged ROC curve with a pointwise interval: `fpr`, `tpr`, `lower`, `upper`.

    Examples
    --------
    >>> import costcurves as cc
    >>> folds = [cc.RocCurve.from_rates(0.04, 0.4), cc.RocCurve.from_rates(0.3, 0.8)]
    >>> cc.average_roc_curves(folds, n_points=11)
    AveragedRoc('average': mean of 2 curves at 11 points, auc=0.709)
    """

    name: str
    fpr: FloatArray
    tpr: FloatArray
    lower: FloatArray
    upper: FloatArray
    level: float
    n_curves: int

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for array in (self.fpr, self.tpr, self.lower, self.upper):
            frozen(array)

    def auc(self) -> float:
        """Return the area under the averaged curve."""
        return float((np.diff(self.fpr) * (self.tpr[1:] + self.tpr[:-1])).sum() / 2)

    def to_curve(self) -> RocCurve:
        """Return the averaged points as a ROC curve of rates, to put on a hull."""
        return RocCurve.from_rates(self.fpr, self.tpr, name=self.name)

    def _columns(self) -> dict[str, Any]:
        return {
            "name": [self.name] * self.fpr.size,
            "fpr": self.fpr,
            "tpr": self.tpr,
            "lower": self.lower,
            "upper": self.upper,
        }

    def __repr__(self) -> str:
        """Return name, number of curves and area."""
        size = f"mean of {self.n_curves} curves at {self.fpr.size} points"
        return f"AveragedRoc({self.name!r}: {size}, auc={self.auc():.3g})"


def average_roc_curves(curves: Any, *, n_points: int = 100, level: float = 0.95, name: str = "average") -> AveragedRoc:
    """Return the vertical average of ROC curves over regularly spaced false positive rates, as the 1998 study does.

    Parameters
    ----------
    curves : sequence of RocCurve
        For example one for each fold of a cross-validation; names may repeat.
    n_points : int, default 100
        Regularly spaced false positive rates from 0 to 1.
    level : float in (0, 1)
        Level of the pointwise interval of the mean.
    name : str
        The name of the average.

    Notes
    -----
    Each curve is a function tpr(fpr): of several points with one fpr that of the largest tpr is taken, and between
    the points that are left it is linear (a random choice between two of them performs like that).
    The interval is the paper's: a binomial of as many trials as the curves have positives together (NaN where the
    counts are not known). It speaks of tpr at a given fpr; the performance of an averaged ROC curve is *not* the
    average performance, for which see `average_cost_curves`.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = [[[96, 4], [60, 40]], [[70, 30], [20, 80]]]
    >>> folds = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    >>> average = cc.average_roc_curves(folds, n_points=101)
    >>> round(float(average.tpr[4]), 4), round(float(average.upper[4] - average.lower[4]), 4)
    (0.2533, 0.1206)
    """
    from scipy.special import ndtri

    listed = _listed_folds(curves)
    n_points = check_integer("n_points", n_points, 2, MOST_POINTS)
    level = check_level(level)
    grid = np.linspace(0.0, 1.0, n_points)
    for curve in listed:
        curve.need_all_points("average_roc_curves")
    values = np.array([tpr_at(curve, grid) for curve in listed])
    mean = values.mean(axis=0)
    if any(curve.made_from == "rates" for curve in listed):
        half = np.full(n_points, np.nan)
    else:
        trials = sum(curve.n_pos for curve in listed)
        half = ndtri((1 + level) / 2) * np.sqrt(mean * (1 - mean) / trials)
    return AveragedRoc(
        check_name("name", name),
        grid,
        mean,
        np.clip(mean - half, 0, 1),
        np.clip(mean + half, 0, 1),
        level,
        len(listed),
    )


def tpr_at(curve: RocCurve, fpr: Any) -> FloatArray:
    """Return the true positive rate at false positive rates, by linear interpolation (the largest where several).

    The ROC curve as a function, R(FP) of the 1998 study: what is averaged, and what dominance in ROC space compares.
    """
    x, y = curve.fpr, curve.tpr
    highest: BoolArray = np.append(np.diff(x) > 0, True)
    result: FloatArray = np.interp(np.asarray(fpr, dtype=np.float64), x[highest], y[highest])
    return result
