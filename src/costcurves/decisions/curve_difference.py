"""The difference in cost of two classifiers at every operating condition, with limits and verdicts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypedDict

import numpy as np

from costcurves._base.errors import UnsupportedError
from costcurves._base.results import Result
from costcurves._base.text import level_text
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    BoolArray,
    FloatArray,
    Rng,
    Sampling,
    check_resampling,
    frozen,
    is_among,
    seed_of,
)
from costcurves.conditions.condition import ConditionLike, check_condition
from costcurves.curves.chosen import Both, Optimism, Told, allowing, chosen_here, looks_dearer
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.cost_function import CostFunction
from costcurves.curves.differences import Crossings, Difference, PcIntervals
from costcurves.decisions.all_pairs import PairedSteps
from costcurves.decisions.rows import Paired, Source, told_curves
from costcurves.inference.bands.results import DifferenceInterval, computed_by
from costcurves.inference.kernel.distribution import BootstrapDistribution, exact_distribution
from costcurves.inference.paired.bands import DifferenceBand, difference_band
from costcurves.inference.paired.limits import difference_strata
from costcurves.inference.paired.rates import PairedMethodName
from costcurves.inference.unpaired import Judged, UnpairedBand, unpaired_band, unpaired_strata

UNDECIDED = "undecided"
UNSETTLED = "not settled: binning error"
NO_VERDICT = (UNDECIDED, UNSETTLED)


class DifferenceOptions(TypedDict, total=False):
    """How the limits of a difference are found; see `compare`."""

    level: float
    method: PairedMethodName
    sampling: Sampling
    laplace: float
    n_resamples: int
    rng: Rng


def difference_options(
    *,
    level: float = DEFAULT_LEVEL,
    method: PairedMethodName = "mid-p",
    sampling: Sampling = "stratified",
    laplace: float = 0.0,
    n_resamples: int = 2000,
    rng: Rng = 0,
) -> dict[str, Any]:
    """Return the options with their defaults."""
    options = dict(locals())
    check_resampling(n_resamples, rng)
    return options


@dataclass(frozen=True, slots=True, eq=False)
class Discordant:
    """The examples that only one of two classifiers gets wrong, on every step of pc on which they do not change."""

    steps: PairedSteps | Callable[[], PairedSteps]  # which may be counted when they are needed
    effective: tuple[float, float] | None
    options: dict[str, Any]
    both: Both
    errors: tuple[float, float] = (0.0, 0.0)  # by how much each cost can be too high

    def __post_init__(self) -> None:
        """Replace a generator by a seed, so that every question is answered from the same resamples."""
        rng = self.options.get("rng")
        if is_among(self.options.get("method"), ("resample",)):
            object.__setattr__(self, "options", self.options | {"rng": seed_of(rng)})

    @property
    def counted(self) -> PairedSteps:
        """The counts on every step."""
        return self.steps if isinstance(self.steps, PairedSteps) else self.steps()

    def reversed(self) -> Discordant:
        """Return the counts with the two classifiers in the other order."""
        breaks, known, pos, neg = self.counted
        steps = PairedSteps(breaks, known, pos.reversed(), neg.reversed())
        return replace(self, steps=steps, both=self.both[::-1], errors=self.errors[::-1])

    def distribution(self, pc: FloatArray) -> BootstrapDistribution:
        """Return the exact bootstrap distribution at one operating point."""
        if self.effective is not None:
            raise UnsupportedError("`distribution` needs whole counts, got weighted examples")
        breaks, _, pos, neg = self.counted
        step = np.searchsorted(breaks[1:-1], pc, side="left")
        counts = tuple(c[step].astype(np.float64) for kind in (pos, neg) for c in (kind.only_a, kind.only_b))
        sampling, laplace = self.options.get("sampling", "stratified"), self.options.get("laplace", 0.0)
        return exact_distribution(difference_strata(counts, (pos.total, neg.total), pc, sampling, laplace))

    def crossings(self, names: tuple[str, str]) -> Crossings:
        """Return where the cheaper of the two changes on these data."""
        told = [one.cross_fitted[1] for one in self.both if one.cross_fitted is not None]
        if told:
            return told[0].renamed(names[0]).crossings(told[1].renamed(names[1]))
        breaks, _, pos, neg = self.counted
        nets = [(kind.only_a - kind.only_b) / kind.total for kind in (neg, pos)]
        net = CostFunction(names[0], breaks, nets[0], nets[1], max(self.errors))
        return Difference(net, CostFunction(names[1], np.array([0.0, 1.0]), np.zeros(1), np.zeros(1), 0.0)).crossings()

    def band(self, pc: FloatArray, **more: Any) -> DifferenceBand:
        """Return the band of the difference at some operating points."""
        breaks, known, pos, neg = self.counted
        step = np.searchsorted(breaks[1:-1], pc, side="left")
        pos_a, pos_b, neg_a, neg_b = pos.only_a[step], pos.only_b[step], neg.only_a[step], neg.only_b[step]
        band = difference_band(
            pos_a,
            pos_b,
            pos.total,
            neg_a,
            neg_b,
            neg.total,
            pc,
            effective=self.effective,
            known=known[step],
            chosen=chosen_here(self.both),
            **self.options,
            **more,
        )
        dearer = looks_dearer(band.estimate, (pos_a, pos_b, neg_a, neg_b), (pos.total, neg.total))
        return allowing(band, self.both, dearer).with_errors(self.errors)


@dataclass(frozen=True, slots=True, eq=False)
class Unpaired:
    """Two curves whose classifiers were judged on independent test sets."""

    curves: tuple[CostCurve, CostCurve]
    options: dict[str, Any]
    errors: tuple[float, float] = (0.0, 0.0)

    def distribution(self, pc: FloatArray) -> BootstrapDistribution:
        """Return the exact bootstrap distribution at one operating point."""
        return exact_distribution(unpaired_strata(self.judged(pc), pc))

    def crossings(self, names: tuple[str, str]) -> Crossings:
        """Return where the cheaper of the two changes on these data."""
        first, second = (curve.renamed(name) for curve, name in zip(self.curves, names, strict=True))
        return first.crossings(second)

    def reversed(self) -> Unpaired:
        """Return the curves in the other order."""
        return replace(self, curves=self.curves[::-1], errors=self.errors[::-1])

    def judged(self, pc: FloatArray) -> tuple[Judged, Judged]:
        """Return the errors of both at some operating points."""
        judged = []
        for curve in self.curves:
            n_pos, n_neg, effective = curve.sizes("compare.from_curves")
            fn, fp = curve.errors_at(pc)
            which = {"known": curve.trivial_at(pc), "cuts": curve.threshold_at(pc)}
            judged.append(Judged.of(fn, n_pos, fp, n_neg, pc.size, effective=effective, **which))
        return judged[0], judged[1]

    def band(self, pc: FloatArray, **more: Any) -> UnpairedBand:
        """Return the band of the difference at some operating points."""
        both = Told(Optimism.of(self.curves[0])), Told(Optimism.of(self.curves[1]))
        band = unpaired_band(self.judged(pc), pc, chosen=chosen_here(both), **self.options, **more)
        return allowing(band, both, np.zeros(pc.size)).with_errors(self.errors)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CurveDifference(Result):
    """The cost of one classifier minus that of another at every condition, with limits.

    Below zero the first is cheaper.

    Attributes
    ----------
    names : (a, b)
        The two classifiers.
    pc, estimate, lower, upper, p_value : arrays
        The difference of normalized costs, its limits, and the p-value of equal costs at each point by itself.
    level, method, sampling, simultaneous
        How the limits were found.
    max_error : float
        The most by which the difference can be wrong, either way, because scores were binned. The limits are wider by
        it, p-values are the largest that it allows, and verdicts that it could overturn are not settled.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = {"negatives": [[50, 4], [6, 40]], "positives": [[8, 30], [2, 60]]}  # old's predictions by new's
    >>> diff = cc.compare.from_joint(**tables, names=("old", "new"))
    >>> diff
    CurveDifference('old' - 'new', 95 % simultaneous: 'new' costs less for pc in (0.19, 1); undecided elsewhere)
    >>> diff.at(0.5).p_value < 0.001
    True
    """

    names: tuple[str, str]
    band: DifferenceBand | UnpairedBand
    _discordant: Discordant | Unpaired

    @property
    def pc(self) -> FloatArray:
        """The operating points, increasing."""
        return self.band.pc

    @property
    def estimate(self) -> FloatArray:
        """The difference of normalized costs, first minus second."""
        return self.band.estimate

    @property
    def lower(self) -> FloatArray:
        """The lower limit at each point."""
        return self.band.lower

    @property
    def upper(self) -> FloatArray:
        """The upper limit at each point."""
        return self.band.upper

    @property
    def level(self) -> float:
        """The confidence level of the limits."""
        return self.band.level

    @property
    def simultaneous(self) -> bool:
        """Whether the limits hold at all points jointly."""
        return self.band.simultaneous

    @property
    def max_error(self) -> float:
        """The most by which the difference can be wrong because scores were binned."""
        return self.band.max_error

    @property
    def p_value(self) -> FloatArray:
        """The two-sided p-values of equal costs at each point, each taken by itself, without any adjustment."""
        return frozen(self._p_values(self.pc))

    def at(self, condition: ConditionLike) -> DifferenceInterval:
        """Return the difference with its limits and its p-value at one condition (or pc), and in money at a condition.

        The limits are those of the band, which are simultaneous by default. The p-value is that of this condition taken
        by itself.
        """
        interval = computed_by(self.band, self._band_at).at(condition)
        p_value = float(self._p_values(np.array([check_condition(condition).pc]))[0])
        return DifferenceInterval.of(interval, p_value, joint=self.simultaneous)

    def _p_values(self, pc: FloatArray) -> FloatArray:
        """Return the p-values of equal costs at some points."""
        return self._discordant.band(pc).p_values_at(pc)

    def _band_at(self, pc: FloatArray) -> DifferenceBand | UnpairedBand:
        """Return the band at other points, as if they had been among those of the band."""
        more = {"critical_value": self.band.critical} if self.simultaneous else {}
        return self._discordant.band(pc, **more)

    def without_error(self) -> CurveDifference:
        """Return the difference at the thresholds in use, which may not be the best ones if scores were binned.

        The counts at these thresholds are exact, so its limits and p-values have no binning error.
        """
        exact = replace(self._discordant, errors=(0.0, 0.0))
        more: dict[str, Any] = {"critical_value": self.band.critical} if self.simultaneous else {}
        return CurveDifference(self.names, exact.band(self.pc, **more), exact) if self.max_error else self

    def reversed(self) -> CurveDifference:
        """Return the same comparison with the two classifiers in the other order."""
        return CurveDifference((self.names[1], self.names[0]), self.band.reversed(), self._discordant.reversed())

    def distribution(self, condition: ConditionLike) -> BootstrapDistribution:
        """Return the exact bootstrap distribution of the difference of normalized costs at a condition.

        It is that of the comparison's `sampling` and `laplace`, conditional on the thresholds, and needs whole counts.

        Examples
        --------
        >>> import costcurves as cc
        >>> tables = {"negatives": [[50, 4], [6, 40]], "positives": [[8, 30], [2, 60]]}
        >>> dist = cc.compare.from_joint(**tables).distribution(0.5)
        >>> dist
        BootstrapDistribution(mean=0.15, std=0.0292, 401 atoms)
        >>> dist.quantile([0.025, 0.975]).round(3).tolist()
        [0.095, 0.21]
        """
        return self._discordant.distribution(np.array([check_condition(condition).pc]))

    def significant(self) -> Verdicts:
        """Say where the first is significantly better, where the second is, and where neither is shown to be.

        This needs simultaneous limits, because pointwise ones exclude zero somewhere far too often. A range begins and
        ends at points of the band, the only ones that were judged. A verdict that the binning of scores could overturn
        is ``"not settled: binning error"``.
        """
        parts = self.band.significant()
        who = {"a": self.names[0], "b": self.names[1], UNDECIDED: UNDECIDED, "unsettled": UNSETTLED}
        return Verdicts(
            np.array([part.low for part in parts]),
            np.array([part.high for part in parts]),
            tuple(who[part.better] for part in parts),
        )

    def crossings(self) -> CrossingLimits:
        """Return where the cheaper of the two changes, and the ranges of pc in which it may change.

        This needs simultaneous limits. Like these, it is conditional on the thresholds in use.

        Examples
        --------
        >>> import costcurves as cc
        >>> tables = {"negatives": [[70, 2], [20, 8]], "positives": [[10, 2], [20, 68]]}
        >>> cc.compare.from_joint(**tables, names=("bold", "careful")).crossings()
        CrossingLimits(seen at pc 0.5; 95 %: within (0.27, 0.73) with one)
        """
        found = self._discordant.crossings(self.names)
        parts = self.significant()
        better = (UNDECIDED, *parts.better, UNDECIDED)
        open_ones = [i for i, who in enumerate(parts.better) if who not in self.names]
        before, after = (tuple(better[i + side] for i in open_ones) for side in (0, 2))
        within = PcIntervals(frozen(parts.low[open_ones]), frozen(parts.high[open_ones]))
        return CrossingLimits(found, within, before, after, self.level)

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
        """Show the conclusion."""
        kind = "simultaneous" if self.simultaneous else "pointwise"
        head = f"CurveDifference({self.names[0]!r} - {self.names[1]!r}, {level_text(self.level)} {kind}"
        if not self.simultaneous:
            return f"{head}, {self.pc.size} points)"
        return f"{head}: {self.significant().text()})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Verdicts(Result):
    """Intervals of pc, and which classifier is significantly better in each: a name, or ``"undecided"``.

    If scores were binned, it may also be ``"not settled: binning error"``.

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

    def where(self, name: str) -> PcIntervals:
        """Return the intervals of one verdict."""
        chosen = np.array([is_among(name, (better,)) for better in self.better], dtype=np.bool_)
        return PcIntervals(self.low[chosen], self.high[chosen])

    @property
    def decided(self) -> bool:
        """Whether one of the two is shown to be better somewhere."""
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
        """Show the conclusion."""
        return f"Verdicts({self.text()})"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CrossingLimits(Result):
    """Where the cheaper of two classifiers changes, with limits that hold together at all points of a grid of pc.

    Attributes
    ----------
    estimate : Crossings
        The crossings on these data.
    within : PcIntervals
        Ranges of pc in which neither is shown to cost less: all true crossings lie in them, with the probability
        `level`, as far as the points of the grid show.
    before, after : tuple of str
        Which classifier is significantly cheaper on each side of each range, or ``"undecided"``.
    level : float

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = {"negatives": [[700, 20], [200, 80]], "positives": [[100, 20], [200, 680]]}
    >>> limits = cc.compare.from_joint(**tables, names=("bold", "careful")).crossings()
    >>> limits.certain.tolist(), limits.within
    ([True], PcIntervals((0.43, 0.57)))
    """

    estimate: Crossings
    within: PcIntervals
    before: tuple[str, ...]
    after: tuple[str, ...]
    level: float

    @property
    def certain(self) -> BoolArray:
        """Whether each range must have a crossing: different classifiers are significantly cheaper on its two sides."""
        sides = zip(self.before, self.after, strict=True)
        return frozen(np.array([not {a, b} & set(NO_VERDICT) and a != b for a, b in sides], dtype=np.bool_))

    def _columns(self) -> dict[str, Any]:
        columns = {"pc_low": self.within.low, "pc_high": self.within.high}
        return columns | {"before": list(self.before), "after": list(self.after), "certain": self.certain}

    def __repr__(self) -> str:
        """Show the crossings and where they may be."""
        seen = ", ".join(f"{pc:.3g}" for pc in self.estimate) or "none"
        ranges = zip(self.within, self.certain, strict=True)
        told = ", ".join(f"({low:.3g}, {high:.3g}){' with one' if sure else ''}" for (low, high), sure in ranges)
        return f"CrossingLimits(seen at pc {seen}; {level_text(self.level)}: {f'within {told}' if told else 'none'})"


def difference_in(
    source: Source, a: CostCurve, b: CostCurve, pc: FloatArray, options: dict[str, Any], *, simultaneous: bool = True
) -> CurveDifference:
    """Return the difference of two of a source's classifiers; options as for `compare`."""
    used, told = told_curves(source, (a, b))
    paired = source.paired(used[0], used[1], pc, simultaneous=simultaneous)
    errors = (used[0].max_error, used[1].max_error)
    return difference_of_counts((a.name, b.name), paired, pc, options, (told[0], told[1]), errors)


def difference_of_counts(
    names: tuple[str, str],
    paired: Paired,
    pc: FloatArray,
    options: dict[str, Any],
    both: Both,
    errors: tuple[float, float] = (0.0, 0.0),
) -> CurveDifference:
    """Return the difference of two curves from their paired counts, however those were made.

    If there are no counts at the operating points, the band is pointwise. `both` is what is reported of each, and
    `errors` are the most by which the cost of each curve can be too high.
    """
    steps = paired.steps
    effective = (steps.pos.effective, steps.neg.effective) if paired.weighted else None
    discordant = Discordant(steps, effective, options, both, errors)
    more: dict[str, Any] = {}
    if paired.at_points is not None:
        pos, neg = paired.at_points
        more = {"simultaneous": True, "ranges": (pos.ranges, neg.ranges)}
    return CurveDifference(names, discordant.band(pc, **more), discordant)
