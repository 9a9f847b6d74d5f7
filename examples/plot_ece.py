"""From ECE to ECCE, on one set of predictions
===========================================

A binned ECE moves with the bins. ECCE-R has none to move with.
"""

import matplotlib.pyplot as plt
import numpy as np

import secant

rng = np.random.default_rng(5)
n = 5_000
forecast = rng.beta(2, 2, n)
calibrated = secant.assess(rng.random(n) < forecast, forecast)
biased = secant.assess(rng.random(n) < forecast**1.15, forecast)

# %%
# The same predictions in 5 to 1,000 bins. Of the calibrated ones the ECE is noise, all of it, and
# more of it the more bins there are. Only beside its noise floor can an ECE be read.

bins = [5, 10, 15, 20, 30, 50, 100, 200, 500, 1000]
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained", sharey=True)
for ax, title, result in zip(axes, ("calibrated", "too high"), (calibrated, biased), strict=True):
    binned = [result.ece(n_bins=m) for m in bins]
    ax.plot(bins, [each.value for each in binned], marker="o", label="ECE")
    ax.plot(bins, [each.noise_floor for each in binned], "--", color="0.5", label="its noise floor")
    ax.axhline(result.ecce_r.value, color="black", label="ECCE-R")
    ax.set(xscale="log", xlabel="number of bins", title=f"{n:,} predictions, {title}")
    print(f"{title}: ECCE-R P = {result.ecce_r.pvalue:.2g}")
axes[0].legend()

# %%
# ECCE-R is not free of noise either: of calibrated predictions it is about 1.6 sigma. The contrast
# is that nothing is chosen, that its floor is smaller and falls like 1 / sqrt(n) whatever anybody
# chooses, that its law is known, so that there is a P-value, and that the graph says where.

figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
biased.plot(ax=ax)
print(biased)
