"""
Difference of two cost curves
=============================

Is one classifier cheaper than another, and at which conditions? The limits hold at all conditions jointly, so the
marked ranges can be read together (Holte & Drummond 2005).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import costcurves as cc

table = np.genfromtxt(
    cc.example_path("german_credit_scores.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
label, scores = table["label"], {name: table[name] for name in ("forest", "tree")}
display = cc.CostDifferenceDisplay.from_predictions(label, scores, pos_label="bad", with_curves=True)

# %%
# The same difference, drawn as large as possible.
display.plot(y_limits="data")

# %%
# Two classifiers of tumours, on examples on which neither was trained.
X, y = load_breast_cancer(return_X_y=True)
malignant = y == 0
models = {
    "logit": make_pipeline(StandardScaler(), LogisticRegression()),
    "bayes": GaussianNB(),
}
folds = StratifiedKFold(10, shuffle=True, random_state=0)
cv_results = {
    name: cross_validate(model, X, malignant, cv=folds, return_estimator=True, return_indices=True)
    for name, model in models.items()
}
cc.CostDifferenceDisplay.from_cv_results(cv_results, X, malignant, pair=("logit", "bayes"), y_limits="data")

# %% The confusion matrices of two classifiers do not determine the uncertainty of their difference, which depends on
# how often they agree. Here are the same two matrices with much and with little agreement.
close, loose = [[[60, 0], [0, 40]], [[20, 20], [0, 160]]], [[[30, 30], [30, 10]], [[1, 39], [19, 141]]]
with cc.figure_style():
    figure, axes = plt.subplots(1, 2, figsize=(6.8, 2.8), layout="constrained")
    for ax, joint in zip(axes, (close, loose), strict=True):
        difference = cc.compare.from_joint(negatives=joint[0], positives=joint[1], level=0.99)
        cc.CostDifferenceDisplay.from_results(difference, ax=ax, y_limits=(-0.4, 0.4))
plt.show()
