"""
ROC convex hull
===============

Four classifiers scored 1000 applicants for credit. Only points on the convex hull of their ROC curves can be
best, whatever errors cost and however frequent bad applicants are (Provost & Fawcett 1997).
"""

import matplotlib.pyplot as plt
import numpy as np

import costcurves as cc

table = np.genfromtxt(
    cc.example_path("german_credit_scores.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
label, scores = table["label"], {name: table[name] for name in ("forest", "logit", "bayes", "tree")}
hull = cc.RocHull.from_predictions(label, scores, pos_label="bad")

# %% A miss costs five times as much as a false alarm, and 30 % of the applicants are bad. The iso-performance line of
# that condition touches the hull at the best classifier and threshold.
here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
cc.RocHullDisplay.from_results(hull, condition=here)

# %%
# If costs and prevalence are known only as ranges, so is the slope, which selects a segment of the hull.
unsure = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
cc.RocHullDisplay.from_results(hull, condition=unsure)

# %%
# Classifiers without scores are points. Different ones are best in the two scenarios.
rates = {"A": (0.1, 0.6), "B": (0.2, 0.65), "C": (0.35, 0.92), "D": (0.7, 0.93)}
points = [cc.RocCurve.from_rates(fpr, tpr, name=name) for name, (fpr, tpr) in rates.items()]
scenarios = [cc.OperatingCondition(1 / 11, cost_fp=1, cost_fn=fn) for fn in (4, 40)]
cc.RocHullDisplay.from_results(points, condition=scenarios)

# %%
# One of the two trivial strategies is best for slopes steeper than the first edge or flatter than the last.
cc.RocHullDisplay.from_results(
    points, condition=cc.OperatingCondition(1 / 11, cost_fp=1, cost_fn=1), null_strategy=True
)
plt.show()
