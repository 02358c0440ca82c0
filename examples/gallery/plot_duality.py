"""
Duality: a point of ROC space is a line of cost space
=====================================================

A classifier with rates (fpr, tpr) is a point in ROC space. In cost space it is the straight line from fpr at pc = 0 to
1 - tpr at pc = 1, from which its cost can be read directly (Holte & Drummond 2005).
"""

import matplotlib.pyplot as plt

import costcurves as cc

# %% Three classifiers. The edges of the hull on the left correspond to the corners of the envelope on the right. B is
# below the hull, so its line does not touch the envelope, and it is not best under any condition.
rates = {"A": (0.1, 0.5), "B": (0.3, 0.65), "C": (0.4, 0.9)}
points = [cc.RocCurve.from_rates(fpr, tpr, name=name) for name, (fpr, tpr) in rates.items()]
hull = cc.RocHull(points)
here = cc.OperatingCondition(prevalence=0.5, cost_fp=1, cost_fn=1)
with cc.figure_style():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.8, 3.4), layout="constrained")
    cc.RocHullDisplay.from_results(hull, condition=here, ax=left)
    lines = [cc.CostCurve(point, policy=cc.thresholds.point()) for point in points]
    cc.CostCurveDisplay.from_results(lines, envelope=True, condition=here, ax=right)
    right.set(ylim=(0, 0.7))

# %% The slope of an edge of the hull is the condition at which two lines cross. On the right, both the condition and
# the cost can be read from the axes. On the left, they have to be worked out.
print(hull.ranges())
plt.show()
