"""The base of threshold policies: the thresholds that are used on each interval of pc, and the errors they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

import numpy as np
import numpy.typing as npt

from costcurves._base.validation import BoolArray, FloatArray, IntArray
from costcurves.counting.counts import ScoreCounts, wide
from costcurves.counting.geometry import upper_hull
from costcurves.curves.roc import RocCurve

Array = npt.NDArray[Any]


class HasRocCurve(Protocol):
    """What has a ROC curve: a hull, an average of curves, a tally."""

    def to_roc_curve(self) -> RocCurve:
        """Return the ROC curve."""


@dataclass(frozen=True, slots=True, eq=False)
class Steps:
    """The point of a ROC curve that is used at each pc: point ``index[i]`` for pc in (breaks[i], breaks[i+1]].

    A threshold of inf means that no case is predicted positive, whatever its score, and -inf that every case is.
    """

    breaks: FloatArray
    index: IntArray
    thresholds: FloatArray
    points: ScoreCounts | None = None  # those that `index` is about, if they are not all points of the curve

    @classmethod
    def of(
        cls, breaks: FloatArray, index: IntArray, thresholds: FloatArray, points: ScoreCounts | None = None
    ) -> Steps:
        """Return the steps, leaving out those of width zero."""
        broad = np.diff(breaks) > 0
        return cls(np.append(breaks[:-1][broad], breaks[-1]), index[broad], thresholds[broad], points)

    def errors(self, roc: RocCurve) -> tuple[Array, Array]:
        """Return the misses and the false alarms on each step."""
        points = self.points or roc._every
        return roc.n_pos - wide(points.tp[self.index]), wide(points.fp[self.index])

    @property
    def known(self) -> BoolArray:
        """On which steps every case is predicted to be of the same class, whatever its score."""
        return np.isinf(self.thresholds)

    def at(self, pc: Any) -> Any:
        """Return the step that holds each pc."""
        return np.searchsorted(self.breaks[1:-1], pc, side="left")

    def cuts(self, roc: RocCurve, pc: FloatArray) -> FloatArray:
        """Return the threshold used at each pc as a score of the data."""
        step = self.at(pc)
        points = self.points or roc._every
        cuts, own = wide(points.thresholds[self.index[step]]), self.thresholds[step]
        # A threshold above all scores must not become inf, which stands for a policy that looks at no score.
        with np.errstate(over="ignore"):
            above: FloatArray = np.where(np.isinf(cuts), np.nextafter(float(points.thresholds[1]), np.inf), cuts)
        return np.where(np.isinf(own), own, above)


@dataclass(frozen=True, slots=True, eq=False)
class CrossSteps:
    """Thresholds that each fold of the cases takes from all other folds, and the errors that they make together.

    `thresholds` are those that all cases choose together: the ones to deploy. No case here is judged at them.

    Attributes
    ----------
    breaks : array of shape (m + 1,)
    thresholds, misses, alarms, known : arrays of shape (m,)
        `misses` and `alarms` are means over the divisions.
    """

    breaks: FloatArray
    thresholds: FloatArray
    misses: Array
    alarms: Array
    known: BoolArray

    def errors(self, roc: RocCurve) -> tuple[Array, Array]:
        """Return the misses and the false alarms on each step."""
        return self.misses, self.alarms


AnySteps = Steps | CrossSteps


@dataclass(frozen=True, slots=True)
class Policy:
    """A rule that picks the threshold at each pc; see `optimal`, `crossfit`, `validation`, `bayes` and `fixed`.

    Examples
    --------
    >>> from costcurves import thresholds
    >>> thresholds.fixed(0.5)
    fixed(0.5)
    """

    # What the rest of the package asks of a policy; each policy states where it differs.
    needs_all_points: ClassVar[bool] = True  # it may use points below the hull
    chosen_here: ClassVar[bool] = False  # thresholds are chosen on the data that they are judged by
    looks: ClassVar[bool] = False  # it sees the labels of the cases that it is judged by, whatever it chooses by them
    takes_probabilities: ClassVar[bool] = False  # scores must be probabilities
    of_one_classifier: ClassVar[bool] = False  # its thresholds mean nothing for another classifier's scores
    cross_fits: ClassVar[bool] = False  # a case has the thresholds of its fold

    def steps(self, roc: RocCurve) -> AnySteps:
        """Return the points of the curve that are used, by pc."""
        raise TypeError("use one of the policies in costcurves.thresholds")

    def for_cases(
        self, positive: BoolArray, scores: Any, weights: FloatArray | None = None, folds: IntArray | None = None
    ) -> Policy:
        """Return the policy as it applies to these cases, where their counts at each score are not enough."""
        return self

    def threshold_at(self, roc: RocCurve, pc: FloatArray, of_step: Any) -> Any:
        """Return the thresholds at some pc, given those of the steps there."""
        return of_step

    def score_below(self, roc: RocCurve, threshold: float) -> float:
        """Return the number below which a threshold must not be rounded; NaN if it must not be rounded at all."""
        return roc.score_below(threshold)

    def calibrated_at(self, roc: RocCurve) -> float:
        """Return the prevalence at which the scores are probabilities."""
        return roc.prevalence

    @property
    def in_words(self) -> str:
        """The policy as the text form of a cost curve shows it."""
        return repr(self)


def best_steps(points: ScoreCounts) -> Steps:
    """Return the vertices of the hull of all points, between the slopes of their edges."""
    fp, tp = wide(points.fp), wide(points.tp)
    vertex = upper_hull(fp, tp)
    cuts = points.thresholds[vertex].astype(np.float64)
    cuts[-1] = -np.inf  # every case is predicted positive, which needs no score
    return Steps.of(hull_breaks(fp[vertex], tp[vertex]), vertex, cuts, points)


def hull_breaks(fp: Array, tp: Array) -> FloatArray:
    """Return 0, the pc at which the two ends of each edge of a hull cost the same, and 1."""
    run, rise = np.diff(fp) * float(tp[-1]), np.diff(tp) * float(fp[-1])
    return np.concatenate(([0.0], run / (run + rise), [1.0]))
