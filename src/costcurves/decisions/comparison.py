"""Comparisons of classifiers on the same examples, at every operating condition, with their certainty."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.frames import columns_of, curves_of_frames
from costcurves._base.results import Result
from costcurves._base.validation import (
    BoolArray,
    FloatArray,
    check_choice,
    check_flag,
    check_level,
    check_name,
    check_rng,
    check_two_names,
    frozen,
    shown,
)
from costcurves.conditions.condition import check_condition, pc_array
from costcurves.counting import counts
from costcurves.curves.chance import one_question
from costcurves.curves.cost_curve import CostCurve, as_cost_curves
from costcurves.curves.differences import PcIntervals
from costcurves.curves.roc import RocCurve
from costcurves.curves.thresholds import Validation, as_policy
from costcurves.inference.bands.folds import between_folds_band, within_folds_band
from costcurves.inference.bands.results import Band, Interval, operating_points
from costcurves.inference.family import co_errors, family_critical, holm
from costcurves.inference.paired.bands import DifferenceBand, difference_band
from costcurves.inference.paired.discordant import PairedCounts, counts_of_both, joint_counts, paired_counts

UNDECIDED = "undecided"
UNSETTLED = "not settled: binning error"
NO_VERDICT = (UNDECIDED, UNSETTLED)
SMALLEST_P = 1e-30  # of those that are told apart


@dataclass(frozen=True, slots=True, eq=False)
class _Discordant:
    """The examples that only one of two classifiers gets wrong, on every step of pc on which they do not change."""

    breaks: FloatArray
    known: BoolArray
    pos: PairedCounts
    neg: PairedCounts
    effective: tuple[float, float] | None
    options: dict[str, Any]
    errors: tuple[float, float] = (0.0, 0.0)  # by how much each cost can be too high

    def __post_init__(self) -> None:
        """Keep a seed in the place of a generator, so that every question is answered from the same resamples."""
        rng = self.options.get("rng")
        if self.options.get("method") == "resample" and not isinstance(rng, (int, np.integer)):
            object.__setattr__(self, "options", self.options | {"rng": int(check_rng(rng).integers(2**63))})

    def reversed(self) -> _Discordant:
        """Return the counts with the two classifiers in the other order."""
        return replace(self, pos=self.pos.reversed(), neg=self.neg.reversed(), errors=self.errors[::-1])

    def band(self, pc: FloatArray, **more: Any) -> DifferenceBand:
        """Return the band of the difference at some operating points."""
        step = np.searchsorted(self.breaks[1:-1], pc, side="left")
        return difference_band(
            self.pos.only_a[step],
            self.pos.only_b[step],
            self.pos.total,
            self.neg.only_a[step],
            self.neg.only_b[step],
            self.neg.total,
            pc,
            effective=self.effective,
            known=self.known[step],
            **self.options,
            **more,
        ).with_errors(self.errors)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CurveDifference(Result):
    """Cost of one classifier minus cost of another at every condition, with limits; negative: the first is cheaper.

    Attributes
    ----------
    names : (a, b)
        The two classifiers.
    pc, estimate, lower, upper : arrays
        The difference of normalized costs and its limits.
    level, method, sampling, simultaneous
        How the limits were found.
    max_error : float
        By how much the difference can be wrong, either way, because scores were binned. The limits are wider by it,
        p-values are the largest that it allows, and what it could overturn is not settled.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = {"negatives": [[50, 4], [6, 40]], "positives": [[8, 30], [2, 60]]}  # old's predictions by new's
    >>> diff = cc.compare.from_joint(**tables, names=("old", "new"))
    >>> diff
    CurveDifference('old' - 'new', 95 % simultaneous: 'new' costs less for pc in (0.19, 1); undecided elsewhere)
    >>> float(diff.p_value(0.5)) < 0.001
    True
    """

    names: tuple[str, str]
    band: DifferenceBand
    _discordant: _Discordant

    @property
    def pc(self) -> FloatArray:
        """Operating points, increasing."""
        return self.band.pc

    @property
    def estimate(self) -> FloatArray:
        """Difference of normalized costs, first minus second."""
        return self.band.estimate

    @property
    def lower(self) -> FloatArray:
        """Lower limits at each point."""
        return self.band.lower

    @property
    def upper(self) -> FloatArray:
        """Upper limits at each point."""
        return self.band.upper

    @property
    def level(self) -> float:
        """Confidence level of the limits."""
        return self.band.level

    @property
    def simultaneous(self) -> bool:
        """Whether the limits hold at all points jointly."""
        return self.band.simultaneous

    @property
    def max_error(self) -> float:
        """By how much the difference can be wrong because scores were binned."""
        return self.band.max_error

    def at(self, condition: Any) -> Interval:
        """Return the difference with its limits at one condition (or pc), and in money at a condition."""
        return self.band.evaluated_by(self._limits_at).at(condition)

    def _limits_at(self, pc: float) -> tuple[float, ...]:
        """Return estimate and limits at one pc, as if it had been among the points of the band."""
        more = {"critical_value": self.band.critical} if self.simultaneous else {}
        one = self._discordant.band(np.array([pc]), **more)
        return float(one.estimate[0]), float(one.lower[0]), float(one.upper[0])

    def p_value(self, pc: Any) -> Any:
        """Return the two-sided p-value of equal cost at pc, taken by itself (not adjusted for looking at many).

        Parameters
        ----------
        pc : float, array or OperatingCondition
        """
        wanted = pc_array(pc)
        points, place = np.unique(wanted.ravel(), return_inverse=True)
        p = self._discordant.band(points).p_value(points)[place].reshape(wanted.shape)
        return float(p) if wanted.ndim == 0 else p

    def without_error(self) -> CurveDifference:
        """Return the difference at the very thresholds in use, which may not be the best ones where scores were binned.

        The counts at these thresholds are exact, so its limits and p-values have no binning error.
        """
        exact = replace(self._discordant, errors=(0.0, 0.0))
        more: dict[str, Any] = {"critical_value": self.band.critical} if self.simultaneous else {}
        return CurveDifference(self.names, exact.band(self.pc, **more), exact) if self.max_error else self

    def reversed(self) -> CurveDifference:
        """Return the same comparison with the two classifiers in the other order."""
        return CurveDifference((self.names[1], self.names[0]), self.band.reversed(), self._discordant.reversed())

    def significant(self) -> Verdicts:
        """Return where the first is better, where the second, and where neither is shown to be.

        Needs a simultaneous band: a pointwise one would exclude zero somewhere far too often. A range begins and ends
        at points of the band, the only ones that were judged. What the binning of scores could overturn is
        ``"not settled: binning error"``.
        """
        parts = self.band.significant()
        who = {"a": self.names[0], "b": self.names[1], UNDECIDED: UNDECIDED, "unsettled": UNSETTLED}
        return Verdicts(
            np.array([part.low for part in parts]),
            np.array([part.high for part in parts]),
            tuple(who[part.better] for part in parts),
        )

    def _columns(self) -> dict[str, Any]:
        size = self.pc.size
        return {
            "a": [self.names[0]] * size,
            "b": [self.names[1]] * size,
            "pc": self.pc,
            "estimate": self.estimate,
            "lower": self.lower,
            "upper": self.upper,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the difference as plain Python values."""
        return {"names": list(self.names), **Result.to_dict(self.band)}

    def __repr__(self) -> str:
        """Return the conclusion."""
        kind = "simultaneous" if self.simultaneous else "pointwise"
        head = f"CurveDifference({self.names[0]!r} - {self.names[1]!r}, {100 * self.level:g} % {kind}"
        if not self.simultaneous:
            return f"{head}, {self.pc.size} points)"
        return f"{head}: {self.significant().text()})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdicts(Result):
    """Intervals of pc and who is significantly better in each: a name, or ``"undecided"``.

    Where scores were binned, it may also be ``"not settled: binning error"``.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = {"negatives": [[50, 4], [6, 40]], "positives": [[8, 30], [2, 60]]}
    >>> verdicts = cc.compare.from_joint(**tables, names=("old", "new")).significant()
    >>> verdicts
    Verdicts('new' costs less for pc in (0.19, 1); undecided elsewhere)
    >>> verdicts.where("new")
    PcIntervals((0.19, 1))
    """

    low: FloatArray
    high: FloatArray
    better: tuple[str, ...]

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        frozen(self.low)
        frozen(self.high)

    def where(self, name: str) -> PcIntervals:
        """Return the intervals of one verdict."""
        chosen = np.array([better == name for better in self.better], dtype=np.bool_)
        return PcIntervals(self.low[chosen], self.high[chosen])

    @property
    def decided(self) -> bool:
        """Whether somebody is better somewhere."""
        return any(better not in NO_VERDICT for better in self.better)

    def text(self) -> str:
        """Return the conclusion in words."""
        told = [name for name in dict.fromkeys(self.better) if name != UNDECIDED]
        if not told:
            return "no significant difference at any pc"
        spans = {name: ", ".join(f"({low:.3g}, {high:.3g})" for low, high in self.where(name)) for name in told}
        unsettled = spans.pop(UNSETTLED, None)
        text = " and ".join(f"{name!r} costs less for pc in {where}" for name, where in spans.items())
        if unsettled is not None:
            text += f"{'; ' if text else ''}not settled for pc in {unsettled}: binning error"
        return text + ("; undecided elsewhere" if UNDECIDED in self.better else "")

    def _columns(self) -> dict[str, Any]:
        return {"pc_low": self.low, "pc_high": self.high, "better": list(self.better)}

    def __len__(self) -> int:
        """Return the number of intervals."""
        return len(self.better)

    def __repr__(self) -> str:
        """Return the conclusion."""
        return f"Verdicts({self.text()})"


class _Compare:
    """Return the difference of two classifiers' costs at every operating condition, from the same examples.

    ``compare(y_true, score_a, score_b, ...)`` takes scores, ``compare.from_frame(frame, ...)`` columns of a dataframe,
    and ``compare.from_joint(negatives=..., positives=...)`` the joint tables of two fixed classifiers.

    Parameters
    ----------
    y_true : array-like of shape (n,)
        True labels.
    score_a, score_b : array-like of shape (n,)
        Scores of the two classifiers for the same examples.
    policy : policy or pair of policies
        How each classifier's threshold follows pc, as for `CostCurve`; a pair gives each its own, for example
        ``(cc.thresholds.validation(a), cc.thresholds.validation(b))``.
    level : float in (0, 1)
    simultaneous : bool, default True
        Whether the limits hold at all pc jointly, which `significant` needs.
    method : {"mid-p", "score", "agresti-min", "bonett-price", "gaussian", "exact", "resample"}
        How each class's paired rates get their limits. Mid-P limits have the best coverage for their width; "exact"
        and "resample" are quantiles of the bootstrap distribution.
    sampling : {"stratified", "full"}
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, increasing; by default 0, 0.01, ..., 1. A range stands for 101 evenly spaced points of it.
    laplace : float
        Added to each cell; off by default, as the 2000 paper advises for differences.
    names : (str, str)
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.
    n_resamples, rng
        For ``method="resample"``.

    Returns
    -------
    CurveDifference

    Notes
    -----
    Only examples that one of the two gets wrong matter (Dugas & Gadoury 2008, equations 7-8 and 12-13); they are
    counted for all points in O(n log m + m). The limits are conditional on the thresholds; with policy "optimal" both
    estimates are optimistic, the more so the more a classifier's scores overfit.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(400) < 0.4
    >>> good, poor = y + rng.normal(0, 0.7, 400), y + rng.normal(0, 1.5, 400)
    >>> diff = cc.compare(y, good, poor, names=("good", "poor"), pc=np.linspace(0.45, 0.65, 41))
    >>> diff
    CurveDifference('good' - 'poor', 95 % simultaneous: 'good' costs less for pc in (0.45, 0.65))
    """

    @one_question()
    def __call__(
        self,
        y_true: Any,
        score_a: Any,
        score_b: Any,
        *,
        pos_label: Any = None,
        sample_weight: Any = None,
        policy: Any = "optimal",
        level: float = 0.95,
        simultaneous: bool = True,
        method: str = "mid-p",
        sampling: str = "stratified",
        pc: Any = None,
        laplace: float = 0.0,
        names: tuple[str, str] = ("a", "b"),
        n_resamples: int = 2000,
        rng: Any = None,
    ) -> CurveDifference:
        """Return the difference of two classifiers' costs at every condition, from their scores."""
        names = check_two_names(names)
        simultaneous = check_flag("simultaneous", simultaneous)
        sample = _Sample(y_true, dict(zip(names, (score_a, score_b), strict=True)), pos_label, sample_weight)
        points = operating_points(pc)
        a, b = (sample.curve(name, rule) for name, rule in zip(names, two_policies(policy), strict=True))
        options = {
            "level": level,
            "method": method,
            "sampling": sampling,
            "laplace": laplace,
            "n_resamples": n_resamples,
            "rng": rng,
        }
        return sample.difference(a, b, points, options, simultaneous=simultaneous)

    def from_joint(
        self,
        *,
        negatives: Any,
        positives: Any,
        level: float = 0.95,
        simultaneous: bool = True,
        method: str = "mid-p",
        sampling: str = "stratified",
        pc: Any = None,
        laplace: float = 0.0,
        names: tuple[str, str] = ("a", "b"),
        n_resamples: int = 2000,
        rng: Any = None,
    ) -> CurveDifference:
        """Return the difference of two fixed classifiers' costs at every condition, from the joint table of each class.

        Parameters
        ----------
        negatives, positives : array-like of shape (2, 2)
            Counts of the examples that are truly negative, and truly positive, by prediction of a (rows) and of b
            (columns); index 0 is negative, 1 is positive. These are not two confusion matrices, which do not say how
            often both classifiers are wrong about the same example.
        level, simultaneous, method, sampling, pc, laplace, names, n_resamples, rng
            As for `compare`.

        Examples
        --------
        The same two confusion matrices with much and with little agreement: only the first difference is significant.

        >>> import costcurves as cc
        >>> close = {"negatives": [[60, 0], [0, 40]], "positives": [[20, 20], [0, 160]]}
        >>> loose = {"negatives": [[30, 30], [30, 10]], "positives": [[1, 39], [19, 141]]}
        >>> cc.compare.from_joint(**close).significant().decided
        True
        >>> cc.compare.from_joint(**loose, level=0.99).significant().decided
        False
        """
        options = {
            "level": level,
            "method": method,
            "sampling": sampling,
            "laplace": laplace,
            "n_resamples": n_resamples,
            "rng": rng,
        }
        names = check_two_names(names)
        simultaneous = check_flag("simultaneous", simultaneous)
        neg, pos = joint_counts(negatives, positives)
        discordant = _Discordant(np.array([0.0, 1.0]), np.array([False]), pos, neg, None, options)
        return CurveDifference(names, discordant.band(operating_points(pc), simultaneous=simultaneous), discordant)

    @one_question()
    def from_frame(
        self,
        frame: Any,
        *,
        label: str,
        score_a: str,
        score_b: str,
        weight: str | None = None,
        pos_label: Any = None,
        policy: Any = "optimal",
        level: float = 0.95,
        simultaneous: bool = True,
        method: str = "mid-p",
        sampling: str = "stratified",
        pc: Any = None,
        laplace: float = 0.0,
        names: tuple[str, str] | None = None,
        n_resamples: int = 2000,
        rng: Any = None,
        on_null: str = "refuse",
    ) -> CurveDifference:
        """Return the difference of two score columns of a dataframe, of any library, at every condition.

        Parameters
        ----------
        frame, label, weight, pos_label, on_null
            As for `RocCurve.from_frame`; a frame that is not in memory is read once more than for a curve.
        score_a, score_b : str
            The columns of both classifiers' scores.
        names : (str, str), optional
            By default the columns.
        policy, level, simultaneous, method, sampling, pc, laplace, n_resamples, rng
            As for `compare`.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.35, 0.4, 0.8], "q": [0.3, 0.2, 0.1, 0.9]})
        >>> cc.compare.from_frame(df, label="y", score_a="p", score_b="q", pc=[0.3, 0.5]).estimate.tolist()
        [0.0, 0.0]
        """
        first, second = (as_policy(rule) for rule in two_policies(policy))
        found: CurveDifference = curves_of_frames().difference(
            frame,
            label=label,
            score_a=score_a,
            score_b=score_b,
            weight=weight,
            pos_label=pos_label,
            policies=(first, second),
            names=None if names is None else check_two_names(names),
            on_null=on_null,
            level=level,
            simultaneous=simultaneous,
            method=method,
            sampling=sampling,
            pc=pc,
            laplace=laplace,
            n_resamples=n_resamples,
            rng=rng,
        )
        return found

    def __repr__(self) -> str:
        """Return the three calls."""
        return (
            "compare(y_true, score_a, score_b, ...), compare.from_frame(frame, ...), "
            "compare.from_joint(negatives=..., positives=...)"
        )


compare = _Compare()


def common_breaks(a: CostCurve, b: CostCurve) -> FloatArray:
    """Return the pc at which one of two curves changes its threshold, with 0 and 1."""
    return np.union1d(a.breaks, b.breaks)


def middles(breaks: FloatArray) -> FloatArray:
    """Return a pc within each step."""
    result: FloatArray = (breaks[:-1] + breaks[1:]) / 2
    return result


class PairedSteps(NamedTuple):
    """The steps of pc between which no threshold of two classifiers moves, with their counts on each.

    `known` says where both predict the same for everybody whatever the scores: their difference is no estimate.
    """

    breaks: FloatArray
    known: BoolArray
    pos: PairedCounts
    neg: PairedCounts


def difference_of_counts(
    names: tuple[str, str],
    steps: PairedSteps,
    pc: FloatArray,
    at_pc: tuple[PairedCounts, PairedCounts] | None,
    options: dict[str, Any],
    *,
    weighted: bool = False,
    errors: tuple[float, float] = (0.0, 0.0),
) -> CurveDifference:
    """Return the difference of two curves from their paired counts, however those were made.

    `at_pc` are the counts of positives and of negatives at the operating points with their ranges, which a simultaneous
    band needs; without them the band is pointwise. `errors` say by how much the cost of each curve can be too high.
    """
    effective = (steps.pos.effective, steps.neg.effective) if weighted else None
    discordant = _Discordant(*steps, effective, options, errors)
    more: dict[str, Any] = {}
    if at_pc is not None:
        more = {"simultaneous": True, "ranges": (at_pc[0].ranges, at_pc[1].ranges)}
    return CurveDifference(names, discordant.band(pc, **more), discordant)


def _p_text(p: float) -> str:
    """Return a p-value; those that lie beyond the last that is computed are said to."""
    return f"={p:.3g}" if p >= SMALLEST_P else f"<{SMALLEST_P:.0e}"


class _Sample:
    """Labels and several classifiers' scores of the same examples, checked once."""

    def __init__(self, y_true: Any, scores: Mapping[str, Any], pos_label: Any, sample_weight: Any) -> None:
        self.positive: BoolArray = counts.binary_labels(y_true, pos_label)
        size = self.positive.size
        self.weights = None if sample_weight is None else counts.checked_weights(sample_weight, size)
        counts.both_classes(self.positive, self.weights)
        self.scores = {}
        for name, values in scores.items():
            checked = counts.checked_scores(values, counts.score_of(name))
            counts.same_length(counts.score_of(name), checked, "y_true", size)
            self.scores[name] = checked

    def drop_weightless(self) -> None:
        """Leave out rows of weight 0: they say nothing."""
        if self.weights is not None and not self.weights.all():
            kept = self.weights > 0
            self.positive, self.weights = self.positive[kept], self.weights[kept]
            self.scores = {name: scores[kept] for name, scores in self.scores.items()}

    def roc(self, name: str, points: str = "all") -> RocCurve:
        """Return the ROC curve of one classifier."""
        return RocCurve.from_predictions(
            self.positive, self.scores[name], sample_weight=self.weights, name=name, points=points
        )

    def curve(self, name: str, policy: Any) -> CostCurve:
        """Return the cost curve of one classifier under a policy."""
        rule = as_policy(policy)
        return CostCurve(self.roc(name, "all" if rule.needs_all_points else "hull"), rule)

    def paired(self, a: CostCurve, b: CostCurve, pc: FloatArray, *, ranges: bool) -> tuple[PairedCounts, PairedCounts]:
        """Return the discordant positives and negatives at some operating points."""
        cuts = a.cuts_at(pc), b.cuts_at(pc)
        if self.weights is None and not ranges:
            return counts_of_both(self.positive, self.scores[a.name], self.scores[b.name], *cuts)
        pos, neg = (
            paired_counts(
                true_class,
                self.scores[a.name].take(members),
                self.scores[b.name].take(members),
                *cuts,
                weights=None if self.weights is None else self.weights.take(members),
                ranges=ranges,
            )
            for true_class, members in (
                ("positive", np.flatnonzero(self.positive)),
                ("negative", np.flatnonzero(~self.positive)),
            )
        )
        return pos, neg

    def difference(
        self, a: CostCurve, b: CostCurve, pc: FloatArray, options: dict[str, Any], *, simultaneous: bool = True
    ) -> CurveDifference:
        """Return the difference of two of the classifiers at some operating points."""
        at_pc = self.paired(a, b, pc, ranges=True) if simultaneous else None
        weighted = self.weights is not None
        return difference_of_counts((a.name, b.name), self.steps(a, b), pc, at_pc, options, weighted=weighted)

    def steps(self, a: CostCurve, b: CostCurve) -> PairedSteps:
        """Return the steps on which neither threshold moves, with the discordant positives and negatives on each."""
        breaks = common_breaks(a, b)
        within = middles(breaks)
        known = a.trivial_at(within) & b.trivial_at(within)
        return PairedSteps(breaks, known, *self.paired(a, b, within, ranges=False))


def _refuse_shared_validation(policy: Any, instead: str) -> None:
    """Refuse thresholds found on one classifier's scores for another, whose scores mean something else."""
    if isinstance(policy, Validation):
        raise InputError(f"`policy` must not give one classifier's thresholds to all, got {policy!r}: pass {instead}")


def two_policies(policy: Any) -> tuple[Any, Any]:
    """Return the policy of each of two classifiers."""
    _refuse_shared_validation(policy, "a pair of policies, one for each")
    if isinstance(policy, (tuple, list)):
        if len(policy) != 2:
            raise InputError(f"`policy` must be one policy or a pair of them, got {len(policy)}")
        return policy[0], policy[1]
    return policy, policy


def named_policies(policy: Any, names: Sequence[str]) -> Mapping[str, Any]:
    """Return the policy of each of several classifiers."""
    _refuse_shared_validation(policy, "a mapping of name to policy")
    rules = policy if isinstance(policy, Mapping) else dict.fromkeys(names, policy)
    if missing := [name for name in names if name not in rules]:
        raise InputError(f"`policy` must have an entry for every classifier, got none for {', '.join(missing)}")
    return rules


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ManyDifferences(Result):
    """All pairs of several classifiers, with limits that hold for all pairs and all conditions jointly.

    Attributes
    ----------
    names : tuple of str
    pairs : tuple of CurveDifference
        In the order of `itertools.combinations`.
    level : float
        The probability that every statement about every pair at every pc is right.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(500) < 0.4
    >>> spread = {"sharp": 0.6, "fair": 0.7, "dull": 5.0}
    >>> scores = {name: y + rng.normal(0, sd, 500) for name, sd in spread.items()}
    >>> cc.compare_many(y, scores)  # doctest: +ELLIPSIS
    Who costs less where (3 classifiers, 95 % over all pairs and all pc)
      'sharp' against 'fair': no significant difference at any pc
      'sharp' against 'dull': 'sharp' costs less for pc in (0.1..., 0.7...); undecided elsewhere
      'fair' against 'dull': 'fair' costs less for pc in (0.2..., 0.8...); undecided elsewhere
    """

    names: tuple[str, ...]
    pairs: tuple[CurveDifference, ...]
    level: float

    def pair(self, a: str, b: str) -> CurveDifference:
        """Return the comparison of two of the classifiers: the cost of `a` minus the cost of `b`."""
        for one in self.pairs:
            if one.names == (a, b):
                return one
            if one.names == (b, a):
                return one.reversed()
        raise InputError(f"`a` and `b` must be two of {', '.join(self.names)}, got {shown(a)} and {shown(b)}")

    @property
    def max_error(self) -> float:
        """By how much a difference can be wrong because scores were binned."""
        return max(one.max_error for one in self.pairs)

    def at(self, condition: Any) -> PairwiseTests:
        """Return all pairs at one condition, with Holm's adjustment of their p-values."""
        where = check_condition(condition)
        p = np.array([one.p_value(where.pc) for one in self.pairs])
        adjusted = at_cuts = holm(p)
        if self.max_error:
            at_cuts = holm(np.array([one.without_error().p_value(where.pc) for one in self.pairs]))
        alpha = 1 - self.level
        return PairwiseTests(
            tuple(one.names for one in self.pairs),
            where.pc,
            np.array([one.at(where.pc).estimate for one in self.pairs]),
            p,
            adjusted,
            alpha,
            (at_cuts <= alpha) & (adjusted > alpha),
            self.max_error,
        )

    def _columns(self) -> dict[str, Any]:
        rows = [
            (*one.names, low, high, better)
            for one in self.pairs
            for low, high, better in zip(*(one.significant()._columns().values()), strict=True)
        ]
        columns = list(zip(*rows, strict=True))
        return dict(zip(("a", "b", "pc_low", "pc_high", "better"), map(list, columns), strict=True))

    def __repr__(self) -> str:
        """Return one line a pair."""
        head = f"Who costs less where ({len(self.names)} classifiers, {100 * self.level:g} % over all pairs and all pc)"
        lines = [f"  {one.names[0]!r} against {one.names[1]!r}: {one.significant().text()}" for one in self.pairs]
        return "\n".join([head, *lines])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PairwiseTests(Result):
    """All pairs at one condition: differences of normalized cost, p-values, and Holm's adjusted ones.

    Where scores were binned, differences can be wrong by up to `max_error`, p-values are the largest that this allows,
    and `unsettled` says which pairs would be significant without it.

    Examples
    --------
    >>> import numpy as np
    >>> import costcurves as cc
    >>> rng = np.random.default_rng(0)
    >>> y = rng.random(300) < 0.4
    >>> scores = {"sharp": y + rng.normal(0, 0.6, 300), "dull": rng.normal(0, 1, 300)}
    >>> cc.compare_many(y, scores).at(0.5)
    Pairs at pc=0.5, significant at 0.05 after Holm's adjustment
      'sharp' - 'dull': -0.283, p=1.82e-12 (adjusted 1.82e-12), significant
    """

    pairs: tuple[tuple[str, str], ...]
    pc: float
    difference: FloatArray
    p_value: FloatArray
    adjusted: FloatArray
    alpha: float
    unsettled: BoolArray
    max_error: float = 0.0

    def __post_init__(self) -> None:
        """Set the arrays read-only."""
        for array in (self.difference, self.p_value, self.adjusted, self.unsettled):
            frozen(array)

    @property
    def significant(self) -> BoolArray:
        """Which pairs differ, with family-wise error at most alpha."""
        return frozen(self.adjusted <= self.alpha)

    def _columns(self) -> dict[str, Any]:
        return {
            "a": [a for a, _ in self.pairs],
            "b": [b for _, b in self.pairs],
            "difference": self.difference,
            "p_value": self.p_value,
            "adjusted": self.adjusted,
            "significant": self.significant,
        }

    def __repr__(self) -> str:
        """Return one line a pair."""
        lines = [
            f"  {a!r} - {b!r}: {d:.3g}, p{_p_text(p)} (adjusted {_p_text(q).lstrip('=')}), "
            + ("significant" if s else UNSETTLED if u else "not significant")
            for (a, b), d, p, q, s, u in zip(
                self.pairs, self.difference, self.p_value, self.adjusted, self.significant, self.unsettled, strict=True
            )
        ]
        head = f"Pairs at pc={self.pc:.3g}, significant at {self.alpha:.3g} after Holm's adjustment"
        return "\n".join([head, *lines])


@one_question()
def compare_many(
    y_true: Any,
    scores: Mapping[str, Any],
    *,
    pos_label: Any = None,
    sample_weight: Any = None,
    policy: Any = "optimal",
    level: float = 0.95,
    method: str = "mid-p",
    pc: Any = None,
    rng: Any = 0,
) -> ManyDifferences:
    """Return all pairs of classifiers with limits that hold over all pairs and all conditions jointly.

    Parameters
    ----------
    y_true : array-like of shape (n,)
    scores : mapping of name to array-like of shape (n,), or dataframe
    policy : policy, or mapping of name to policy
    level : float in (0, 1)
        The family-wise level: the chance that no statement about any pair at any pc is wrong.
    method : str
        As for `compare`.
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, as for `compare`. The time grows with the square of their number times that of classifiers.
    pos_label, sample_weight
        As for `RocCurve.from_predictions`. With weights, limits have the effective sample sizes (Σw)²/Σw² of the
        classes; methods "exact" and "resample" refuse them.
    rng
        The seed of the simulated critical value.

    Notes
    -----
    The largest standardised difference over pairs and points is simulated from the joint normal limit of all error
    rates (max-t). Two classifiers are one pair, and the answer is that of `compare`. For pairs at one condition,
    `ManyDifferences.at` adjusts their p-values by Holm's method.

    Examples
    --------
    >>> import costcurves as cc
    >>> many = cc.compare_many([0, 1, 0, 1, 1, 0], {"a": [1, 3, 2, 4, 2, 1], "b": [1, 2, 1, 2, 2, 1]})
    >>> many.pair("a", "b").significant().decided
    False
    """
    scores = columns_of("scores", scores)
    if len(scores) < 2:
        raise InputError(f"`scores` must have two classifiers or more, got {len(scores)}")
    names = tuple(check_name("scores", name) for name in scores)
    level = check_level(level)
    check_rng(rng)
    sample = _Sample(y_true, scores, pos_label, sample_weight)
    points = operating_points(pc)
    rules = named_policies(policy, names)
    curves = [sample.curve(name, rules[name]) for name in names]
    if len(curves) == 2:
        options = {"level": level, "method": method, "rng": rng}
        return ManyDifferences(names, (sample.difference(curves[0], curves[1], points, options),), level)
    thresholds = np.stack([curve.cuts_at(points) for curve in curves], axis=1)
    masks = {"positive": sample.positive, "negative": ~sample.positive}
    both = []
    for which, mask in masks.items():
        table = np.stack([sample.scores[name][mask].astype(np.float64) for name in names], axis=1)
        weights = None if sample.weights is None else sample.weights[mask]
        both.append(co_errors(which, table, thresholds, weights=weights))
    steps = {(a.name, b.name): sample.steps(a, b) for a, b in combinations(curves, 2)}
    weighted = sample.weights is not None
    return differences_of_counts(
        names, steps, (both[0], both[1]), points, weighted=weighted, level=level, method=method, rng=rng
    )


def differences_of_counts(
    names: tuple[str, ...],
    steps: Mapping[tuple[str, str], PairedSteps],
    both_wrong: tuple[FloatArray, FloatArray],
    pc: FloatArray,
    *,
    weighted: bool = False,
    errors: Mapping[str, float] | None = None,
    level: float = 0.95,
    method: str = "mid-p",
    rng: Any = 0,
) -> ManyDifferences:
    """Return all pairs of several classifiers from their counts, however those were made.

    `steps` has the paired counts of each pair; `both_wrong` what two classifiers at two operating points both get
    wrong, of positives and of negatives; `errors` by how much the cost of each classifier can be too high.
    """
    level = check_level(level)
    classes = next((one.pos, one.neg) for one in steps.values())
    sizes = [part.effective if weighted else part.total for part in classes]
    scaled = [wrong * (n / part.total) for wrong, n, part in zip(both_wrong, sizes, classes, strict=True)]
    z = family_critical(scaled[0], sizes[0], scaled[1], sizes[1], pc, level, rng=rng)
    pairs = []
    for pair in combinations(names, 2):
        effective = (steps[pair].pos.effective, steps[pair].neg.effective) if weighted else None
        both = (0.0, 0.0) if errors is None else (errors[pair[0]], errors[pair[1]])
        options = {"level": level, "method": method, "rng": rng}
        discordant = _Discordant(*steps[pair], effective, options, both)
        pairs.append(CurveDifference(pair, discordant.band(pc, critical_value=z), discordant))
    return ManyDifferences(names, tuple(pairs), level)


def average_band(curves: Any, *, kind: str = "between", level: float = 0.95, pc: Any = None, **options: Any) -> Band:
    """Return a band for the mean cost curve of several folds.

    Parameters
    ----------
    curves : sequence of CostCurve or RocCurve
        One for each fold.
    kind : {"between", "within"}
        ``"between"``: Student's interval from how the folds differ; how much would the mean move with other training
        and test folds (training sets overlap, so it is somewhat too narrow). ``"within"``: what the test examples
        alone say about the mean cost of these very classifiers; the variation of training is not in it.
    level : float in (0, 1)
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, increasing; by default 0, 0.01, ..., 1. A range stands for 101 evenly spaced points of it.
    **options
        For ``kind="within"``: `method` ("wilson" or "gaussian") and `simultaneous`.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = [[[80, 20], [5, 15]], [[90, 10], [8, 12]]]
    >>> folds = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    >>> cc.average_band(folds, kind="within").at(0.5)
    Interval(0.2375 in [0.1718, 0.3198], level=0.95)
    """
    check_choice("kind", kind, ("between", "within"))
    listed = as_cost_curves(curves)
    points = operating_points(pc)
    if kind == "between":
        if options:
            raise InputError(f"`kind='between'` must have no further options, got {', '.join(options)}")
        return _between_folds(listed, points, level).evaluated_by(partial(_between_folds_at, listed, level))
    known = ("method", "simultaneous", "sampling", "laplace")
    if strange := [name for name in options if name not in known]:
        raise InputError(f"`kind='within'` must have no options but {', '.join(known)}, got {', '.join(strange)}")
    check_flag("simultaneous", options.get("simultaneous", False))
    band = _within_folds(listed, points, {"level": level, **options})
    if band.simultaneous:
        options["critical_value"] = band.critical
    return band.evaluated_by(partial(_within_folds_at, listed, points, {"level": level, **options}))


def _between_folds(curves: list[CostCurve], pc: FloatArray, level: float) -> Band:
    """Return the band of the mean curve from how the folds differ."""
    errors = [curve.max_error for curve in curves]
    return between_folds_band([curve.evaluate(pc) for curve in curves], pc, level=level, max_error=errors)


def _between_folds_at(curves: list[CostCurve], level: float, pc: float) -> tuple[float, ...]:
    """Return (estimate, lower, upper) at one pc, from how the folds differ there."""
    band = _between_folds(curves, np.array([pc]), level)
    return float(band.estimate[0]), float(band.lower[0]), float(band.upper[0])


def _within_folds(curves: list[CostCurve], pc: FloatArray, options: dict[str, Any]) -> Band:
    """Return the band of the mean curve from the test examples of each fold."""
    errors = [curve.errors_at(pc) for curve in curves]
    rocs = [curve.roc for curve in curves if curve.roc is not None]
    return within_folds_band(
        [fn for fn, _ in errors],
        [roc.n_pos for roc in rocs],
        [fp for _, fp in errors],
        [roc.n_neg for roc in rocs],
        pc,
        known=np.all([curve.trivial_at(pc) for curve in curves], axis=0),
        **options,
    ).with_error(float(np.mean([curve.max_error for curve in curves])))


def _within_folds_at(
    curves: list[CostCurve], points: FloatArray, options: dict[str, Any], pc: float
) -> tuple[float, ...]:
    """Return (estimate, lower, upper) at one pc of the band over some points, as if it had been among them."""
    band = _within_folds(curves, np.union1d(points, [pc]), options)
    i = int(np.searchsorted(band.pc, pc))
    return float(band.estimate[i]), float(band.lower[i]), float(band.upper[i])
