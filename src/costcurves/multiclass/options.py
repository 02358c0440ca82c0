"""What BCost and BDeltaCost can be asked for, checked once, and the counts that they are asked about."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from costcurves._base.errors import DataError, InputError
from costcurves._base.validation import (
    MOST_POINTS,
    FloatArray,
    Rng,
    check_choice,
    check_integer,
    check_laplace,
    check_level,
    check_positive,
    check_rng,
    frozen,
    shown,
)
from costcurves.conditions.cost_matrix import OWNER, CostMatrix, check_priors
from costcurves.counting.class_labels import Labels, code_columns
from costcurves.counting.confusion import ConfusionMatrix, JointConfusion, pair_counts
from costcurves.inference.cost_cells import CostCells
from costcurves.inference.cost_methods import COST_METHODS, CostLaw, CostMethod, Resampling


@dataclass(frozen=True, slots=True)
class Options:
    """The options of one answer, checked."""

    level: float
    name: str
    resampling: Resampling
    priors: FloatArray | None

    @classmethod
    def check(
        cls,
        labels: Labels,
        level: Any,
        method: Any,
        laplace: Any = None,
        priors: Any = None,
        priors_size: Any = None,
        n_resamples: Any = 1000,
        rng: Rng = 0,
        *,
        default_laplace: float = 0.0,
    ) -> Options:
        """Return the options, checked against the labels of the cost matrix."""
        level, name = check_level(level), check_choice("method", method, COST_METHODS)
        if priors is None and priors_size is not None:
            raise InputError("`priors_size` must come with `priors`, got no priors")
        bootstrap = COST_METHODS[name].bootstrap
        for option, value in (("laplace", laplace), ("priors_size", priors_size)):
            if value is not None and not bootstrap:
                takers = " or ".join(repr(key) for key, one in COST_METHODS.items() if one.bootstrap)
                raise InputError(f"`{option}` must come with method {takers}, got method {name!r}")
        size = check_integer("n_resamples", n_resamples, 1, MOST_POINTS)
        needed = math.ceil(2 / (1 - level) - 1e-6)
        if name == "resample" and size < needed:
            raise InputError(f"`n_resamples` must be at least {needed} to find limits at level {level:.6g}, got {size}")
        added = (default_laplace if bootstrap else 0.0) if laplace is None else check_laplace(laplace)
        worth = None if priors_size is None else check_positive("priors_size", priors_size)
        return cls(
            level,
            name,
            Resampling(added, size, check_rng(rng), worth),
            None if priors is None else check_priors("priors", priors, labels)[0],
        )

    @property
    def method(self) -> CostMethod:
        """The method's entry in the registry."""
        return COST_METHODS[self.name]

    @property
    def tail(self) -> float:
        """What may lie beyond each end of the interval."""
        return (1 - self.level) / 2

    def law(self, cells: Sequence[CostCells]) -> CostLaw:
        """Return what the method knows about the expected cost."""
        return self.method.law(cells, self.resampling)

    def shares(self, class_counts: npt.NDArray[Any], labels: Labels) -> FloatArray:
        """Return the class frequencies: the data's, or the given ones, which must be 0 for a class without examples."""
        if self.priors is None:
            return np.asarray(class_counts / class_counts.sum())
        for t in np.flatnonzero((class_counts == 0) & (self.priors > 0)):
            raise DataError(
                f"`priors` must be 0 for a class without examples, got {self.priors[t]:g} for {shown(labels[t])}"
            )
        return self.priors


def count(y_true: Any, y_pred: Any, costs: CostMatrix) -> ConfusionMatrix:
    """Return the counts of true and predicted classes, in the order of the cost matrix's labels."""
    _, (true, predicted) = code_columns({"y_true": y_true, "y_pred": y_pred}, costs.labels, OWNER)
    return ConfusionMatrix(costs.labels, frozen(pair_counts(true, predicted, len(costs.labels))))


def count_joint(y_true: Any, pred_a: Any, pred_b: Any, costs: CostMatrix) -> JointConfusion:
    """Return the counts of true classes and two predictions."""
    columns = {"y_true": y_true, "pred_a": pred_a, "pred_b": pred_b}
    _, (true, a, b) = code_columns(columns, costs.labels, OWNER)
    return JointConfusion._from_codes(costs.labels, true, a, b)


def counts_of(confusion: Any, costs: CostMatrix) -> ConfusionMatrix:
    """Return counts in the order of the cost matrix's labels; an array is taken to be in that order."""
    if isinstance(confusion, ConfusionMatrix):
        return confusion.aligned(costs.labels, OWNER)
    return ConfusionMatrix.from_table(confusion, costs.labels)


def joint_of(joint: Any, costs: CostMatrix) -> JointConfusion:
    """Return joint counts in terms of the cost matrix's labels; an array is taken to be in that order."""
    if isinstance(joint, JointConfusion):
        return joint.aligned(costs.labels, OWNER)
    return JointConfusion.from_table(joint, costs.labels)
