"""
Cost curves
===========

What each classifier costs at every operating condition, relative to always being wrong (Holte & Drummond 2005).
"""

import matplotlib.pyplot as plt
from _data import breast_cancer, german_credit

import costcurves as cc

label, scores = german_credit("forest", "logit", "bayes", "tree")
here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)

# %%
# Four classifiers and the best of all. The axis at the top reads the condition as prevalence, at costs of 5 to 1; the
# one on the right has the cost per applicant.
decision = cc.RocHull.from_predictions(label, scores, pos_label="bad").best(here)
cc.CostCurveDisplay.from_predictions(
    label,
    scores,
    pos_label="bad",
    envelope=True,
    condition=decision,
    secondary_axis="prevalence",
    money_axis=True,
)

# %%
# A cost curve is the lower envelope of the lines of all thresholds. Where it is below both trivial classifiers is the
# operating range.
cc.CostCurveDisplay.from_predictions(
    label, scores["tree"], pos_label="bad", name="tree", lines=True, operating_range=True
)

# %%
# Two classifiers: where they cross, and how sure their costs are.
two = {name: scores[name] for name in ("bayes", "tree")}
cc.CostCurveDisplay.from_predictions(
    label,
    two,
    pos_label="bad",
    level=0.9,
    crossings=True,
    operating_range=True,
    condition=here,
    secondary_axis="cost ratio",
)

# %%
# The mean cost over ten folds, with the curves of the folds and the interval of the mean.
X, y, cv_results = breast_cancer()
cc.CostCurveDisplay.from_cv_results({name: cv_results[name] for name in ("logit", "tree")}, X, y, level=0.95)
plt.show()
