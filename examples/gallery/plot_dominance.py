"""
Who is best where
=================

The table of slope ranges of Provost, Fawcett & Kohavi (1998), as bars over the operating condition.
"""

import matplotlib.pyplot as plt
import numpy as np

import costcurves as cc

table = np.genfromtxt(
    cc.example_path("german_credit_scores.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
label, scores = table["label"], {name: table[name] for name in ("forest", "logit", "bayes", "tree")}
cc.DominanceDisplay.from_predictions(label, scores, pos_label="bad")

# %% The same with prevalence on the second axis, at costs of 5 to 1, and with the range of conditions that is
# considered possible.
here = cc.OperatingCondition(prevalence=0.3, cost_fp=1, cost_fn=5)
unsure = cc.OperatingRange(prevalence=(0.1, 0.4), cost_fp=1, cost_fn=(3, 8))
cc.DominanceDisplay.from_predictions(
    label, scores, pos_label="bad", condition=[here, unsure], secondary_axis="prevalence"
)
# %% Several data sets in one picture: who is best here, and in two domains of the paper's Table 1.
ours = cc.RocHull.from_predictions(label, scores, pos_label="bad").ranges().without_trivial()
paper = {
    "DNA (1998)": [("Bagged-MC4", 0, 0.485), ("NB", 0.485, 1)],
    "German (1998)": [("IB5", 0, 0.245), ("NB", 0.245, 0.68), ("Bagged-MC4", 0.68, 0.826), ("NB", 0.826, 1)],
}
cc.DominanceDisplay.from_results({"German, our scores": ours, **paper})
# %% What each classifier costs more than the best of all. One that is seldom best can be nearly optimal everywhere
# (Provost & Fawcett 1997, figure 5).
cc.RegretDisplay.from_predictions(label, scores, pos_label="bad", condition=here)
plt.show()
