"""
Coverage of confidence bands
============================

How often does a 90 % band contain the true cost? The answer is computed by summing binomial probabilities, for the
settings that Dugas & Gadoury (2008) simulated. The Gaussian band fails where errors are rare, but Wilson's does not.
"""

import matplotlib.pyplot as plt

import costcurves as cc

world = cc.Binormal(shift=3, scale=3)
cc.CoverageDisplay.from_results(
    [cc.coverage(world, n_pos=n, n_neg=n, level=0.9, method="gaussian") for n in (25, 250, 1000)]
)

# %%
cc.CoverageDisplay.from_results(
    [cc.coverage(world, n_pos=25, n_neg=25, level=0.9, method=method) for method in ("wilson", "gaussian")]
)
plt.show()
