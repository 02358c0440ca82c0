"""
Power: how large must a test set be?
====================================

The chance that a test set shows which of two classifiers is cheaper, against the size of the difference and against the
number of examples (Margineantu & Dietterich 2000).
"""

import matplotlib.pyplot as plt
import numpy as np
from _data import german_credit

import costcurves as cc

label, scores = german_credit("forest", "tree")
predicted = {name: np.where(np.array(values) >= 0.2, "bad", "good") for name, values in scores.items()}
costs = {f"{fn} : 1": cc.CostMatrix([[0, 1], [fn, 0]], labels=["good", "bad"]) for fn in (2, 5, 20)}

# %%
# The pilot's own difference, with more examples.
cc.PowerDisplay.from_predictions(label, predicted, costs=costs, n=np.geomspace(100, 20_000, 13).astype(int))

# %%
# A thousand examples, and differences of every size.
cc.PowerDisplay.from_predictions(label, predicted, costs=costs, n=1000, difference=np.linspace(0, 0.3, 16))
plt.show()
