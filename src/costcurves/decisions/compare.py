"""Two classifiers on the same examples, at every operating condition."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt

from costcurves._base.frames import AnyFrame, source_of_frame
from costcurves._base.validation import (
    DEFAULT_LEVEL,
    Column,
    OnNull,
    Rng,
    Sampling,
    check_flag,
    check_instance,
    check_two_names,
)
from costcurves.conditions.range import GridLike
from costcurves.counting.class_labels import Label
from costcurves.curves.chance import one_question
from costcurves.curves.chosen import Told
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.thresholds import PairOfPolicies
from costcurves.decisions.all_pairs import PairedSteps
from costcurves.decisions.curve_difference import (
    CurveDifference,
    DifferenceOptions,
    Discordant,
    Unpaired,
    difference_in,
    difference_options,
)
from costcurves.decisions.rows import Rows, Source, curve_in, two_policies
from costcurves.inference.bands.results import operating_points
from costcurves.inference.paired.discordant import joint_counts
from costcurves.inference.paired.rates import PairedMethodName


def _series_names(a: Any, b: Any) -> tuple[str, str]:
    """Return the names of two series if they have names that differ, and otherwise "a" and "b"."""
    first, second = (getattr(one, "name", None) for one in (a, b))
    if isinstance(first, str) and isinstance(second, str) and first and second and first != second:
        return first, second
    return "a", "b"


class _Compare:
    """Return the difference of two classifiers' costs at every operating condition, from the same examples.

    ``compare(y_true, score_a, score_b, ...)`` takes scores, ``compare.from_frame(frame, ...)`` columns of a dataframe,
    and ``compare.from_joint(negatives=..., positives=...)`` the joint tables of two fixed classifiers. For classifiers
    that were judged on different examples there is ``compare.from_curves(a, b)``.

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
        How the limits of the paired rates of each class are found. Mid-P limits have the best coverage for their width;
        "exact" and "resample" are quantiles of the bootstrap distribution.
    sampling : {"stratified", "full"}
    pc : array-like, OperatingRange or OperatingCondition, optional
        Operating points, increasing; by default 0, 0.01, ..., 1. For a range, 101 evenly spaced points of it are used.
    laplace : float
        A number that is added to each cell; 0 by default, as the 2000 paper advises for differences.
    names : (str, str), optional
        By default the names of two series of a dataframe library, and otherwise "a" and "b".
    pos_label, sample_weight
        As for `RocCurve.from_predictions`.
    n_resamples, rng
        For ``method="resample"``. `rng` is a generator, or the seed of one. By default the answer is the same each
        time; None draws fresh numbers.

    Returns
    -------
    CurveDifference

    Notes
    -----
    Only examples that just one of the two gets wrong matter (Dugas & Gadoury 2008, equations 7-8 and 12-13); they are
    counted for all points in O(n log m + m). The limits are about the thresholds in use. Where these were chosen on the
    same cases (policies "optimal", "crossfit" and "product"), both costs are optimistic, and one may be more so than
    the other. The optimism of each is found by resampling the counts between the points of its hull, at the operating
    point itself and on average at those around, and doubled, because resampling finds about half of it for a useless
    score. Limits go farther by the larger difference of both on the side to which it points, p-values are those of such
    limits, and the joint critical value is that of a level which leaves out a quarter less, and at least that of five
    separate statements. Where both could be thresholds of one score, because one of them calls no case positive that
    the other does not, the optimism of the one that looks dearer is not doubled.

    "crossfit" reports the difference of the two cross-fitted curves. Its limits contain those of "optimal", and allow
    for the distance between the cross-fitted difference and that of the thresholds to deploy. Thresholds from other
    data, fixed thresholds and joint tables are taken as given. The page "How often every default answer holds" has what
    was measured.

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
        y_true: Column,
        score_a: npt.ArrayLike,
        score_b: npt.ArrayLike,
        *,
        pos_label: Label | None = None,
        sample_weight: npt.ArrayLike | None = None,
        policy: PairOfPolicies = "optimal",
        level: float = DEFAULT_LEVEL,
        simultaneous: bool = True,
        method: PairedMethodName = "mid-p",
        sampling: Sampling = "stratified",
        pc: GridLike | None = None,
        laplace: float = 0.0,
        names: tuple[str, str] | None = None,
        n_resamples: int = 2000,
        rng: Rng = 0,
    ) -> CurveDifference:
        """Return the difference of two classifiers' costs at every condition, from their scores."""
        both = (score_a, score_b)
        named = check_two_names(_series_names(*both) if names is None else names)
        rows = Rows(y_true, dict(zip(named, both, strict=True)), pos_label, sample_weight)
        return compare_in(
            rows,
            *rows.names,
            policy=policy,
            pc=pc,
            simultaneous=simultaneous,
            level=level,
            method=method,
            sampling=sampling,
            laplace=laplace,
            n_resamples=n_resamples,
            rng=rng,
        )

    def from_joint(
        self,
        *,
        negatives: npt.ArrayLike,
        positives: npt.ArrayLike,
        simultaneous: bool = True,
        pc: GridLike | None = None,
        names: tuple[str, str] = ("a", "b"),
        **options: Unpack[DifferenceOptions],
    ) -> CurveDifference:
        """Return the difference of two fixed classifiers' costs at every condition, from the joint table of each class.

        Parameters
        ----------
        negatives, positives : array-like of shape (2, 2)
            Counts of the examples that are truly negative, and truly positive, by prediction of a (rows) and of b
            (columns); index 0 is negative, 1 is positive. Two confusion matrices are not enough, because they do not
            show how often both classifiers are wrong about the same example.
        simultaneous, pc, names, **options
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
        names = check_two_names(names)
        given = difference_options(**options)
        neg, pos = joint_counts(negatives, positives)
        steps = PairedSteps(np.array([0.0, 1.0]), np.array([False]), pos, neg)
        discordant = Discordant(steps, None, given, (Told(None), Told(None)))
        band = discordant.band(operating_points(pc), simultaneous=check_flag("simultaneous", simultaneous))
        return CurveDifference(names, band, discordant)

    @one_question()
    def from_curves(
        self,
        a: CostCurve,
        b: CostCurve,
        *,
        level: float = DEFAULT_LEVEL,
        simultaneous: bool = True,
        method: Literal["mid-p", "gaussian", "exact"] = "mid-p",
        pc: GridLike | None = None,
    ) -> CurveDifference:
        """Return the difference of two classifiers that were judged on different examples, at every condition.

        The two test sets must be independent samples of the same population, as when a model was tested last year on
        other cases, or when only the confusion matrix of a publication is known. On the same examples, use `compare`:
        its limits are narrower, because it knows which examples both classifiers get wrong.

        Parameters
        ----------
        a, b : CostCurve
            The curves of the two classifiers, from counts, with different names; each has its own threshold policy.
        level, simultaneous, pc
            As for `compare`.
        method : {"mid-p", "gaussian", "exact"}
            "mid-p" combines mid-P limits of the four error rates; the others are the moments and quantiles of the
            bootstrap that resamples both test sets.

        Notes
        -----
        The variances of the two costs add up. The limits allow for thresholds that were chosen on the same cases, as
        those of `compare` do. Class frequencies are fixed (``sampling="stratified"``): the class
        frequencies of a test set do not matter for its two error rates.

        Measured joint coverage at nominal 95 % of two binormal classifiers at given thresholds, 50 points of pc, 500
        pairs of test sets (standard error 0.6 to 1.0 points), with positives and negatives: 30, 30 and 30, 30:
        0.964; 50, 500 and 200, 200: 0.954; 20, 200 and 100, 100: 0.948; 250, 250 twice: 0.972; with tied scores and 30,
        300 and 60, 60: 0.980, or 40, 400 twice: 0.954; of two lines with 25, 25 and 100, 100: 0.950.

        Examples
        --------
        A published confusion matrix of 30 cases, and our own of 400 cases:

        >>> import costcurves as cc
        >>> theirs = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="published")
        >>> ours = cc.RocCurve.from_confusion_matrix([[180, 20], [30, 170]], name="ours")
        >>> curves = [cc.CostCurve(roc, policy=cc.thresholds.point(1)) for roc in (theirs, ours)]
        >>> difference = cc.compare.from_curves(*curves)
        >>> difference.significant()
        Verdicts('ours' costs less for pc in (0, 0.55); undecided elsewhere)
        >>> difference.at(0.3)
        DifferenceInterval(a - b = 0.225 in [0.01051, 0.4912], level=0.95 at all conditions, p=0.0114 at this one)
        """
        for name, curve in (("a", a), ("b", b)):
            check_instance(name, curve, CostCurve)
        names = check_two_names((a.name, b.name))
        options = {"level": level, "method": method}
        pair = Unpaired((a, b), options, (a.max_error, b.max_error))
        band = pair.band(operating_points(pc), simultaneous=check_flag("simultaneous", simultaneous))
        return CurveDifference(names, band, pair)

    @one_question()
    def from_frame(
        self,
        frame: AnyFrame,
        *,
        label: str,
        score_a: str,
        score_b: str,
        weight: str | None = None,
        pos_label: Label | None = None,
        policy: PairOfPolicies = "optimal",
        simultaneous: bool = True,
        pc: GridLike | None = None,
        names: tuple[str, str] | None = None,
        on_null: OnNull = "refuse",
        **options: Unpack[DifferenceOptions],
    ) -> CurveDifference:
        """Return the difference of two score columns of a dataframe, of any library, at every condition.

        Parameters
        ----------
        frame, label, weight, pos_label, on_null
            As for `RocCurve.from_frame`; a frame that is not in memory is read one more time than for a curve.
        score_a, score_b : str
            The columns of both classifiers' scores.
        names : (str, str), optional
            By default the columns.
        policy, simultaneous, pc, **options
            As for `compare`.

        Examples
        --------
        >>> import costcurves as cc
        >>> import pandas as pd
        >>> df = pd.DataFrame({"y": [0, 1, 0, 1], "p": [0.1, 0.35, 0.4, 0.8], "q": [0.3, 0.2, 0.1, 0.9]})
        >>> cc.compare.from_frame(df, label="y", score_a="p", score_b="q", pc=[0.3, 0.5]).estimate.tolist()
        [0.0, 0.0]
        """
        both = None if names is None else check_two_names(names)
        scores = {"score_a": [score_a], "score_b": [score_b]}
        opened = source_of_frame(frame, label=label, scores=scores, weight=weight, pos_label=pos_label, on_null=on_null)
        asked = {"policy": policy, "simultaneous": simultaneous, "pc": pc} | difference_options(**options)
        found: CurveDifference = opened.compare(score_a, score_b, **asked)
        return found if both is None else replace(found, names=both)

    def __repr__(self) -> str:
        """Show the ways to call it."""
        return (
            "compare(y_true, score_a, score_b, ...), compare.from_frame(frame, ...), "
            "compare.from_joint(negatives=..., positives=...), compare.from_curves(a, b)"
        )


compare = _Compare()


def compare_in(
    source: Source,
    a: str,
    b: str,
    *,
    policy: Any = "optimal",
    pc: Any = None,
    simultaneous: bool = True,
    **options: Unpack[DifferenceOptions],
) -> CurveDifference:
    """Return the difference of two of a source's classifiers, wherever the examples are."""
    simultaneous = check_flag("simultaneous", simultaneous)
    points, given = operating_points(pc), difference_options(**options)
    first, second = (curve_in(source, name, rule) for name, rule in zip((a, b), two_policies(policy), strict=True))
    return difference_in(source, first, second, points, given, simultaneous=simultaneous)
