"""Operating conditions: prevalence and costs, and the probability-cost and the slope that they reduce to."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import InputError
from costcurves._base.results import Result
from costcurves._base.validation import (
    FloatArray,
    Instance,
    check_choice,
    check_in_open_unit,
    check_in_unit,
    check_instance,
    check_nonnegative,
    check_number,
    check_positive,
    check_unit_array,
    frozen,
    number_array,
    shown,
)
from costcurves.conditions.cost_matrix import CostsLike
from costcurves.counting.class_labels import Label

# Differences of normalized cost below this are rounding, not performance: they count as equal.
EQUAL = 1e-12


def pc_to_slope(pc: float) -> float:
    """Return the slope (1 - pc) / pc of the iso-performance lines, in [0, inf]."""
    return math.inf if pc == 0 else (1.0 - pc) / pc


def slopes_of(pc: FloatArray) -> FloatArray:
    """Return the slopes of the iso-performance lines at each pc, read-only.

    Examples
    --------
    >>> import numpy as np
    >>> from costcurves.conditions.condition import slopes_of
    >>> slopes_of(np.array([0.0, 0.2, 1.0])).tolist()
    [inf, 4.0, 0.0]
    """
    with np.errstate(divide="ignore"):
        return frozen((1.0 - pc) / pc)


def check_slope(name: str, slope: Any) -> float:
    """Return a slope of iso-performance lines: a number from 0 to infinity, both included."""
    if isinstance(slope, (float, np.floating)) and slope == math.inf:
        return math.inf
    return check_nonnegative(name, slope)


@dataclass(frozen=True, slots=True, eq=True, repr=False)
class OperatingCondition(Result):
    """The circumstances in which a classifier will be used: how frequent positives are, and what errors cost.

    Parameters
    ----------
    prevalence : float in (0, 1)
        The probability of a positive where the classifier will be used.
    cost_fp, cost_fn : float >= 0, not both 0
        The cost of a false alarm and of a miss, in any currency, above the cost of the right decision. They are given
        by name, so that they cannot be swapped.
    baseline : float, default 0
        The expected cost per case when every decision is right; `from_cost_matrix` fills it in.

    Attributes
    ----------
    pc : float
        The probability-cost of the positives, ``p·cost_fn / (p·cost_fn + (1-p)·cost_fp)``: the x axis of cost curves.
    slope : float
        The slope of the iso-performance lines in ROC space, ``(1-pc) / pc``.
    unit_cost : float
        The money that one unit of normalized cost stands for: ``p·cost_fn + (1-p)·cost_fp``, the expected cost per
        case of getting every case wrong.

    Notes
    -----
    The slope is that of Provost & Fawcett (1997), and pc is equation 1 of Holte & Drummond (2005). `from_pc` and
    `from_slope` make a condition of which only one of the two is known.

    Examples
    --------
    The two scenarios of the 1997 paper: negatives outnumber positives 10 to 1.

    >>> import costcurves as cc
    >>> cc.OperatingCondition(prevalence=1/11, cost_fp=1, cost_fn=1)
    OperatingCondition(prevalence=0.0909, cost_fp=1, cost_fn=1: pc=0.0909, slope=10)
    >>> round(cc.OperatingCondition(prevalence=1/11, cost_fp=1, cost_fn=100).slope, 12)
    0.1
    """

    prevalence: float
    _: KW_ONLY
    cost_fp: float
    cost_fn: float
    baseline: float = 0.0
    _pc_only: bool = field(default=False, init=False, compare=False)

    _column_names = ("prevalence", "cost_fp", "cost_fn", "baseline", "pc", "slope", "unit_cost")

    def __post_init__(self) -> None:
        """Check and normalise the numbers."""
        object.__setattr__(self, "prevalence", check_in_open_unit("prevalence", self.prevalence))
        object.__setattr__(self, "cost_fp", check_nonnegative("cost_fp", self.cost_fp))
        object.__setattr__(self, "cost_fn", check_nonnegative("cost_fn", self.cost_fn))
        object.__setattr__(self, "baseline", check_number("baseline", self.baseline))
        if self.cost_fp == self.cost_fn == 0:
            raise InputError(
                "`cost_fp` and `cost_fn` must not both be 0, got 0 and 0: nothing is at stake, and every choice costs 0"
            )
        if not 0 < self.unit_cost < math.inf:
            raise InputError(
                "`cost_fp` and `cost_fn` must stay finite and above 0 when weighted by the prevalence, "
                f"got {shown(self.cost_fp)} and {shown(self.cost_fn)}"
            )

    @property
    def pc_only(self) -> bool:
        """Whether only pc is known (`from_pc`, `from_slope`), and prevalence and costs stand for all that give it.

        Costs are then fractions of the cost of getting every case wrong, and not amounts of money.
        """
        return self._pc_only

    @property
    def unit_cost(self) -> float:
        """The money that one unit of normalized cost stands for."""
        return self.prevalence * self.cost_fn + (1.0 - self.prevalence) * self.cost_fp

    @property
    def pc(self) -> float:
        """The probability-cost of the positives, in [0, 1]."""
        return self.prevalence * self.cost_fn / self.unit_cost

    @property
    def slope(self) -> float:
        """The slope of the iso-performance lines, in [0, inf]."""
        weight = self.prevalence * self.cost_fn
        return math.inf if weight == 0 else (1.0 - self.prevalence) * self.cost_fp / weight

    def money(self, normalized_cost: float) -> float:
        """Convert a normalized cost to the expected cost per case, in money.

        Examples
        --------
        >>> import costcurves as cc
        >>> round(cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5).money(0.2), 9)
        0.44
        """
        return self.baseline + check_number("normalized_cost", normalized_cost) * self.unit_cost

    def pc_at_prevalence(self, prevalence: npt.ArrayLike) -> Any:
        """Return the pc that other prevalences would have at the same costs.

        Examples
        --------
        >>> import costcurves as cc
        >>> here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
        >>> here.pc_at_prevalence([0.0, 0.1, 0.5]).round(4).tolist()
        [0.0, 0.3571, 0.8333]
        """
        p = check_unit_array("prevalence", prevalence)
        if not (self.cost_fp > 0 and self.cost_fn > 0):
            raise InputError(
                "`cost_fp` and `cost_fn` must be > 0 for pc to follow the prevalence, "
                f"got {shown(self.cost_fp)} and {shown(self.cost_fn)}"
            )
        weight = p * self.cost_fn
        pc = weight / (weight + (1.0 - p) * self.cost_fp)
        return float(pc) if p.ndim == 0 else pc

    def pc_at_cost_ratio(self, ratio: npt.ArrayLike) -> Any:
        """Return the pc that other cost ratios ``cost_fn / cost_fp`` would have at the same prevalence.

        Examples
        --------
        >>> import costcurves as cc
        >>> here = cc.OperatingCondition(prevalence=0.5, cost_fp=1, cost_fn=5)
        >>> here.pc_at_cost_ratio([0.25, 1.0, 4.0]).tolist()
        [0.2, 0.5, 0.8]
        """
        r = number_array("ratio", ratio, booleans=False)
        if not (np.isfinite(r) & (r >= 0)).all():
            raise InputError(f"`ratio` must be finite and >= 0, got {shown(ratio)}")
        pc = self.prevalence * r / (self.prevalence * r + (1.0 - self.prevalence))
        return float(pc) if r.ndim == 0 else pc

    def with_pc(self, pc: float, *, by: Literal["prevalence", "cost_fn", "cost_fp"]) -> OperatingCondition:
        """Change one quantity so that the condition has the given probability-cost.

        Parameters
        ----------
        pc : float in (0, 1)
            The wanted probability-cost.
        by : {"prevalence", "cost_fn", "cost_fp"}
            The quantity to change; the other two stay as they are. A cost that stays must not be 0.

        Examples
        --------
        How expensive must a miss be, other things equal, for the probability-cost to be one half?

        >>> import costcurves as cc
        >>> here = cc.OperatingCondition(prevalence=0.1, cost_fp=1, cost_fn=3)
        >>> round(here.with_pc(0.5, by="cost_fn").cost_fn, 9)
        9.0
        """
        pc = check_in_open_unit("pc", pc)
        check_choice("by", by, ("prevalence", "cost_fn", "cost_fp"))
        p, fp, fn = self.prevalence, self.cost_fp, self.cost_fn
        if by != "cost_fp":
            check_positive("cost_fp", fp)
        if by != "cost_fn":
            check_positive("cost_fn", fn)
        if by == "prevalence":
            made = replace(self, prevalence=pc * fp / (pc * fp + (1.0 - pc) * fn))
        elif by == "cost_fn":
            made = replace(self, cost_fn=pc * (1.0 - p) * fp / ((1.0 - pc) * p))
        else:
            made = replace(self, cost_fp=(1.0 - pc) * p * fn / (pc * (1.0 - p)))
        return marked(made, pc_only=self.pc_only)

    @classmethod
    def from_pc(cls, pc: float, *, prevalence: float = 0.5) -> OperatingCondition:
        """Make a condition with this probability-cost, with costs such that money equals normalized cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.OperatingCondition.from_pc(0.3).pc
        0.3
        """
        pc = check_in_unit("pc", pc)
        return cls._from_shares(1.0 - pc, pc, prevalence)

    @classmethod
    def from_slope(cls, slope: float, *, prevalence: float = 0.5) -> OperatingCondition:
        """Make a condition from the slope of its iso-performance lines, in which the papers of 1997 and 1998 speak.

        Parameters
        ----------
        slope : float in [0, inf]
            The slope ``(1-pc) / pc``: 0 where only misses cost anything (pc 1), infinite where only false alarms do
            (pc 0).
        prevalence : float in (0, 1), default 0.5
            The prevalence of the condition. Costs are chosen such that money equals normalized cost.

        Examples
        --------
        >>> import costcurves as cc
        >>> cc.OperatingCondition.from_slope(4).pc
        0.2
        >>> cc.OperatingCondition.from_slope(float("inf")).pc
        0.0
        """
        slope = check_slope("slope", slope)
        if slope == math.inf:
            return cls._from_shares(1.0, 0.0, prevalence)
        return cls._from_shares(slope / (1.0 + slope), 1.0 / (1.0 + slope), prevalence)

    @classmethod
    def _from_shares(cls, negatives: float, positives: float, prevalence: float) -> OperatingCondition:
        """Make a condition from the shares of the two classes in the cost of getting every case wrong."""
        prevalence = check_in_open_unit("prevalence", prevalence)
        fp, fn = negatives / (1.0 - prevalence), positives / prevalence
        return marked(cls(prevalence=prevalence, cost_fp=fp, cost_fn=fn), pc_only=True)

    @classmethod
    def from_cost_matrix(
        cls, costs: CostsLike, *, prevalence: float, pos_label: Label | None = None
    ) -> OperatingCondition:
        """Make a condition from a full 2x2 cost matrix: rows are true classes, columns predicted ones, negative first.

        The papers write the transpose, C(predicted, true). An error must not be cheaper than the right decision.

        Parameters
        ----------
        costs : array-like of shape (2, 2), or a pandas DataFrame whose index and columns are the labels
            A labelled frame is matched by name and needs `pos_label`.
        prevalence : float in (0, 1)
            The probability of a positive at deployment.
        pos_label : label, optional
            Which row and column are positive, for a labelled frame.

        Examples
        --------
        German credit: accepting a bad customer costs 5, refusing a good one costs 1.

        >>> import costcurves as cc
        >>> cc.OperatingCondition.from_cost_matrix([[0, 1], [5, 0]], prevalence=0.3)
        OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5: pc=0.682, slope=0.467)
        """
        if pos_label is not None:
            costs = matched_by_name("costs", costs, pos_label)
        table = number_array("costs", costs)
        if table.shape != (2, 2):
            raise InputError(f"`costs` must have shape (2, 2), got {table.shape}")
        if hasattr(costs, "index") and hasattr(costs, "columns") and pos_label is None:
            raise InputError("`pos_label` must name the positive class of labelled `costs`, got None")
        if not np.isfinite(table).all():
            raise InputError(f"`costs` must be finite, got {shown(table.tolist())}")
        (tn, fp), (fn, tp) = table.tolist()
        for right, wrong, what in ((tn, fp, "negative"), (tp, fn, "positive")):
            if wrong < right:
                raise InputError(
                    f"`costs` must not make an error cheaper than the right decision, got {shown(wrong)} for an error "
                    f"and {shown(right)} for the right decision on a {what} "
                    "(rows are the true class, columns the predicted one: is it transposed?)"
                )
        prevalence = check_in_open_unit("prevalence", prevalence)
        return cls(
            prevalence=prevalence, cost_fp=fp - tn, cost_fn=fn - tp, baseline=prevalence * tp + (1.0 - prevalence) * tn
        )

    def __repr__(self) -> str:
        extra = f", baseline={self.baseline:.4g}" if self.baseline else ""
        return (
            f"OperatingCondition(prevalence={self.prevalence:.3g}, cost_fp={self.cost_fp:.6g}, "
            f"cost_fn={self.cost_fn:.6g}{extra}: pc={self.pc:.3g}, slope={self.slope:.3g})"
        )


def marked(made: Instance, *, pc_only: bool) -> Instance:
    """Mark a condition or a range that was just made, if only its pc is known."""
    object.__setattr__(made, "_pc_only", pc_only)
    return made


def matched_by_name(argument: str, matrix: Any, pos_label: Any) -> Any:
    """Return the values of a labelled 2x2 frame with the positive class last."""
    if not (hasattr(matrix, "index") and hasattr(matrix, "columns")):
        raise InputError(f"`pos_label` goes with labelled `{argument}` (a pandas DataFrame), got a plain array")
    rows, columns = list(matrix.index), list(matrix.columns)
    if sorted(map(str, rows)) != sorted(map(str, columns)) or len(rows) != 2 or set(rows) != set(columns):
        raise InputError(f"`{argument}` must have the same two labels as rows and columns, got {rows} and {columns}")
    if pos_label not in rows:
        raise InputError(f"`pos_label` must be one of the labels {rows}, got {shown(pos_label)}")
    order = [label for label in rows if label != pos_label] + [pos_label]
    values = np.asarray(matrix)
    return values[np.ix_([rows.index(label) for label in order], [columns.index(label) for label in order])]


def bayes_threshold(condition: OperatingCondition, *, calibrated_at: float | None = None) -> float:
    """Return the score above which predicting positive is cheaper, when scores are probabilities.

    Parameters
    ----------
    condition : OperatingCondition
        The condition under which the classifier will be used.
    calibrated_at : float in (0, 1), optional
        The prevalence for which the scores are calibrated, if it is not that of `condition`
        (for example the prevalence of the training data). The threshold is then moved accordingly.

    Returns
    -------
    float
        Positive should be predicted if and only if score > threshold.

    Notes
    -----
    Decision analysis (Provost & Fawcett 1997): positive iff ``(1 - s)·cost_fp < s·cost_fn``, so the threshold is
    ``cost_fp / (cost_fp + cost_fn)``. For scores calibrated at prevalence q, the odds move by ``q(1-p) / (p(1-q))``.

    Examples
    --------
    >>> import costcurves as cc
    >>> cond = cc.OperatingCondition(prevalence=0.01, cost_fp=1, cost_fn=4)
    >>> cc.bayes_threshold(cond)
    0.2
    >>> round(cc.bayes_threshold(cond, calibrated_at=0.5), 4)
    0.9612
    """
    check_instance("condition", condition, OperatingCondition)
    if calibrated_at is None:
        return condition.cost_fp / (condition.cost_fp + condition.cost_fn)
    q = check_in_open_unit("calibrated_at", calibrated_at)
    pc = condition.pc
    return (1.0 - pc) * q / ((1.0 - pc) * q + pc * (1.0 - q))


ConditionLike = OperatingCondition | float  # a number is read as a pc
PcLike = npt.ArrayLike | OperatingCondition | Sequence[ConditionLike]


def check_condition(condition: Any) -> OperatingCondition:
    """Return an operating condition; a bare number in [0, 1] is read as a pc."""
    if isinstance(condition, OperatingCondition):
        return condition
    if isinstance(condition, (float, int, np.floating, np.integer)) and not isinstance(condition, bool):
        return OperatingCondition.from_pc(check_in_unit("condition", condition))
    kind = type(condition).__name__
    hint = ": recommend_within and hull.within take a range" if kind == "OperatingRange" else ""
    raise InputError(
        f"`condition` must be an OperatingCondition (or a pc in [0, 1]), got {shown(condition)} ({kind}){hint}"
    )


def pc_array(pc: Any) -> FloatArray:
    """Return pc as an array; an operating condition, alone or in a sequence, stands for its pc."""
    if isinstance(pc, OperatingCondition):
        pc = pc.pc
    elif isinstance(pc, (list, tuple)):
        pc = [one.pc if isinstance(one, OperatingCondition) else one for one in pc]
    return check_unit_array("pc", pc)
