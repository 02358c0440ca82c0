"""
The cost of every threshold
===========================

A cost curve takes the cheapest threshold at each condition. This figure shows one condition, with all thresholds. Two
samples of the same population have different cheapest thresholds, as in figure 1 of Dugas & Gadoury (2008).
"""

import matplotlib.pyplot as plt

import costcurves as cc

world = cc.Binormal(shift=3, scale=3)
samples = [cc.CostCurve.from_predictions(*world.draw(60, 60, rng=i), name=f"sample {i}") for i in (1, 2)]
cc.ThresholdDisplay.from_results(samples, condition=0.3)

# %%
# Thresholds that are not shown to cost more than the best one, at 90 %:
cc.ThresholdDisplay.from_results(samples[0], condition=0.3, threshold_set=0.9)
plt.show()
