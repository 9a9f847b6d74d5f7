"""How many predictions do I need?
===============================

The smallest ECCE-R that so many predictions show nearly always.
"""

import matplotlib.pyplot as plt
import numpy as np

import secant

sizes = np.unique(np.logspace(2, 7, 60).astype(int))
figure, ax = plt.subplots(figsize=(7.2, 4.4), layout="constrained")
for mean in (0.5, 0.1, 0.01):
    shown = [secant.detectable(int(n), scores=mean) for n in sizes]
    ax.plot(sizes, shown, label=f"mean score {mean}")
ax.axhline(0.02, color="0.6", linestyle="--", linewidth=0.8)
ax.set(
    xscale="log",
    yscale="log",
    xlabel="predictions",
    ylabel="ECCE-R that 99 of 100 samples show, at 5%",
)
ax.legend()

# %%
# The other way round: how many for an ECCE-R of 0.02, and of 0.005?

for wanted in (0.05, 0.02, 0.01, 0.005):
    print(f"{wanted}: {secant.predictions_needed(wanted):,}")
