"""The metrics written down once more, as plainly as possible: sort, add up, look."""

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
    """Quantile bins: a[i, j] = share of row i in bin j, ties pooled (METHOD, section 2).

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
