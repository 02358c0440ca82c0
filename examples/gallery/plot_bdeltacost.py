"""
BDeltaCost: which of two is cheaper?
====================================

Two classifiers tested on the same examples often make the same errors. BDeltaCost resamples the predictions of both for
each example, so that common errors cancel (Margineantu & Dietterich 2000).
"""

import matplotlib.pyplot as plt
import numpy as np

import costcurves as cc

# %% Applicants for credit are refused if the score reaches 1/6. Accepting a bad applicant costs 5, and refusing a good
# one costs 1. The intervals of the two costs overlap.
table = np.genfromtxt(
    cc.example_path("german_credit_scores.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
costs = cc.CostMatrix([[0, 1], [5, 0]], labels=["good", "bad"])
predicted = {name: np.where(table[name] >= 1 / 6, "bad", "good") for name in ("forest", "tree")}
alone = {name: cc.bcost(table["label"], labels, costs, method="exact", laplace=0) for name, labels in predicted.items()}
for name, found in alone.items():
    print(f"{name:6} {found.estimate:.3f} in [{found.lower:.3f}, {found.upper:.3f}]")

# %%
# The interval of their difference excludes zero nevertheless.
paired = cc.bdeltacost(table["label"], *predicted.values(), costs, method="exact", names=("forest", "tree"))
print(paired)

# %% This is its distribution, together with the one for two classifiers with the same costs that were tested on
# different examples. There nothing cancels, and the difference would not be significant.
first, second = (found.distribution.sample(20_000, rng=seed) for seed, found in enumerate(alone.values()))
apart = np.sort(first - second)
x = np.linspace(-0.25, 0.1, 401)
with cc.figure_style():
    figure, ax = plt.subplots(figsize=(5.0, 3.2), layout="constrained")
    ax.plot(x, paired.distribution.cdf(x), label="the same examples")
    ax.plot(apart, np.arange(1, apart.size + 1) / apart.size, "--", label="different examples")
    ax.plot([paired.lower, paired.upper], [0.025, 0.975], "o", color=ax.lines[0].get_color(), ms=4)
    ax.axvline(0, color="0.6", lw=0.8)
    ax.set(xlim=(-0.25, 0.1), ylim=(0, 1), xlabel="cost of forest − cost of tree", ylabel="chance of at most that")
    ax.legend()

# %% The dots are the 95 % limits. With more classes the calls are the same. With several classifiers every pair is a
# test, and the limits are adjusted for that. In this example, a toll gate distinguishes four kinds of vehicles.
toll = cc.read_scenarios(cc.example_path("vehicle_costs.toml")).matrix("toll")
table = np.genfromtxt(
    cc.example_path("vehicle_predictions.csv"), delimiter=",", names=True, dtype=None, encoding="utf-8"
)
print(cc.bdeltacost_many(table["label"], {name: table[name] for name in ("logit", "forest", "bayes")}, toll))
plt.show()
