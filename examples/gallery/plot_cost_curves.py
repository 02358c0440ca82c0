"""
Cost curves
===========

Cost curves show what each classifier costs at every operating condition, relative to the cost of getting every case
wrong (Holte & Drummond 2005).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import costcurves as cc

table = np.genfromtxt(
    cc.example_path("german_credit_scores.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
label, scores = table["label"], {name: table[name] for name in ("forest", "logit", "bayes", "tree")}
here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)

# %% Four classifiers, and the best of them at each condition. The axis at the top shows the condition as prevalence at
# costs of 5 to 1, and the one on the right shows the cost per applicant.
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

# %% A cost curve is the lower envelope of the lines of all thresholds. The operating range is where it is below both
# trivial classifiers.
cc.CostCurveDisplay.from_predictions(
    label, scores["tree"], pos_label="bad", name="tree", lines=True, operating_range=True
)

# %%
# Two classifiers, with their crossings and the uncertainty of their costs.
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
# The mean cost over ten folds at the thresholds that are best on the other folds, with its limits.
X, y = load_breast_cancer(return_X_y=True)
malignant = y == 0
models = {
    "logit": make_pipeline(StandardScaler(), LogisticRegression()),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}
folds = StratifiedKFold(10, shuffle=True, random_state=0)
cv_results = {
    name: cross_validate(model, X, malignant, cv=folds, return_estimator=True, return_indices=True)
    for name, model in models.items()
}
evaluation = cc.evaluate(cv_results, X, malignant)
names = evaluation.names
cc.CostCurveDisplay.from_results(
    {name: evaluation.averaged_curve(name, policy="crossfit") for name in names},
    bands={name: evaluation.average_band(name) for name in names},
    folds={name: evaluation.fold_curves(name, policy="crossfit") for name in names},
)
plt.show()
