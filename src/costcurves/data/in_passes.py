"""Examples that are read in batches, as often as necessary. The answers equal those of arrays in memory."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import partial
from itertools import combinations
from typing import Any

from costcurves._base.validation import FloatArray
from costcurves.counting.labels import LabelRule
from costcurves.curves.cost_curve import CostCurve
from costcurves.curves.roc import RocCurve
from costcurves.curves.steps import Policy
from costcurves.data.passes import PairCounts, Reader
from costcurves.data.tallies.pairs import PairedTally
from costcurves.decisions.all_pairs import AllPairs, PairedSteps
from costcurves.decisions.rows import CoErrors, Paired, Rows
from costcurves.inference.family import co_errors_of_cells


class InPasses(ABC):
    """Labels and scores that are not in memory. Curves are kept after they have been computed.

    Parameters
    ----------
    names : tuple of str
        The columns of scores.
    pos_label : label, optional
    """

    def __init__(self, names: tuple[str, ...], pos_label: Any) -> None:
        self.names, self.pos_label = names, pos_label
        self._rocs: dict[str, dict[str, RocCurve]] = {}

    @property
    @abstractmethod
    def reader(self) -> Reader:
        """The reader of the scores."""

    @abstractmethod
    def find(self, points: str) -> dict[str, RocCurve]:
        """Find the ROC curves of all classifiers, reading the data as often as necessary."""

    @abstractmethod
    def rows(self) -> Rows:
        """Read the examples into memory."""

    def roc(self, name: str, points: str = "hull") -> RocCurve:
        """Return the ROC curve of one classifier. The curves of all classifiers are found at once."""
        if points not in self._rocs:
            self._rocs[points] = self.find(points)
        return self._rocs[points][name]

    def curve(self, name: str, rule: Policy) -> CostCurve:
        """Return the cost curve of one classifier under a policy."""
        roc = self.roc(name, self.points_for(rule))
        if rule.cross_fits and roc.made_from == "weights":  # which needs the cases, and not only the sums of weights
            return self.rows().curve(name, rule)
        return CostCurve(roc, rule)

    def points_for(self, rule: Policy) -> str:
        """Return which points of a ROC curve a policy needs."""
        return "all" if rule.needs_all_points else "hull"

    def paired(self, a: CostCurve, b: CostCurve, pc: FloatArray, *, simultaneous: bool) -> Paired:
        """Count the examples that only one of two classifiers gets wrong, in one pass, or in memory if cross-fitted."""
        if _cross_fitted([a, b]):
            return self.rows().paired(a, b, pc, simultaneous=simultaneous)
        return self._pairs([(a, b)], pc)[a.name, b.name].paired(simultaneous=simultaneous)

    def co_errors(self, curves: Sequence[CostCurve], sample: Sequence[CostCurve], pc: FloatArray) -> CoErrors:
        """Count the errors that each pair of classifiers has in common, in one pass, or in memory if cross-fitted."""
        if _cross_fitted(curves):
            return self.rows().co_errors(curves, sample, pc)
        counted = self._pairs(list(combinations(curves, 2)), pc)
        places = list(combinations(range(len(sample)), 2))
        pos, neg = (
            co_errors_of_cells(
                which,
                {(i, j): counted[sample[i].name, sample[j].name].cells(which) for i, j in places},
                len(sample),
                pc.size,
            )
            for which in ("positive", "negative")
        )
        steps = {tally.names: tally.steps() for tally in counted.values()}
        weighted = any(tally.weighted for tally in counted.values())
        return CoErrors(AllPairs(curves, partial(_counted, steps), weighted=weighted), (pos, neg))

    def _pairs(
        self, pairs: Sequence[tuple[CostCurve, CostCurve]], pc: FloatArray
    ) -> dict[tuple[str, str], PairedTally]:
        """Count some pairs of classifiers and return the counts in the given order."""
        tallies = {(a.name, b.name): PairedTally(a, b, pc=pc) for a, b in pairs}
        counted = self.reader.run(PairCounts(tallies, LabelRule(self.pos_label))).tallies
        return {pair: counted[pair] for pair in tallies}


def _cross_fitted(curves: Sequence[CostCurve]) -> bool:
    """Return whether a case has other thresholds than other cases: then its place among all cases must be known."""
    return any(curve.policy is not None and curve.policy.cross_fits for curve in curves)


def _counted(steps: Mapping[tuple[str, str], PairedSteps], a: CostCurve, b: CostCurve) -> PairedSteps:
    """Return the steps of two classifiers that were counted before."""
    return steps[a.name, b.name]
