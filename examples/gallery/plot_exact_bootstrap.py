"""
The bootstrap without drawing
=============================

If thresholds are fixed, the number of errors in a resample is binomial. The distribution of infinitely many resamples
can therefore be computed exactly, without a seed and without simulation error (Dugas & Gadoury 2008).
"""

import matplotlib.pyplot as plt
import numpy as np

import costcurves as cc

# %%
# The confusion matrix of Holte & Drummond (2005): 4 of 20 positives and 4 of 10 negatives are wrong.
roc = cc.RocCurve.from_confusion_matrix([[6, 4], [4, 16]], name="tree")
curve = cc.CostCurve(roc, policy=cc.thresholds.point())
exact = curve.distribution(0.5)
print(exact)

# %%
# Every value that a resample can have, with its probability, and 500 resamples for comparison.
drawn, times = np.unique(exact.sample(500, rng=0).round(9), return_counts=True)
with cc.figure_style():
    figure, ax = plt.subplots(figsize=(5.0, 3.0), layout="constrained")
    ax.vlines(exact.support, 0, exact.probabilities, lw=3, label="exact")
    ax.plot(drawn, times / 500, "o", color="C1", ms=3.5, label="500 resamples")
    ax.set(xlim=(0, 0.65), ylim=(0, None), xlabel="normalized cost at pc = 0.5", ylabel="probability")
    ax.legend()

# %% Three kinds of 90 % limits at every condition. The Gaussian limits and the bootstrap agree where there are enough
# errors. Wilson's limits, the default, also hold where there are few errors, as towards pc = 0 and 1, where only one
# class matters.
pc = np.linspace(0, 1, 101)
with cc.figure_style():
    figure, ax = plt.subplots(figsize=(5.0, 3.4), layout="constrained")
    for method, style in (("gaussian", "--"), ("exact", "-"), ("wilson", "-.")):
        band = curve.band(level=0.9, method=method, pc=pc)
        (line,) = ax.plot(pc, band.lower, style, label=method)
        ax.plot(pc, band.upper, style, color=line.get_color())
    ax.plot(pc, curve.evaluate(pc), color="0.4", lw=1)
    ax.set(xlim=(0, 1), ylim=(0, None), xlabel="probability-cost, pc", ylabel="normalized expected cost")
    ax.legend()
plt.show()
