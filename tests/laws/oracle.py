"""The metrics written down once more, as plainly as possible: sort, add up, look."""

import math

import numpy as np


def path(y, p, w=None):
    """Cumulative differences after the last row of each distinct score, the origin first."""
    y, p = np.asarray(y, float), np.asarray(p, float)
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    score, tie = np.unique(p, return_inverse=True)
    events = np.bincount(tie, w * y, len(score))
    weight = np.bincount(tie, w, len(score))
    return score, np.concatenate([[0], np.cumsum(events - weight * score) / w.sum()])


def ecce(y, p, w=None):
    """ECCE-R, ECCE-MAD."""
    _, c = path(y, p, w)
    return c.max() - c.min(), np.abs(c).max()


def largest_interval_sum(y, p, w=None):
    """max over all score intervals of |sum of w(r - s)| / W, by trying every interval."""
    _, c = path(y, p, w)
    return np.abs(c[:, None] - c[None, :]).max()


def sigma(p, w=None):
    p = np.asarray(p, float)
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    return np.sqrt((w**2 * p * (1 - p)).sum()) / w.sum()


def uniform_bins(p, m):
    """Bin of each score, right-closed, edges the doubles b / m; by comparing with every edge."""
    edges = np.arange(m + 1) / m
    return np.array([max(0, int(np.sum(edges < s)) - 1) for s in np.asarray(p, float)])


def shares(p, m, w=None):
    """Quantile bins: a[i, j] = share of row i in bin j, ties pooled.

    Every row lies on a line of length W as a piece of length w; a tie is one longer piece, and
    each of its rows has the tie's share of every bin.
    """
    p = np.asarray(p, float)
    n = len(p)
    w = np.ones(n) if w is None else np.asarray(w, float)
    cuts = np.append(np.arange(m) * ((n // m) * w.sum() / n), w.sum())
    a = np.zeros((n, m))
    start = 0.0
    for score in np.unique(p):
        rows = p == score
        length = w[rows].sum()
        overlap = np.minimum(cuts[1:], start + length) - np.maximum(cuts[:-1], start)
        a[rows] = np.maximum(overlap, 0) / length
        start += length
    return a


def ece(y, p, a, importance, *, power=1):
    """Sum over bins of importance * |gap|^power, given weighted shares a[i, j]."""
    y, p = np.asarray(y, float), np.asarray(p, float)
    weight = a.sum(axis=0)
    filled = weight > 0
    gap = ((y - p) @ a)[filled] / weight[filled]
    return (importance[filled] * np.abs(gap) ** power).sum()


def ecce_of_members(y, p, member, w=None):
    """ECCE-R, ECCE-MAD and sigma, one stretch after the other, as the definition reads."""
    y, p = np.asarray(y, float), np.asarray(p, float)
    w = np.ones(len(p)) if w is None else np.asarray(w, float)
    y, p, member, w = (column[w > 0] for column in (y, p, np.asarray(member), w))
    points = sorted(set(p[member]))
    path, variance = [0.0], 0.0
    for k, point in enumerate(points):
        rows = p == point
        if not (rows & ~member).any():  # nobody else has this score: take the nearest
            low = (points[k - 1] + point) / 2 if k else -math.inf
            high = (point + points[k + 1]) / 2 if k + 1 < len(points) else math.inf
            rows = ((p > low) & (p <= high) & ~np.isin(p, points)) | (p == point)
        mine = rows & member & (p == point)
        a = np.where(rows, w, 0) / w[rows].sum()
        b = np.where(mine, w, 0) / w[mine].sum()
        rate = (a * y).sum()
        path.append(path[-1] + w[mine].sum() * ((b * y).sum() - rate))
        if 0 < y[rows].sum() < rows.sum():
            factor = ((b - a) ** 2).sum() / (1 - (a**2).sum())
            variance += w[mine].sum() ** 2 * rate * (1 - rate) * factor
    path = np.array(path) / w[member].sum()
    return np.ptp(path), np.abs(path).max(), math.sqrt(variance) / w[member].sum()
