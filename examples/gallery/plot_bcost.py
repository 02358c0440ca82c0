"""
BCost: resample counts, not costs
=================================

A cost is a price times a count. Prices are known and counts are random, so BCost resamples the confusion matrix and
prices the result (Margineantu & Dietterich 2000). An error that was not observed must not be treated as impossible.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

import costcurves as cc

# %%
# A triage has three outcomes. Sending an urgent case home costs 50, and it did not happen in 240 cases.
costs = cc.CostMatrix([[0, 1, 20], [1, 0, 5], [50, 10, 0]], labels=["benign", "watch", "urgent"])
triage = [[176, 10, 1], [4, 30, 2], [0, 2, 15]]

# %% The paper draws 1000 resamples (grey). The distribution that they approximate is computed exactly (line). It moves
# with the small number that is added to every cell: with λ = 0.1, the error that was not observed happens now and then.
with warnings.catch_warnings():
    warnings.simplefilter("ignore", cc.SmallSampleWarning)
    drawn = cc.bcost.from_confusion(triage, costs, method="resample", rng=0)
    exact = {laplace: cc.bcost.from_confusion(triage, costs, method="exact", laplace=laplace) for laplace in (0.1, 0.0)}

x = np.linspace(0, 1, 401)
with cc.figure_style():
    figure, ax = plt.subplots(figsize=(5.0, 3.2), layout="constrained")
    sample = np.sort(drawn.distribution.sample(1000, rng=0))
    ax.step(sample, np.arange(1, 1001) / 1000, color="0.6", label="1000 resamples, λ = 0.1")
    for (laplace, found), style in zip(exact.items(), ("-", "--"), strict=True):
        ax.plot(x, found.distribution.cdf(x), style, label=f"exact, λ = {laplace:g}")
        ax.plot([found.lower, found.upper], [0.025, 0.975], "o", color=ax.lines[-1].get_color(), ms=4)
    ax.set(xlim=(0, 1), ylim=(0, 1), xlabel="cost per case", ylabel="chance of at most that")
    ax.legend()

# %%
# The dots are the 95 % limits. 240 cases are not enough to judge an error of that price, and ``bcost`` warns about it.
# Its default method needs no λ: it asks which rates, also of errors that were not seen, could have given these counts.
for laplace, found in exact.items():
    print(f"λ = {laplace:g}: {found.estimate:.3f} in [{found.lower:.3f}, {found.upper:.3f}]")
print(exact[0.1].risks[0])
print(cc.bcost.from_confusion(triage, costs))
plt.show()
