"""What contributors add most often is added from one place: an interval method, a policy, a display, a reader."""

from __future__ import annotations

from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import costcurves as cc
from costcurves.curves import thresholds
from costcurves.data import frame_source
from costcurves.data.readers.frame_readers import PartsReader, counted, frame_batch, merged
from costcurves.displays._base import ScoreDisplay
from costcurves.inference.bands import methods
from costcurves.inference.paired import rates

mpl.use("agg")

rng = np.random.default_rng(4)
Y = rng.random(80) < 0.4
A, B = Y + rng.normal(0, 0.7, 80), Y + rng.normal(0, 1.2, 80)
PC = [0.2, 0.5, 0.7]


def test_an_interval_method_of_one_curve_is_one_entry(monkeypatch):
    def limits(error_rates, z, options):
        cost = error_rates.pc * error_rates.fnr + (1 - error_rates.pc) * error_rates.fpr
        return cost - z / 100, cost + z / 100

    curve = cc.CostCurve.from_predictions(Y, A)
    with pytest.raises(cc.InputError, match=r"`method` must be one of .* got 'hundredth'"):
        curve.band(method="hundredth", pc=PC)
    monkeypatch.setitem(methods.BAND_METHODS, "hundredth", methods.BandMethod(limits))
    band = curve.band(method="hundredth", pc=PC)
    assert band.method == "hundredth"
    assert band.upper - band.lower == pytest.approx([2 * 1.959964 / 100] * 3)


def test_an_interval_method_of_differences_is_one_entry(monkeypatch):
    with pytest.raises(cc.InputError, match=r"`method` must be one of .* got 'wald'"):
        cc.compare(Y, A, B, method="wald", pc=PC)
    monkeypatch.setitem(rates.PAIRED_METHODS, "wald", rates.PAIRED_METHODS["gaussian"])
    ours, known = (cc.compare(Y, A, B, method=name, pc=PC) for name in ("wald", "gaussian"))
    assert ours.upper.tolist() == known.upper.tolist()
    many = cc.compare_many(Y, {"a": A, "b": B}, method="wald", pc=PC)
    assert many.pairs[0].estimate.tolist() == ours.estimate.tolist()


@dataclass(frozen=True, slots=True)
class Median(thresholds.Policy):
    """Predict positive from the median of the distinct scores on, whatever the condition is."""

    def steps(self, roc):
        """Return the one step, over all pc."""
        middle = roc.thresholds.size // 2
        return thresholds.Steps(np.array([0.0, 1.0]), np.array([middle]), roc.thresholds[[middle]])


def test_a_policy_is_one_class_that_every_question_takes(monkeypatch):
    roc = cc.RocCurve.from_predictions(Y, A, name="a")
    cut = float(roc.thresholds[roc.thresholds.size // 2])
    fixed = cc.CostCurve(roc, cut)
    assert cc.CostCurve(roc, Median()).evaluate(PC).tolist() == fixed.evaluate(PC).tolist()
    where = cc.OperatingCondition(0.3, cost_fp=1, cost_fn=3)
    both = {"a": A, "b": B}
    monkeypatch.setitem(thresholds.NAMED, "median", Median)
    assert cc.recommend(Y, both, where, policy="median").best.threshold in [
        float(cc.CostCurve.from_predictions(Y, scores, policy=Median()).threshold_at(0.5)) for scores in (A, B)
    ]
    assert cc.compare(Y, A, B, policy="median", pc=PC).significant() is not None
    assert (
        cc.Predictions(Y, both).curve("a", policy="median").band(pc=PC).estimate.tolist() == fixed.evaluate(PC).tolist()
    )


class RateDisplay(ScoreDisplay):
    """The true positive rate against the threshold."""

    def __init__(self, curves):
        self.curves = {curve.name: curve for curve in curves}

    @property
    def names(self):
        """The classifiers."""
        return tuple(self.curves)

    @classmethod
    def _from_sample(cls, sample):
        return cls(sample.curves())

    def plot(self, ax=None, *, names=None):
        """Draw a line for each classifier."""
        self.ax_ = Figure().subplots() if ax is None else ax
        self.figure_ = self.ax_.figure
        self.line_ = [self.ax_.plot(curve.thresholds[1:], curve.tpr[1:])[0] for curve in self.curves.values()]
        return self


def test_a_display_is_one_class_with_every_door():
    both = {"a": A, "b": B}
    from_scores = RateDisplay.from_predictions(Y, both)
    from_predictions = RateDisplay.from_predictions(cc.Predictions(Y, both))
    from_results = RateDisplay.from_results([cc.RocCurve.from_predictions(Y, A, name="a")])
    assert from_scores.names == from_predictions.names == ("a", "b")
    assert from_scores.line_[0].get_xydata().tolist() == from_results.line_[0].get_xydata().tolist()


def test_a_reader_is_one_class_and_one_entry(monkeypatch):
    class HalvesReader(PartsReader):
        """Reads the two halves of a lazy frame apart."""

        read_before = 0

        def read(self, counts):
            type(self).read_before += 1
            whole = self.frame.select(self.roles.names).collect()
            halves = (whole[: whole.height // 2], whole[whole.height // 2 :])
            return merged(counted([half], counts, self.roles, frame_batch) for half in halves)

    frame = pl.LazyFrame({"y": Y.astype(int), "a": A, "b": B})
    monkeypatch.setitem(frame_source.READERS, "polars", HalvesReader)
    ours = cc.Predictions.from_frame(frame, label="y", scores=["a", "b"])
    arrays = cc.Predictions(Y, {"a": A, "b": B})
    assert ours.hull().thresholds.tolist() == arrays.hull().thresholds.tolist()
    assert ours.compare("a", "b", pc=PC).to_dict() == arrays.compare("a", "b", pc=PC).to_dict()
    assert HalvesReader.read_before > 0
