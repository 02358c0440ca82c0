"""
Averaged ROC curves
===================

ROC curves of ten folds, averaged vertically with their binomial intervals (Provost, Fawcett & Kohavi 1998).
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.tree import DecisionTreeClassifier

import costcurves as cc

# %%
# Cross-validate as usual. The display needs the estimators and the indices of the folds.
X, y = load_breast_cancer(return_X_y=True)
malignant = y == 0
models = {
    "logit": make_pipeline(StandardScaler(), LogisticRegression()),
    "bayes": GaussianNB(),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}
folds = StratifiedKFold(10, shuffle=True, random_state=0)
cv_results = {
    name: cross_validate(model, X, malignant, cv=folds, return_estimator=True, return_indices=True)
    for name, model in models.items()
}
display = cc.AveragedRocDisplay.from_cv_results(cv_results, X, malignant, interval="binomial")

# %%
# For a good classifier, the upper left corner matters most. Here it is shown with the curve of each fold.
display.plot(names=["logit", "tree"], with_folds=True)
display.ax_.set(xlim=(0, 0.3), ylim=(0.7, 1.0))
plt.show()
