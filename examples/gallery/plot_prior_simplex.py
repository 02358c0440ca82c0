"""
Three classes: who is cheapest under which priors
=================================================

With three classes the ROC convex hull becomes a map. Each point of the triangle represents three class frequencies, and
each region the classifier that is cheapest there.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.naive_bayes import GaussianNB
from sklearn.tree import DecisionTreeClassifier

import costcurves as cc

X, y = load_wine(return_X_y=True)
models = {
    "bayes": GaussianNB(),
    "bayes, few 0": GaussianNB(priors=[0.05, 0.475, 0.475]),
    "bayes, many 2": GaussianNB(priors=[0.05, 0.05, 0.9]),
    "tree": DecisionTreeClassifier(max_depth=3, random_state=0),
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
cv_results = {
    name: cross_validate(model, X[:, :4], y, cv=folds, return_estimator=True, return_indices=True)
    for name, model in models.items()
}
costs = cc.CostMatrix([[0, 1, 8], [1, 0, 3], [12, 4, 0]], labels=[0, 1, 2])
cc.PriorSimplexDisplay.from_cv_results(cv_results, X[:, :4], y, costs=costs, mark={"even": [1 / 3, 1 / 3, 1 / 3]})
plt.show()
