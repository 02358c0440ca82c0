"""
Averaged ROC curves
===================

ROC curves of ten folds, averaged vertically with their binomial intervals (Provost, Fawcett & Kohavi 1998).
"""

import matplotlib.pyplot as plt
from _data import breast_cancer

import costcurves as cc

X, y, cv_results = breast_cancer()
display = cc.AveragedRocDisplay.from_cv_results(cv_results, X, y)

# %%
# The part that matters for a good classifier is the upper left corner; with the curve of each fold.
display.plot(names=["logit", "tree"], with_folds=True)
display.ax_.set(xlim=(0, 0.3), ylim=(0.7, 1.0))
plt.show()
