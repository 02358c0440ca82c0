"""The best choice on a ROC convex hull under a limit: on false alarms, on misses, on alarms or on precision."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from costcurves._base.errors import InputError
from costcurves._base.validation import (
    check_choice,
    check_in_open_unit,
    check_in_unit,
    check_nonnegative,
    check_positive,
)
from costcurves.conditions.condition import EQUAL
from costcurves.curves.choices import TRIVIAL, LimitedChoice, Mixture
from costcurves.curves.hull_points import HullPoints
from costcurves.curves.limits import (
    Asked,
    Assured,
    Point,
    assured_alarms,
    assured_fpr,
    assured_load,
    assured_precision,
    assured_tpr,
    check_counted,
    fewest_false_alarms,
    first_within_tpr,
    last_within_fpr,
    last_within_load,
    last_within_precision,
    most_found,
)
from costcurves.curves.roc import RocCurve


@dataclass(frozen=True, slots=True, eq=False, repr=False, init=False)
class HullLimits(HullPoints):
    """The questions to `RocHull` that state a limit."""

    def best_at_fpr(self, fpr: float, *, confidence: float | None = None) -> LimitedChoice:
        """Return the highest tpr with fpr at most this: the Neyman-Pearson observer, on the non-decreasing hull.

        Of points with the same tpr the one with the lowest fpr is taken.

        Parameters
        ----------
        fpr : float in [0, 1]
            The limit; with a confidence in (0, 1).
        confidence : float in (0, 1), optional
            Without it the limit holds on the cases of the curves, and about half of all choices break it on new cases.
            With it the choice keeps the limit on new cases with at least this probability, over random samples of cases
            that had no part in training. It is a single threshold: `mixture` is the choice itself.

        Notes
        -----
        With a confidence 1 - δ and m classifiers, a threshold may alarm on at most
        ``k = max {k : P(Bin(n, fpr) <= k) <= δ/m}`` of n negatives: the umbrella algorithm of Tong, Feng & Li (2018),
        with the error split evenly over the classifiers. It needs ``n >= log(δ/m) / log(1 - fpr)``.

        Ties do no harm. The thresholds that break the limit are all those up to some t0, at which the true rate is at
        least `fpr`. If one of them has at most k false alarms, then so has t0, since it is no lower; but the false
        alarms of t0 are binomial, and at most k of them have at most the probability δ/m. For the same reason all
        thresholds with at most k false alarms keep the limit at once, so points="hull" and bins only leave thresholds
        out. Weighted cases and bare rates are refused.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_fpr(0.05).classifier
        'always negative'
        >>> hull = cc.RocHull([cc.RocCurve.from_confusion_matrix([[97, 3], [4, 16]], name="rules")])
        >>> hull.best_at_fpr(0.1, confidence=0.95)
        LimitedChoice(fpr <= 0.1: rules, fpr=0.03, tpr=0.8; with confidence 0.95 fpr <= 0.0892)
        """
        if confidence is not None:
            limit = check_in_open_unit("fpr", fpr)
            asked = self._asked(f"fpr <= {limit:g}", confidence)
            return self._assured(asked, assured_fpr(self._counted(), limit, asked))
        limit = check_in_unit("fpr", fpr)
        chosen = most_found(self._complete("best_at_fpr"), lambda curve: last_within_fpr(curve, limit))
        enough = float(self.fpr[np.searchsorted(self.tpr, 1.0, side="left")])  # more false alarms find no more
        return self._limited(f"fpr <= {limit:g}", chosen, self.interpolate(fpr=min(limit, enough)))

    def best_at_tpr(self, tpr: float, *, confidence: float | None = None) -> LimitedChoice:
        """Return the lowest fpr with tpr at least this.

        Of points with the same fpr the one with the highest tpr is taken.

        Parameters
        ----------
        tpr : float in [0, 1]
            The limit; with a confidence in (0, 1).
        confidence : float in (0, 1), optional
            The probability with which the choice keeps the limit on new cases, as for `best_at_fpr`.

        Notes
        -----
        With a confidence 1 - δ and m classifiers a threshold may miss at most
        ``k = max {k : P(Bin(n, 1 - tpr) <= k) <= δ/m}`` of n positives.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.RocHull([cc.RocCurve.from_rates(0.1, 0.6, name="expert")]).best_at_tpr(0.5)
        LimitedChoice(tpr >= 0.5 on these cases: expert, fpr=0.1, tpr=0.6; randomising between two
        thresholds reaches fpr 0.0833)
        """
        if confidence is not None:
            floor = check_in_open_unit("tpr", tpr)
            asked = self._asked(f"tpr >= {floor:g}", confidence)
            return self._assured(asked, assured_tpr(self._counted(), floor, asked))
        floor = check_in_unit("tpr", tpr)
        chosen = fewest_false_alarms(self._complete("best_at_tpr"), lambda curve: first_within_tpr(curve, floor))
        free = float(self.tpr[np.searchsorted(self.fpr, 0.0, side="right") - 1])  # found without a false alarm
        return self._limited(f"tpr >= {floor:g}", chosen, self.interpolate(tpr=max(floor, free)))

    def best_at_capacity(
        self, *, alarms: float, population: float, prevalence: float | str, confidence: float | None = None
    ) -> LimitedChoice:
        """Return the highest tpr that raises no more alarms than can be handled.

        Parameters
        ----------
        alarms : float >= 0
            The number of alarms that can be handled.
        population : float > 0
            The number of cases among which they are raised.
        prevalence : float in (0, 1), or "sample"
            The share of positives among them. With a confidence it may be "sample": the cases of the curves were drawn
            like those to come, so that the classes have the right shares, up to chance.
        confidence : float in (0, 1), optional
            The probability with which the choice keeps the limit on new cases, as for `best_at_fpr`. What is kept is
            the share ``alarms / population`` in the long run; the alarms of one day still vary around it.

        Notes
        -----
        The limit is the line ``tpr·P + fpr·N = alarms`` with P and N the positives and negatives in the population.
        A point counts as within it if it exceeds it by no more than rounding, 1e-12 of the population. Of points with
        the same tpr the one with the lowest fpr is taken.

        With a confidence and the prevalence of the sample all cases count alike, and the share of alarms among them is
        limited as fpr is among negatives by `best_at_fpr`. With a stated prevalence the limit must hold of the sum of
        the exact upper limits of both rates, which share the error.

        Examples
        --------
        >>> import costcurves as cc
        >>> strict = cc.RocCurve.from_rates(0.01, 0.2, name="strict")
        >>> hull = cc.RocHull([strict, cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> hull.best_at_capacity(alarms=200, population=10_000, prevalence=0.05)
        LimitedChoice(at most 200 alarms of 10000 at these rates: strict, fpr=0.01, tpr=0.2, 195 alarms;
        randomising between two thresholds reaches tpr 0.202)
        """
        most = check_nonnegative("alarms", alarms)
        population = check_positive("population", population)
        if confidence is not None:
            return self._assured_capacity(most, population, prevalence, confidence)
        share = check_in_open_unit("prevalence", prevalence)
        limit = min(Fraction(most) / Fraction(population), Fraction(1))
        chosen = most_found(
            self._complete("best_at_capacity"),
            lambda curve: last_within_load(curve, Fraction(share), limit + Fraction(EQUAL)),
        )
        load = share * self.tpr + (1.0 - share) * self.fpr
        goal = min(float(limit), float(load[np.searchsorted(self.tpr, 1.0, side="left")]))
        i = min(int(np.searchsorted(load[1:], goal, side="right")), load.size - 2)
        gap = float(load[i + 1] - load[i])
        mixture = self._mixture(i, min((goal - float(load[i])) / gap, 1.0) if gap else 1.0)
        used = population * float(chosen.load(Fraction(share)))
        return self._limited(f"at most {most:.10g} alarms of {population:.10g}", chosen, mixture, alarms=used)

    def _assured_capacity(self, most: float, population: float, prevalence: Any, confidence: Any) -> LimitedChoice:
        """Return the choice that raises at most this many alarms on new cases."""
        if not 0.0 < most < population:
            raise InputError(f"`alarms` must be > 0 and < `population` with a confidence, got {most:g}")
        asked = self._asked(f"at most {most:.10g} alarms of {population:.10g}", confidence)
        curves, limit = self._counted(), most / population
        if isinstance(prevalence, str):
            check_choice("prevalence", prevalence, ("sample",))
            found = assured_alarms(curves, limit, asked)
            shares = {curve.name: Fraction(int(curve.n_pos), int(curve.n_pos + curve.n_neg)) for curve in curves}
            share = shares.get(found.point.name, Fraction(0))  # without alarms it does not matter
        else:
            share = Fraction(check_in_open_unit("prevalence", prevalence))
            found = assured_load(curves, limit, float(share), asked)
        return self._assured(asked, found, alarms=population * float(found.point.load(share)))

    def best_at_precision(
        self, precision: float, *, prevalence: float, confidence: float | None = None
    ) -> LimitedChoice:
        """Return the highest tpr whose alarms are right in at least this share: the positive predictive value.

        Of points with the same tpr the one with the lowest fpr is taken. If no threshold keeps the limit, the choice is
        ``"always negative"``, which raises no alarm.

        Parameters
        ----------
        precision : float in (0, 1)
            The least share of true alarms.
        prevalence : float in (0, 1)
            The share of positives among the cases to come.
        confidence : float in (0, 1), optional
            The probability with which the choice keeps the limit on new cases, as for `best_at_fpr`, if the prevalence
            is as stated. It needs all points of the curves.

        Notes
        -----
        The limit is the line ``tpr = r·fpr`` with ``r = precision·(1 - prevalence) / ((1 - precision)·prevalence)``.
        A point counts as within it if it misses it by no more than rounding.

        Precision may rise and fall along a curve, so a confidence needs a bound for several thresholds at once. About
        ``4.5·log(n/r)`` allowances of false alarms, fixed beforehand, pick candidates from the n negatives alone; an
        exact test of ``tpr >= r·fpr`` judges each of them, and they share the error evenly.

        Examples
        --------
        >>> import costcurves as cc
        >>> strict = cc.RocCurve.from_rates(0.01, 0.2, name="strict")
        >>> hull = cc.RocHull([strict, cc.RocCurve.from_rates(0.1, 0.6, name="expert")])
        >>> hull.best_at_precision(0.5, prevalence=0.1)
        LimitedChoice(precision >= 0.5 at these rates: strict, fpr=0.01, tpr=0.2, precision 0.69;
        randomising between two thresholds reaches tpr 0.307)
        """
        floor, share = check_in_open_unit("precision", precision), check_in_open_unit("prevalence", prevalence)
        limit, curves = f"precision >= {floor:g}", self._complete("best_at_precision")
        if confidence is not None:
            check_counted(curves)
            asked = self._asked(limit, confidence)
            found = assured_precision(curves, floor, share, asked)
            return self._assured(asked, found, precision=found.point.precision(share))
        chosen = most_found(curves, lambda curve: last_within_precision(curve, share, floor))
        over = (1.0 - floor) * share * self.tpr - floor * (
            1.0 - share
        ) * self.fpr  # >= 0 up to a point, as the hull bends
        i = min(int(np.searchsorted(over[1:] < 0, True)), over.size - 2)
        gap = float(over[i] - over[i + 1])
        mixture = self._mixture(i, min(float(over[i]) / gap, 1.0) if gap > 0 else 1.0)
        return self._limited(limit, chosen, mixture, precision=chosen.precision(share))

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
            _below=(
                self._score_below(self.owner[i], float(self.thresholds[i])),
                self._score_below(self.owner[i + 1], float(self.thresholds[i + 1])),
            ),
        )

    def _limited(self, limit: str, point: Point, mixture: Mixture, **more: float) -> LimitedChoice:
        """Return the best point under a limit as a result."""
        below = math.nan
        if point.name not in TRIVIAL:
            curves = self._known if self._curves is None else self._curves
            below = next(curve for curve in curves if curve.name == point.name).score_below(point.threshold)
        rates = float(point.fpr), float(point.tpr)
        return LimitedChoice(limit, point.name, point.threshold, *rates, mixture, _below=below, **more)

    def _asked(self, limit: str, confidence: Any) -> Asked:
        """Return what is to be guaranteed, for one classifier that is picked from all that the hull ever had."""
        return Asked(limit, check_in_open_unit("confidence", confidence), len(self.names))

    def _counted(self) -> tuple[RocCurve, ...]:
        """Return the curves, or what is left of them, refused unless they are counts of cases."""
        curves = self._known if self._curves is None else self._curves
        check_counted(curves)
        return curves

    def _assured(self, asked: Asked, found: Assured, **more: float) -> LimitedChoice:
        """Return a guaranteed choice as a result, without any random choice."""
        name, cut, rates = found.point.name, found.point.threshold, (float(found.point.fpr), float(found.point.tpr))
        alone = Mixture(name, cut, name, cut, 0.0, *rates)
        choice = self._limited(asked.limit, found.point, alone, confidence=asked.confidence, bound=found.bound, **more)
        return replace(choice, mixture=replace(alone, _below=(choice._below, choice._below)))

    def _complete(self, what: str) -> tuple[RocCurve, ...]:
        """Return the curves, refused unless all of them have all their points."""
        curves = self._whole(what)
        for curve in curves:
            curve.need_all_points(what)
        return curves
