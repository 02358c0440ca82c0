"""
Power: how large must a test set be?
====================================

The probability that a test set shows which of two classifiers is cheaper, against the size of the difference and
against the number of examples (Margineantu & Dietterich 2000).
"""

import matplotlib.pyplot as plt
import numpy as np

import costcurves as cc

table = np.genfromtxt(
    cc.example_path("german_credit_scores.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
label = table["label"]
predicted = {name: np.where(table[name] >= 0.2, "bad", "good") for name in ("forest", "tree")}
costs = {f"{fn} : 1": cc.CostMatrix([[0, 1], [fn, 0]], labels=["good", "bad"]) for fn in (2, 5, 20)}

# %%
# The difference of the pilot itself, with more examples.
cc.PowerDisplay.from_predictions(label, predicted, costs=costs, n=np.geomspace(100, 20_000, 13).astype(int))

# %%
# A thousand examples, and differences of every size.
cc.PowerDisplay.from_predictions(label, predicted, costs=costs, n=1000, difference=np.linspace(0, 0.3, 16))
plt.show()
