"""Cost curves: the normalized expected cost of a classifier at every operating condition, and bands for it."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError, UnsupportedError
from costcurves._base.frames import AnyFrame, source_of_frame
from costcurves._base.results import jsonable
from costcurves._base.text import error_text
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    MOST_POINTS,
    Column,
    FloatArray,
    OnNull,
    Rng,
    Sampling,
    check_choice,
    check_flag,
    check_instance,
    check_integer,
    check_laplace,
    check_name,
    check_rng,
    shown,
)
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.conditions.range import Beta, GridLike
from costcurves.counting.class_labels import Label
from costcurves.counting.counts import UNNAMED
from costcurves.counting.labels import checked_cases
from costcurves.curves.cost_bands import ChosenBand, given_band
from costcurves.curves.cost_function import CostLines
from costcurves.curves.cost_measures import CostMeasures
from costcurves.curves.differences import Advantage, Crossings, Difference, PcIntervals, RangeLimits, below_trivial
from costcurves.curves.policy import HasRocCurve
from costcurves.curves.roc import LATER, RocCurve
from costcurves.curves.thresholds import PolicyLike, as_policy
from costcurves.inference.bands.critical import trivial_critical
from costcurves.inference.bands.error_rates import nested_counts
from costcurves.inference.bands.methods import BAND_METHODS, BandMethodName
from costcurves.inference.bands.one_curve import cost_distribution, reoptimised_band
from costcurves.inference.bands.results import Band, operating_points
from costcurves.inference.kernel.distribution import BootstrapDistribution


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class CostCurve(CostMeasures):
    """Normalized expected cost of a classifier at every operating condition, under a threshold policy.

    The curve is linear in pc between breaks: on step i it is ``pc·fnr[i] + (1-pc)·fpr[i]``.

    Parameters
    ----------
    source : RocCurve, or anything with ``to_roc_curve()`` (a RocHull, an averaged ROC curve)
        The ROC points.
    policy : "optimal", "crossfit", "bayes", a number, or a policy from `costcurves.thresholds`
        How the threshold follows pc. ``"optimal"`` is the lower envelope of all cost lines on the same data, which is
        optimistic; ``"crossfit"`` judges each case at the threshold that is best without the case's fold.
    name : str, optional
        By default the name of the source.

    Attributes
    ----------
    breaks : array of shape (m + 1,)
        Where the threshold changes, from 0 to 1; step i is used for pc in (breaks[i], breaks[i+1]].
    fpr, fnr, thresholds : arrays of shape (m,)
        Rates and threshold of each step; of cross-fitted thresholds, the one that all cases choose together.
    max_error : float
        The most by which a cost can be too high at any pc because scores were binned, so that a better threshold may
        lie within a bin; 0 if scores were not binned, and for policies that do not choose thresholds on these data.
        The rates at the thresholds of the curve are exact.

    Notes
    -----
    Holte & Drummond (2005). A ROC point (fpr, tpr) is the line from (0, fpr) to (1, 1 - tpr); the ROC convex hull is
    the lower envelope of the lines.

    Examples
    --------
    >>> import costcurves as cc
    >>> roc = cc.RocCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], name="forest")
    >>> curve = cc.CostCurve(roc)
    >>> curve
    CostCurve('forest': 3 vertices, best threshold by pc, area=0.125)
    >>> curve.vertices.round(4).tolist()
    [[0.0, 0.0], [0.5, 0.25], [1.0, 0.0]]
    """

    def __init__(
        self, source: RocCurve | HasRocCurve, policy: PolicyLike = "optimal", *, name: str | None = None
    ) -> None:
        roc = source.to_roc_curve() if hasattr(source, "to_roc_curve") else source
        if not isinstance(roc, RocCurve):
            raise InputError(
                f"`source` must be a RocCurve or a RocHull, got {shown(source)} ({type(source).__name__}): "
                "for labels and scores use from_predictions"
            )
        rule = as_policy(policy)
        steps = rule.steps(roc)
        misses, alarms = steps.errors(roc)
        self._set(
            name=check_name("name", roc.name if name is None else name),
            policy=rule,
            breaks=steps.breaks,
            fpr=alarms / roc.n_neg,
            fnr=misses / roc.n_pos,
            thresholds=steps.thresholds,
            roc=roc,
            max_error=roc.max_error if rule.chosen_here else 0.0,
            _steps=steps,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: Column,
        y_score: npt.ArrayLike,
        *,
        pos_label: Label | None = None,
        sample_weight: npt.ArrayLike | None = None,
        name: str = UNNAMED,
        policy: PolicyLike = "optimal",
    ) -> CostCurve:
        """Return the cost curve of labels and scores; with the optimal policy, without sorting all scores.

        Parameters
        ----------
        y_true, y_score, pos_label, sample_weight, name
            As for `RocCurve.from_predictions`.
        policy : policy
            As for `CostCurve`.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.CostCurve.from_predictions([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8]).evaluate(0.5)
        0.25
        """
        rule = as_policy(policy)
        cases = checked_cases(y_true, y_score, pos_label, sample_weight, name)
        every = rule.needs_all_points and not rule.cross_fits
        roc = RocCurve.of_checked(*cases, name=name, points="all" if every else LATER)
        return cls(roc, rule.for_cases(*cases))

    @classmethod
    def from_frame(
        cls,
        frame: AnyFrame,
        *,
        label: str,
        score: str,
        weight: str | None = None,
        pos_label: Label | None = None,
        name: str | None = None,
        policy: PolicyLike = "optimal",
        on_null: OnNull = "refuse",
    ) -> CostCurve:
        """Return the cost curve of a column of labels and a column of scores, from a dataframe of any library.

        Parameters
        ----------
        frame, label, score, weight, pos_label, name, on_null
            As for `RocCurve.from_frame`.
        policy : policy
            As for `CostCurve`. The optimal policy takes bounded memory; others need all distinct scores in memory.

        Examples
        --------
        >>> import costcurves as cc
        >>> import polars as pl
        >>> df = pl.LazyFrame({"y": [0, 0, 1, 1], "p": [0.1, 0.4, 0.35, 0.8]})
        >>> cc.CostCurve.from_frame(df, label="y", score="p").evaluate(0.5)
        0.25
        """
        name = score if name is None else check_name("name", name)
        rule, options = as_policy(policy), {"weight": weight, "pos_label": pos_label, "on_null": on_null}
        opened = source_of_frame(frame, label=label, scores={"score": [score]}, **options)
        found: CostCurve = opened.curve(score, rule)
        return found.renamed(name)

    @classmethod
    def _from_pieces(
        cls, name: str, breaks: FloatArray, fpr: FloatArray, fnr: FloatArray, max_error: float = 0.0
    ) -> CostCurve:
        """Return a curve that does not belong to one classifier, such as an average."""
        curve = object.__new__(cls)
        unknown = {"policy": None, "roc": None, "_steps": None, "thresholds": np.full(fpr.size, np.nan)}
        curve._set(name=check_name("name", name), breaks=breaks, fpr=fpr, fnr=fnr, max_error=max_error, **unknown)
        return curve

    def renamed(self, name: str) -> CostCurve:
        """Return the same curve under another name."""
        curve = copy(self)
        curve._set(name=check_name("name", name))
        return curve

    def lines(self) -> CostLines:
        """Return the cost lines of all ROC points behind the curve."""
        roc = self._need_roc("lines")
        return CostLines(self.name, roc.thresholds, roc.fpr, roc.fnr)

    def operating_range(self) -> PcIntervals:
        """Return the range of pc in which the classifier costs strictly less than both trivial classifiers.

        Outside it, always predicting the same class is at least as good, and the classifier should not be used.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.CostCurve(cc.RocCurve.from_rates(fpr=0.1, tpr=0.6)).operating_range()
        PcIntervals((0.143, 0.692))
        """
        return below_trivial(self)

    def operating_range_limits(self, *, level: float = DEFAULT_LEVEL, pc: GridLike | None = None) -> RangeLimits:
        """Return where the classifier is significantly cheaper than both trivial ones, and where it may be.

        Parameters
        ----------
        level : float in (0, 1)
            The probability with which the statements about all points of `pc` hold together.
        pc : array-like, OperatingRange or OperatingCondition, optional
            Operating points, increasing; by default 0, 0.01, ..., 1.

        Notes
        -----
        The statements are about the thresholds of the policy. Where these were chosen on the same cases
        (policies "optimal" and "product"), the critical value is at least that at which a useless score, with these
        ties and class frequencies, is called useful with probability 1 - `level` (`trivial_critical`); this needs a
        curve with all points. See `RangeLimits` for measurements.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_predictions([0] * 40 + [1] * 40, [*range(40), *range(25, 65)], name="scores")
        >>> cc.CostCurve(roc).operating_range_limits()
        RangeLimits('scores' is useful for pc in (0, 1); 95 %: surely (0.16, 0.84), at most (0, 1))
        """
        points = operating_points(pc)
        band = self.band(level=level, simultaneous=True, pc=points, method="wilson")
        if self.policy is not None and self.policy.looks:
            roc = self._all_thresholds("operating_range_limits")
            if roc.made_from != "counts":
                raise UnsupportedError(f"`operating_range_limits` needs whole counts, got {self.name!r} with weights")
            z = trivial_critical(np.diff(roc.fp) + np.diff(roc.tp), int(roc.n_pos), points, level)
            if z > band.critical:
                band = given_band(self, points, {"level": level, "critical_value": z})
        return RangeLimits.of(self, band, self.trivial_at(points))

    def resampled(self, n_resamples: int = 100, *, rng: Rng = 0) -> tuple[CostCurve, ...]:
        """Return the cost curves of resampled test sets at the same thresholds (2005, figure 12).

        Parameters
        ----------
        n_resamples : int
        rng : numpy.random.Generator, int or None, default 0

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="tree")
        >>> lines = cc.CostCurve(roc, policy=cc.thresholds.point(1)).resampled(3)
        >>> [round(line.evaluate(0.5), 3) for line in lines]
        [0.175, 0.325, 0.325]
        """
        n_pos, n_neg, effective = self.sizes("resampled")
        if effective is not None:
            raise UnsupportedError(f"`resampled` needs whole counts, got {self.name!r} made from weights")
        size, generator = check_integer("n_resamples", n_resamples, 1, MOST_POINTS), check_rng(rng)
        miss = nested_counts(self.fnr, int(n_pos), size, generator) / n_pos
        alarm = nested_counts(self.fpr, int(n_neg), size, generator) / n_neg
        return tuple(
            CostCurve._from_pieces(self.name, self.breaks, fpr, fnr) for fpr, fnr in zip(alarm, miss, strict=True)
        )

    def crossings(self, other: CostCurve) -> Crossings:
        """Return the pc at which the cheaper of the two curves changes.

        Curves that touch without changing sides do not cross; costs closer than 1e-12 count as equal. If the curves
        coincide between two stretches with different winners, the crossing is the middle of that stretch.
        """
        return Difference(self, check_instance("other", other, CostCurve)).crossings()

    def better_than(self, other: CostCurve) -> Advantage:
        """Return where this curve costs less than the other, and by how much."""
        return Difference(self, check_instance("other", other, CostCurve)).advantage()

    def band(
        self,
        *,
        level: float = DEFAULT_LEVEL,
        method: BandMethodName | Literal["chosen"] | None = None,
        sampling: Sampling = "stratified",
        simultaneous: bool = False,
        pc: GridLike | None = None,
        laplace: float = 0.0,
        prevalence_uncertainty: Beta | None = None,
        reoptimise: bool = False,
        n_resamples: int = 2000,
        rng: Rng = 0,
    ) -> Band:
        """Return a confidence band for the cost on new cases at each condition.

        Parameters
        ----------
        level : float in (0, 1)
            Confidence level: at each pc, or at all points of `pc` jointly if `simultaneous`.
        method : {"chosen", "wilson", "gaussian", "exact", "resample"}, optional
            "chosen" allows for the choice of the thresholds on the same cases (policies "optimal" and "crossfit"). The
            other methods take the thresholds as given: "wilson" combines Wilson intervals of the two rates, and holds
            its level even with few errors; "gaussian" is the normal interval of the 2008 paper; "exact" takes quantiles
            of the exact bootstrap distribution; "resample" takes those of resamples, as in the 2005 paper. The default
            is "chosen" where the thresholds were chosen on these cases, and "wilson" elsewhere.
        sampling : {"stratified", "full"}
            Whether the class frequencies are fixed, or vary as in another sample of this size.
        simultaneous : bool
            Whether the band must hold at all points of `pc` jointly.
        pc : array-like, OperatingRange or OperatingCondition, optional
            Operating points, increasing; by default 0, 0.01, ..., 1. For a range, 101 evenly spaced points are used.
        laplace : float
            A number that is added to each cell of the counts.
        prevalence_uncertainty : Beta, optional
            The distribution of a deployment prevalence that is not known exactly (not with "exact"). Each pc then
            stands for the costs that give it at the mean of the Beta; the limits are those of the cost per case, in
            units of what getting every case wrong costs at that mean. Conditions that the band is asked about must have
            that mean as their prevalence. ``sampling="full"`` then describes a sample of this size from the population
            on which the classifier will be used.
        reoptimise : bool
            Whether to choose the threshold anew in every resample (policy "optimal" only). Such a band shows how an
            optimistic estimate varies. It lies too low, and is not a more honest interval.
        n_resamples : int
            The number of resamples, for "resample" and `reoptimise`.
        rng : numpy.random.Generator, int or None, default 0
            A generator, or the seed of one, for the same. By default the answer is the same each time; None draws
            fresh numbers.

        Notes
        -----
        Thresholds that were chosen for their cost on these cases look cheaper than they are. "chosen" is about their
        cost on new cases: the estimate lies above the observed cost, which `evaluate` gives, and the limits allow for
        the choice. Asked at one condition (`at`) of unweighted data in memory, it agrees with `recommend` for this
        classifier alone; along a curve, 25 operating points are studied by common draws, and the others lie between.
        The upper limits of a joint band move by six tenths of what those of a pointwise one do. In simulations (normal,
        t, exponential and beta scores, ties, 60 to 3,000 cases, 5 to 50 % positives), 0 to 3 % of true costs lay above
        the limits at nominal 2.5 %, where "wilson" left 2 to 13 % above; 1 to 6 % of joint bands had a true cost above
        them somewhere, and those of "wilson" 4 to 19 %. A curve that has only the points of its hull (files, lazy
        frames, more than 65,536 rows) is treated as if all cases between two points had different scores, and with
        weights, also equal ones, the estimate lacks the part that is found on held-out cases; the page on certainty
        shows how much that changes. If scores were binned, a threshold within a bin may cost up to `max_error` less on
        these data, and the lower limits are lower by that.

        At conditions where the policy predicts the same class for every case, whatever its score (`trivial_at`),
        nothing is estimated, and both limits are the cost itself (with `prevalence_uncertainty`, only the prevalence is
        uncertain there). A threshold that raises no alarm on these data may still raise one on others, so that its cost
        has limits.

        Examples
        --------
        The confusion matrix of Holte & Drummond (2005): 16 of 20 positives and 6 of 10 negatives right.

        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="tree")
        >>> band = cc.CostCurve(roc, policy=cc.thresholds.point(1)).band(level=0.9)
        >>> band.at(0.5)
        Interval(0.3 in [0.1841, 0.4529], level=0.9)
        >>> band.at(cc.OperatingCondition(prevalence=0.5, cost_fp=10, cost_fn=10)).money
        Interval(3 in [1.841, 4.529], level=0.9)

        With the best threshold for each condition, no case is predicted positive at pc = 0.05:

        >>> cc.CostCurve(roc).band(level=0.9).at(0.05)
        Interval(0.05 in [0.05, 0.05], level=0.9)
        """
        points = operating_points(pc)
        n_pos, n_neg, effective = self.sizes("band")
        options: dict[str, Any] = {"level": level, "n_resamples": n_resamples, "rng": rng}
        simultaneous = check_flag("simultaneous", simultaneous)
        if check_flag("reoptimise", reoptimise):
            roc = self._need_roc("band")
            usual = method in (None, "resample") and sampling == "stratified" and laplace == 0
            if simultaneous or not usual or prevalence_uncertainty is not None:
                raise InputError(
                    "`reoptimise` must come without `simultaneous`, `sampling`, `laplace`, `prevalence_uncertainty` "
                    "and methods other than 'resample', got one of them"
                )
            if self.policy is None or not self.policy.chosen_here or effective is not None:
                raise InputError(f"`reoptimise` must come with policy='optimal' and whole counts, got {self.policy!r}")
            if roc.max_error:
                raise UnsupportedError(
                    f"`reoptimise` needs scores that were not binned, got {self.name!r} with "
                    f"max_error {roc.max_error:.2g}"
                )
            return reoptimised_band(roc.n_pos - roc.tp, int(n_pos), roc.fp, int(n_neg), points, **options)
        if prevalence_uncertainty is not None:
            check_instance("prevalence_uncertainty", prevalence_uncertainty, Beta)
        beta = None if prevalence_uncertainty is None else (prevalence_uncertainty.a, prevalence_uncertainty.b)
        options |= {"sampling": sampling, "prevalence_uncertainty": beta, "simultaneous": simultaneous}
        if method is not None:
            check_choice("method", method, ("chosen", *BAND_METHODS))
        chosen = self._chosen_band(options)
        if method == "chosen" and chosen is None:
            raise InputError(
                f"`method` 'chosen' must come with thresholds that are chosen on the same cases, got {self.policy!r}"
            )
        if chosen is not None and method in (None, "chosen"):
            if check_laplace(laplace):
                raise InputError(
                    f"`laplace` must be 0 unless a method that takes the thresholds as given is named, such as "
                    f"method='wilson', got {laplace:g}"
                )
            return chosen.over(points, simultaneous=simultaneous)
        return given_band(self, points, options | {"method": method or "wilson", "laplace": laplace})

    def _chosen_band(self, options: dict[str, Any]) -> ChosenBand | None:
        """Return what makes bands of thresholds that were chosen on the same cases, if these were."""
        if self.policy is None or not (self.policy.chosen_here or self.policy.cross_fits):
            return None
        if self.policy.cross_fits:
            return ChosenBand(CostCurve(self._need_roc("band")), options, self)
        return ChosenBand(self, options)

    def distribution(
        self, condition: ConditionLike, *, sampling: Sampling = "stratified", laplace: float = 0.0
    ) -> BootstrapDistribution:
        """Return the exact bootstrap distribution of the normalized cost at a condition, at the threshold used there.

        Examples
        --------
        >>> import costcurves as cc
        >>> roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="tree")
        >>> dist = cc.CostCurve(roc, policy=cc.thresholds.point(1)).distribution(0.5)
        >>> dist
        BootstrapDistribution(mean=0.3, std=0.0894, 41 atoms)
        >>> dist.quantile([0.05, 0.95]).round(3).tolist()
        [0.15, 0.45]
        """
        where = np.array([check_condition(condition).pc])
        n_pos, n_neg, effective = self.sizes("distribution")
        if effective is not None:
            raise UnsupportedError(f"`distribution` needs whole counts, got {self.name!r} made from weights")
        fn, fp = self.errors_at(where)
        known = bool(self.trivial_at(where)[0])
        return cost_distribution(fn, fp, int(n_pos), int(n_neg), where, sampling=sampling, laplace=laplace, known=known)

    def _columns(self) -> dict[str, Any]:
        return {
            "name": [self.name] * self.fpr.size,
            "pc_low": self.breaks[:-1],
            "pc_high": self.breaks[1:],
            "fpr": self.fpr,
            "fnr": self.fnr,
            "threshold": self.thresholds,
            "cost_low": self.breaks[:-1] * self.fnr + (1 - self.breaks[:-1]) * self.fpr,
            "cost_high": self.breaks[1:] * self.fnr + (1 - self.breaks[1:]) * self.fpr,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the steps as plain Python values that `json.dumps` takes."""
        table = self._columns()
        del table["name"]
        return {
            "name": self.name,
            "policy": None if self.policy is None else repr(self.policy),
            "steps": jsonable(table),
            "max_error": self.max_error,
        }

    def __repr__(self) -> str:
        how = "average" if self.policy is None else self.policy.in_words
        error = error_text(self.max_error)
        return f"CostCurve({self.name!r}: {self.vertices.shape[0]} vertices, {how}, area={self.area():.3g}{error})"


def both_bands(curve: CostCurve, pc: FloatArray, *, level: float, rng: Rng) -> tuple[Band, Band]:
    """Return the pointwise and the joint band of a curve; how the choice of thresholds moves both is studied once."""
    chosen = curve._chosen_band({"level": level, "rng": rng})
    if chosen is not None:
        return chosen.both(pc)
    return curve.band(level=level, pc=pc), curve.band(level=level, pc=pc, simultaneous=True, rng=rng)


# A cost curve, or what stands for its own lower envelope.
CurveLike = CostCurve | RocCurve | HasRocCurve


def as_cost_curve(curve: CurveLike, what: str = "curves") -> CostCurve:
    """Return a cost curve; a ROC curve or a hull becomes its lower envelope."""
    if isinstance(curve, CostCurve):
        return curve
    if isinstance(curve, RocCurve) or hasattr(curve, "to_roc_curve"):
        return CostCurve(curve)
    raise InputError(f"`{what}` must be cost curves or ROC curves, got {shown(curve)} ({type(curve).__name__})")
