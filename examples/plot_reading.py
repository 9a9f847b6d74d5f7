"""Reading a cumulative plot
=========================

Slope is miscalibration; flat is good. Four pictures teach the rest.
"""

import matplotlib.pyplot as plt
import numpy as np

import secant

rng = np.random.default_rng(0)
n = 20_000
forecast = rng.random(n)

# %%
# A slope
# -------
#
# Forecasts between 0.4 and 0.6 are ten points too high; all others are right. Where forecasts are
# right the graph drifts sideways. Between 0.4 and 0.6 it falls, and the line drawn between any two
# points, a *secant*, has the mean miscalibration of the predictions between them as its slope.

chance = forecast - 0.1 * ((forecast > 0.4) & (forecast < 0.6))
happened = rng.random(n) < chance
result = secant.assess(happened, forecast)

figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
result.plot(ax=ax, worst=False)
curve = result.curve
ends = np.searchsorted(curve.score, [0.4, 0.6])
x, y = curve.fraction[ends], curve.difference[ends]
ax.plot(x, y, color="#d55e00", linewidth=1.5, marker="o", zorder=5)
run, rise = x[1] - x[0], y[1] - y[0]
slope = rise / run
ax.annotate(
    f"rise {rise:.4f}\nrun {run:.3f}\nslope {slope:.3f}: {-100 * slope:.1f} points too high",
    xy=(x.mean(), y.mean()),
    xytext=(0.55, 0.62),
    textcoords="axes fraction",
    arrowprops={"arrowstyle": "-", "color": "0.4"},
)

# %%
# The result agrees, and adds limits.

print(result.between(0.4, 0.6))

# %%
# The triangle
# ------------
#
# At the left edge stands a triangle, four sigma high: two either way of zero. It is the yardstick
# of noise: calibrated predictions usually range over about 0.4 of its height, and over more than
# 0.6 in 5 of 100 samples. On the left 500 of them, on the right 50,000. Beside their triangles the
# graphs wander alike; the numbers on the axes say that the second stays ten times closer to zero.

figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, size in zip(axes, (500, 50_000), strict=True):
    calibrated = rng.random(size)
    result = secant.assess(rng.random(size) < calibrated, calibrated)
    result.plot(ax=ax, title=f"{size:,} calibrated predictions", worst=False)

# %%
# Shapes
# ------
#
# What usually goes wrong has a shape that is recognised at a glance.

log_odds = np.log(forecast / (1 - forecast))
chances = {
    "calibrated": forecast,
    "too high": forecast**1.3,
    "too low": 1 - (1 - forecast) ** 1.3,
    "too extreme": 1 / (1 + np.exp(-0.7 * log_odds)),
    "too moderate": 1 / (1 + np.exp(-1.4 * log_odds)),
    "alternating": forecast + 0.12 * forecast * (1 - forecast) * 4 * np.sin(6 * np.pi * forecast),
}

figure, axes = plt.subplots(2, 3, figsize=(10, 5.6), layout="constrained", sharex=True)
for ax, (name, chance) in zip(axes.flat, chances.items(), strict=True):
    found = secant.assess(rng.random(n) < np.clip(chance, 0, 1), forecast)
    ax.axhline(0, color="0.7", linewidth=0.8)
    ax.plot(found.curve.fraction, found.curve.difference, color="#3b5b92", linewidth=1.2)
    ax.plot([0, 0], [-2 * found.sigma, 2 * found.sigma], color="black", linewidth=3)
    ax.set_title(f"{name} (the verdict: {found.direction or 'nothing found'})", fontsize=9)
    ax.tick_params(labelsize=8)
figure.supxlabel("share of predictions, in the order of their scores", fontsize=9)
figure.supylabel("cumulative difference", fontsize=9)

# %%
# ECCE-R
# ------
#
# The highest point minus the lowest is ECCE-R: here the graph of forecasts that are too extreme.
# No other range of scores has more events in excess, or missing, than the one between them.

happened = rng.random(n) < chances["too extreme"]
result = secant.assess(happened, forecast)
curve = result.curve
top, bottom = curve.difference.max(), curve.difference.min()

figure, ax = plt.subplots(figsize=(7.2, 4.6), layout="constrained")
result.plot(ax=ax)
for level in (top, bottom):
    ax.axhline(level, color="black", linewidth=0.8, linestyle="--")
ax.annotate("", (0.97, top), (0.97, bottom), arrowprops={"arrowstyle": "<->"})
ax.text(0.95, (top + bottom) / 2, f"ECCE-R\n{top - bottom:.4f}", ha="right", va="center")
print(f"{top - bottom:.4f}", f"{result.ecce_r.value:.4f}")
