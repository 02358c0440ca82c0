"""Other packages' numbers as plain floats, with their conventions written down.

Checked against hmeasure 0.1.6, dcurves 1.1.7 and scikit-learn 1.9. The imports are inside the functions
because dcurves and hmeasure each take seconds to import. None of the calls below emits a warning with the
versions of constraints.txt, so none is silenced.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest


def h_measure(labels: Sequence[int], scores: Sequence[float], *, severity_ratio: float | None = None) -> float:
    """Return `hmeasure.h_score`, the weight of the cost share being `h_measure_beta`.

    - Class frequencies are those of the data. Costs are c for a false alarm and 1 - c for a miss.
    - `severity_ratio` is cost_fp / cost_fn at the mode of the weight (the package's docstring has it the
      other way round); by default n_pos / n_neg, which puts the mode at c = prevalence.
    - It refuses scores outside the range of the labels, here [0, 1]. Only the order matters, so the scores
      are replaced by their dense ranks scaled to [0, 1].
    - Points below the diagonal count as being on it; a classifier with none above has H = 0.
    """
    h_score = pytest.importorskip("hmeasure").h_score

    distinct, ranks = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    scaled = ranks / max(len(distinct) - 1, 1)
    return float(h_score(np.asarray(labels, dtype=int), scaled, severity_ratio=severity_ratio))


def h_measure_beta(n_neg: int, n_pos: int, severity_ratio: float | None = None) -> tuple[float, float]:
    """Return the (a, b) of the Beta weight of c that `h_measure` uses.

    a = 2, b = 1 + 1/severity_ratio, so the mode is ratio / (1 + ratio) and the default is
    (2, 1 + n_neg / n_pos). Any negative ratio means the later proposal of Hand and Anagnostopoulos (2014),
    (1 + n_pos/n, 1 + n_neg/n); zero is an error.
    """
    if severity_ratio is None:
        severity_ratio = n_pos / n_neg
    if severity_ratio > 0:
        return 2.0, 1 + 1 / severity_ratio
    return 1 + n_pos / (n_neg + n_pos), 1 + n_neg / (n_neg + n_pos)


def net_benefit(
    labels: Sequence[int],
    probabilities: Sequence[float],
    thresholds: Sequence[float],
    *,
    prevalence: float | None = None,
) -> list[float]:
    """Return dcurves' net benefit prevalence · tpr - (1 - prevalence) · fpr · t/(1 - t) at each threshold t.

    - Positive means probability >= t, except that a probability of exactly 0 is moved one epsilon below 0
      (so it is never called positive, not even at t = 0) and one of exactly 1 one epsilon above 1.
    - Prevalence is that of the data unless given.
    - At t = 1 the odds are infinite and the answer is NaN or -inf.
    """
    import pandas as pd

    dca = pytest.importorskip("dcurves").dca

    data = pd.DataFrame({"outcome": np.asarray(labels, dtype=bool), "model": np.asarray(probabilities, dtype=float)})
    result = dca(data, outcome="outcome", modelnames=["model"], thresholds=list(thresholds), prevalence=prevalence)
    return [float(value) for value in result.loc[result["model"] == "model", "net_benefit"]]


def sklearn_roc(labels: Sequence[int], scores: Sequence[float]) -> list[tuple[float, float, float]]:
    """Return scikit-learn's (threshold, fpr, tpr) at every distinct score, starting with (inf, 0, 0)."""
    from sklearn.metrics import roc_curve

    fpr, tpr, thresholds = roc_curve(labels, scores, pos_label=1, drop_intermediate=False)
    return [(float(t), float(x), float(y)) for t, x, y in zip(thresholds, fpr, tpr, strict=True)]


def sklearn_auc(labels: Sequence[int], scores: Sequence[float]) -> float:
    """Return scikit-learn's area under the ROC curve (trapezoids: ties count one half)."""
    from sklearn.metrics import roc_auc_score

    return float(roc_auc_score(labels, scores))


def sklearn_brier(labels: Sequence[int], probabilities: Sequence[float]) -> float:
    """Return the mean squared difference of probability and 0/1 label (not summed over both classes)."""
    from sklearn.metrics import brier_score_loss

    return float(brier_score_loss(labels, probabilities, pos_label=1))
