"""Checks of several curves that are given together, and of their names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from costcurves._base.errors import InputError
from costcurves._base.validation import shown
from costcurves.curves.choices import TRIVIAL
from costcurves.curves.roc import RocCurve

FROM_SCORES = ": for labels and scores use from_predictions"


RocCurves = RocCurve | Iterable[RocCurve] | Mapping[str, RocCurve]


def check_curves(curves: RocCurves, what: str = "curves", *, repeats: bool = False) -> list[RocCurve]:
    """Return ROC curves from a sequence, or from a mapping whose keys are their names.

    Names must not repeat unless `repeats` allows it, as for the folds of one classifier.
    """
    if isinstance(curves, RocCurve):
        return [curves]
    if isinstance(curves, Mapping):
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
    if not repeats:
        check_unique([c.name for c in listed], what)
    return listed


def check_unique(names: Sequence[str], what: str) -> None:
    """Raise an error if a name repeats."""
    for i, name in enumerate(names):
        if name in names[:i]:
            raise InputError(f"`{what}` must have different names, got {shown(name)} twice: pass name= to each")


def check_not_trivial(names: Sequence[str], what: str) -> None:
    """Raise an error if a name is that of a trivial classifier."""
    for name in names:
        if name in TRIVIAL:
            raise InputError(f"`{what}` must not use the names of the trivial classifiers, got {shown(name)}")
