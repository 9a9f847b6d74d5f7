"""How it works, in four pictures
==============================

Cells, selection, walks, zigzag: what happens between your predictions and the verdict, drawn
with plain numpy. The library does the same for ten million rows, in files, in engines, on a GPU.
"""

import matplotlib.pyplot as plt
import numpy as np

import secant

# %%
# Cells
# -----
#
# The scores are cut into ranges, the cells, and one pass adds up what happens in each: how much the
# graph goes up there in all, and how much down. From the sums alone the graph is known exactly at
# every edge (dots). Inside a cell it can rise no higher than its start plus all that goes up, and
# fall no lower than its start less all that goes down (boxes). No row was sorted.

rng = np.random.default_rng(3)
n, n_cells = 3_000, 48
score = np.sort(rng.random(n))
chance = 0.15 + 0.6 * score  # forecasts are too low below 0.375, and too high above
step = ((rng.random(n) < chance) - score) / n
path = np.concatenate([[0], np.cumsum(step)])
cell = (score * n_cells).astype(int)

up = np.bincount(cell, np.maximum(step, 0), n_cells)
down = np.bincount(cell, np.maximum(-step, 0), n_cells)
edge = np.concatenate([[0], np.cumsum(up - down)])
place = np.concatenate([[0], np.cumsum(np.bincount(cell, minlength=n_cells))]) / n


def draw(ax: plt.Axes, colors: list[str]) -> None:
    """Draw the boxes of the cells, the edges and the graph itself."""
    for k, color in enumerate(colors):
        ax.fill_between(place[k : k + 2], edge[k] - down[k], edge[k] + up[k], color=color, lw=0)
    ax.plot(np.arange(n + 1) / n, path, color="0.2", linewidth=0.8)
    ax.plot(place, edge, "o", markersize=4, color="black")
    ax.set(xlabel="share of predictions, in the order of their scores")
    ax.set(ylabel="cumulative difference")


figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
draw(ax, ["#dce6f2"] * n_cells)
ax.set_title("Cells: exact at the edges (dots), bounded inside (boxes)")

# %%
# Selection
# ---------
#
# The highest point is at least as high as the highest edge. A cell whose box does not reach that
# far cannot hold it. Only the few that do (coloured) are looked into, by a second pass that takes
# their rows alone; the same below. Of ten million uniform scores, calibrated, in 65,536 cells,
# some sixteen thousand are looked at a second time.

highest, lowest = edge.max(), edge.min()
open_above, open_below = edge[:-1] + up > highest, edge[:-1] - down < lowest
colors = np.where(open_above, "#9cc3e6", np.where(open_below, "#f2b48c", "#eeeeee")).tolist()
figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
draw(ax, colors)
for level in (highest, lowest):
    ax.axhline(level, color="black", linewidth=0.8, linestyle="--")
opened = open_above | open_below
ax.set_title(f"Selection: {opened.sum()} of {n_cells} cells could hold an extreme")
print(f"{opened[cell].sum():,} of {n:,} rows are looked at a second time")

# %%
# Exact chains
# ------------
#
# Is an ECCE-MAD this large chance? If predictions are calibrated, the number of events so far is a
# chain whose steps are known: up by one with the chance that the score says. Follow its law from
# row to row between two barriers, the largest distance from zero that was observed. What crosses a
# barrier is a graph at least as extreme; all that crosses, added up, is the P-value. Nothing is
# simulated and nothing supposes many rows.

some = np.sort(rng.random(60))
happened = rng.random(60) < np.clip(some + 0.15, 0, 1)
expected = np.cumsum(some)
observed = np.cumsum(happened) - expected
barrier = np.abs(observed).max()

law = np.zeros(61)
law[0], pvalue, laws = 1.0, 0.0, []
for s, mean in zip(some, expected, strict=True):
    law[1:] = law[1:] * (1 - s) + law[:-1] * s
    law[0] *= 1 - s
    crossed = np.abs(np.arange(61) - mean) >= barrier * (1 - 1e-12)
    pvalue += law[crossed].sum()
    law[crossed] = 0
    laws.append(law.copy())

rows, counts = np.meshgrid(np.arange(1, 61), np.arange(61), indexing="ij")
mass = np.array(laws)
shown = mass > 1e-6
figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
dots = ax.scatter(
    rows[shown],
    (counts - expected[:, None])[shown],
    c=np.log10(mass[shown]),
    s=14,
    cmap="Blues",
    vmin=-5,
    vmax=0,
)
ax.plot(np.arange(1, 61), observed, color="#d55e00", linewidth=1.2, label="observed")
for side in (-1, 1):
    ax.axhline(side * barrier, color="black", linewidth=0.9, linestyle="--")
figure.colorbar(dots, label="probability, as a power of ten")
ax.set(xlabel="rows, in the order of their scores", ylabel="events minus expected events")
ax.set_title(f"Exact chains: what crosses a barrier adds up to P = {pvalue:.4f}")
ax.legend(loc="lower left")
print(f"{pvalue:.10f}", f"{secant.assess(happened, some).ecce_mad.pvalue:.10f}")

# %%
# Zigzag
# ------
#
# Where are predictions off? Walk along the graph and turn only where it has come back by more than
# noise does: the threshold that the range of a calibrated graph exceeds in 5 of 100 samples.
# Between two turns all of it goes one way: a range of scores that is too low, or too high.

n = 40_000
score = np.sort(rng.random(n))
happened = rng.random(n) < score + 0.05 * np.sin(4 * np.pi * score) * (score < 0.95)
result = secant.assess(happened, score)
path = result.curve.difference
residual = np.sqrt(np.sum((happened - score) ** 2)) / n
threshold = secant.null.range.isf(0.05) * max(residual, result.sigma)

turns, best, direction = [], {1: 0, -1: 0}, 0
for k in range(1, len(path)):
    for way in (1, -1):  # the furthest so far: up, and down
        if direction in (0, way) and way * path[k] > way * path[best[way]]:
            best[way] = k
    for way in (1, -1):  # come back far enough from it?
        if direction in (0, way) and way * (path[best[way]] - path[k]) > threshold:
            turns.append(best[way])
            direction, best[-way] = -way, k
            break
turns.append(best[direction])

figure, ax = plt.subplots(figsize=(7.2, 4.2), layout="constrained")
ax.plot(result.curve.fraction, path, color="0.4", linewidth=0.9)
ax.plot(result.curve.fraction[turns], path[turns], "o-", color="#d55e00")
ax.plot([0.02, 0.02], [-threshold / 2, threshold / 2], color="black", linewidth=3)
ax.text(0.035, 0, "threshold", va="center", fontsize=9)
ax.set(xlabel="share of predictions, in the order of their scores")
ax.set(ylabel="cumulative difference")
ax.set_title(f"Zigzag: {len(turns)} turning points, {len(turns) - 1} ranges")
for found in sorted(result.intervals, key=lambda each: each.low):
    print(found)
