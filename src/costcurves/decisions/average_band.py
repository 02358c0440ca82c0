"""Bands for the mean cost curve of several folds."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from costcurves._base.errors import InputError, SmallSampleWarning, warn
from costcurves._base.validation import DEFAULT_LEVEL, FloatArray, check_choice, check_flag, frozen, shown
from costcurves.conditions.range import GridLike
from costcurves.curves.averages import CostCurves, as_cost_curves
from costcurves.curves.cost_curve import CostCurve
from costcurves.inference.bands.one_curve import between_folds_band, within_folds_band
from costcurves.inference.bands.results import Band, computed_by, operating_points

# With fewer cases of a class than this, folds may agree by chance. Student's interval missed the mean cost in 47 % of
# simulated data sets with 4 positives in each fold, at a nominal 5 %, and in 8.5 % of those with 10.
ENOUGH = 20


def average_band(
    curves: CostCurves,
    *,
    kind: Literal["both", "between", "within"] = "both",
    together: CostCurve | None = None,
    given_choice: bool = False,
    level: float = DEFAULT_LEVEL,
    pc: GridLike | None = None,
    **options: Any,
) -> Band:
    """Return a band for the mean cost curve of several folds.

    The limits are about the mean cost on new cases of the classifiers of these folds, each at its own thresholds.

    Parameters
    ----------
    curves : sequence of CostCurve or RocCurve
        One for each fold.
    kind : {"both", "between", "within"}
        ``"within"`` says how well the test examples determine the mean cost of these very classifiers, without the
        variation of training. ``"between"`` is Student's interval from the differences between folds, which also holds
        the variation of training, but is too narrow where folds agree by chance. ``"both"`` takes the lower of their
        lower limits and the higher of their upper ones.
    together : CostCurve, optional
        With ``kind="both"``: a curve of the cases of all folds, if the thresholds of each fold are those that are best
        on the other folds. The limits then hold those of its band too. `Predictions.average_band` gives it.
    given_choice : bool
        Whether to take thresholds as given that were chosen on the cases of the same fold, as those of ROC curves and
        of the policies "optimal", "product" and "crossfit" are. Such curves are refused otherwise: their mean is not
        that of their thresholds on new cases, and nothing is promised.
    level : float in (0, 1)
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, increasing; by default 0, 0.01, ..., 1. A range stands for 101 evenly spaced points of it.
    **options
        For ``kind="within"``: `method` ("wilson" or "gaussian") and `simultaneous`.

    Warns
    -----
    SmallSampleWarning
        With ``kind="between"``, if a fold has fewer than 20 cases of a class.

    Notes
    -----
    Where no case of a fold with four positives is missed, the folds do not differ, and Student's interval has no width:
    in simulations with such folds it missed the mean cost in 6 to 82 % of data sets at a nominal 5 %. Wilson's interval
    of the mean rates knows how many cases there are, but missed in up to 11 % where one fold had a case of a class and
    another a hundred. The default holds both intervals. In 24 simulated worlds at three conditions each (3,000 data
    sets each, standard error 0.4 points at 5 %; 2 to 30 folds of equal and of very unequal sizes, rates from 0 to 1,
    classifiers that differ between folds), it missed in at most 4 %, and on average it was at most 10 % wider than
    Student's interval where folds had 20 cases of each class or more.

    Thresholds from the other folds depend on each other and on the cases, the more so the more folds there are. With 30
    folds, "both" missed the mean cost in 3 to 17 % of data sets. The limits of the band of all cases together are about
    almost the same thresholds and know that these were chosen.

    The mean cost of classifiers from *other* training sets is promised less. Training sets of a cross-validation
    overlap, so that folds differ less than independent training sets would, and with few folds of very different
    quality Student's interval misses that mean too often (6 to 13 % in five of those worlds).

    With chosen thresholds (`given_choice`), the mean cost on new cases lay outside the limits in about four of ten data
    sets of the study of default answers, and with ``policy="crossfit"`` within folds that have four positives each in 8
    to 17 %, because thresholds from four fifths of such a fold are worse than those from all of it.

    Examples
    --------
    >>> import costcurves as cc
    >>> tables = [[[80, 20], [5, 15]], [[90, 10], [8, 12]]]
    >>> rocs = [cc.RocCurve.from_confusion_matrix(table) for table in tables]
    >>> folds = [cc.CostCurve(roc, policy=cc.thresholds.point(1)) for roc in rocs]
    >>> cc.average_band(folds, kind="within").at(0.5)
    Interval(0.2375 in [0.1718, 0.3198], level=0.95)
    """
    check_choice("kind", kind, ("both", "between", "within"))
    listed = as_cost_curves(curves)
    looking = [curve for curve in listed if curve.policy and (curve.policy.looks or curve.policy.cross_fits)]
    if looking and not check_flag("given_choice", given_choice):
        raise InputError(
            f"`curves` must not have thresholds that were chosen on the same fold, got {looking[0].name!r} with "
            f"policy={looking[0].policy!r}: use Predictions.average_band or thresholds of other data; "
            "given_choice=True takes them as given, with limits that promise nothing"
        )
    if together is not None and (kind != "both" or not isinstance(together, CostCurve)):
        raise InputError(f"`together` must be a CostCurve, with kind='both', got {shown(together)} with {kind!r}")
    points = operating_points(pc)
    if kind != "within":
        if options:
            raise InputError(f"`kind={kind!r}` must have no further options, got {', '.join(options)}")
        if kind == "between":
            _warn_of_small_folds(listed)
        band_of = _between_folds if kind == "between" else partial(_both, together)
        return computed_by(band_of(listed, points, level), partial(band_of, listed, level=level))
    known = ("method", "simultaneous", "sampling", "laplace")
    if strange := [name for name in options if name not in known]:
        raise InputError(f"`kind='within'` must have no options but {', '.join(known)}, got {', '.join(strange)}")
    check_flag("simultaneous", options.get("simultaneous", False))
    band = _within_folds(listed, points, {"level": level, **options})
    if band.simultaneous:
        options["critical_value"] = band.critical
    return computed_by(band, partial(_within_folds, listed, options={"level": level, **options}), together=True)


def _warn_of_small_folds(curves: list[CostCurve]) -> None:
    """Warn that folds may agree by chance if one of them has very few cases of a class."""
    counted = [curve.roc for curve in curves if curve.roc is not None and curve.roc.made_from != "rates"]
    sizes = [(size, what) for roc in counted for size, what in ((roc.n_pos, "positives"), (roc.n_neg, "negatives"))]
    fewest, what = min(sizes, default=(ENOUGH, ""))
    if fewest < ENOUGH:
        warn(
            f"a fold has only {fewest:g} {what}: limits that look at nothing but how folds differ are too narrow where "
            "folds agree by chance; kind='both' knows how many cases there are",
            SmallSampleWarning,
        )


def _both(together: CostCurve | None, curves: list[CostCurve], pc: FloatArray, level: float) -> Band:
    """Return the band of the mean curve that holds those of both kinds, and that of all cases together."""
    bands = [_between_folds(curves, pc, level), _within_folds(curves, pc, {"level": level})]
    if together is not None:
        bands.append(together.band(level=level, pc=pc))
    return replace(
        bands[0],
        lower=frozen(np.min([band.lower for band in bands], axis=0)),
        upper=frozen(np.max([band.upper for band in bands], axis=0)),
        method="between and within folds",
    )


def _between_folds(curves: list[CostCurve], pc: FloatArray, level: float) -> Band:
    """Return the band of the mean curve from how the folds differ."""
    errors = [curve.max_error for curve in curves]
    return between_folds_band([curve.evaluate(pc) for curve in curves], pc, level=level, max_error=errors)


def _within_folds(curves: list[CostCurve], pc: FloatArray, options: dict[str, Any]) -> Band:
    """Return the band of the mean curve from the test examples of each fold."""
    errors, sizes = [], []
    for curve in curves:
        n_pos, n_neg, effective = curve.sizes("average_band")
        size, counts = effective or (n_pos, n_neg), curve.errors_at(pc)
        # Rates of weighted cases are known as well as those of the effective number of cases.
        errors.append([count * (n / total) for count, n, total in zip(counts, size, (n_pos, n_neg), strict=True)])
        sizes.append(size)
    return within_folds_band(
        [fn for fn, _ in errors],
        [pos for pos, _ in sizes],
        [fp for _, fp in errors],
        [neg for _, neg in sizes],
        pc,
        known=np.all([curve.trivial_at(pc) for curve in curves], axis=0),
        **options,
    ).with_error(float(np.mean([curve.max_error for curve in curves])))
