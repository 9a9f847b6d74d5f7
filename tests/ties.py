"""Tables of ties, small and drawn at random, for P-values of finite samples."""

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from secant._api import scan
from secant._inference import chains, finite, multiscale, plans, step_laws
from secant._input.observations import observations


def table(scores, responses):
    """Collapse rows into ties."""
    score, tie = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    n1 = np.bincount(tie, weights=responses).astype(np.int64)
    return score, np.bincount(tie), n1


def as_table(score, n, n1):
    return np.array(score, dtype=float), np.array(n), np.array(n1)


def log10_fraction(x):
    exponent = x.numerator.bit_length() - x.denominator.bit_length()
    return math.log10(x / Fraction(2) ** exponent) + exponent * math.log10(2)


def close(log10_p, expected, relative=1e-12):
    """Tell whether a P-value given by its logarithm is as expected, a fraction or a float."""
    if not expected:
        return log10_p in (-math.inf, -300.0)
    log10_expected = log10_fraction(Fraction(expected))
    if log10_expected < -300 and log10_p == -300:
        return True
    return abs(log10_p - log10_expected) * math.log(10) <= relative


def observed_table(rng, scores, shift=0.0):
    """Draw responses that are calibrated but for a shift of their probability."""
    scores = np.asarray(scores)
    return table(scores, rng.random(scores.shape[0]) < np.clip(scores + shift, 0, 1))


@st.composite
def tables(draw, most=10):
    """Draw a small table with a few ties, some scores at 0, at 1, or very near them."""
    kinds = st.one_of(
        st.sampled_from([0.0, 1.0, 0.5, 0.1, 1e-12, 1 - 1e-12, 5e-324]),
        st.floats(0, 1),
        st.integers(0, 20).map(lambda i: i / 20),
    )
    scores = draw(st.lists(kinds, min_size=1, max_size=most))
    responses = draw(st.lists(st.booleans(), min_size=len(scores), max_size=len(scores)))
    return table(scores, responses)


def random_ties(seed):
    """Return a table of a kind that depends on the seed, with responses that are a bit off."""
    rng = np.random.default_rng(seed)
    n = int(10 ** rng.uniform(1, 3.3))
    scores = [
        rng.random(n),
        rng.beta(0.5, 20, n),
        rng.beta(20, 0.5, n),
        rng.beta(0.5, 0.5, n).round(2),
        rng.random(n).round(1),
        rng.choice([0.2, 0.5, 0.55], n),
        np.where(rng.random(n) < 0.5, 0.3, rng.random(n)),
    ][seed % 7]
    return observed_table(rng, scores, rng.choice([0.0, 0.05, -0.1, 0.3]))


def family(y, p, w=None):
    """Return the ties of predictions, and the ranges of them that a scan looks at, if any."""
    ties = scan._ties(observations(y, p, w))
    return ties, (multiscale.ranges(ties) if len(ties.score) else None)


def enumerated(score, ends, response, weight=None):
    """Return the exact P-values of ECCE-R and ECCE-MAD, by all outcomes there are."""
    weight = np.ones(len(score)) if weight is None else weight

    def statistics(outcome):
        path = np.append(0.0, np.cumsum(weight * (np.array(outcome) - score))[ends])
        return path.max() - path.min(), np.abs(path).max()

    observed = statistics(response)
    totals = [0.0, 0.0]
    for outcome in itertools.product((0, 1), repeat=len(score)):
        p = np.where(outcome, score, 1 - score).prod()
        for which, value in enumerate(statistics(outcome)):
            totals[which] += p * (value >= observed[which] - 1e-9)
    return totals


def every_chain(path, c, span):
    """Make a chain of each kind."""
    steps = step_laws.make_steps(path.score, path.size, path.ends, 60.0)
    keys = np.unique(path.before - np.floor(path.before))
    yield finite.band(path, steps, c)
    for make in (finite.rise, finite.fall):
        yield make(path, plans.Rounding(len(keys), keys), steps, span, ("up",))
        for stride in (1, 3, 17):
            yield make(path, plans.Rounding(stride), steps, span, ("down", "up"))


def every_pair(path, span):
    """Make what rises and what falls by so much, without rounding and with."""
    steps = step_laws.make_steps(path.score, path.size, path.ends, 60.0)
    keys = np.unique(path.before - np.floor(path.before))
    four = ("down", "up") * 2
    grids = [(plans.Rounding(len(keys), keys), ("up",))]
    grids += [(plans.Rounding(stride), four) for stride in (1, 3, 17)]
    for grid, ways in grids:
        yield tuple(make(path, grid, steps, span, ways) for make in (finite.rise, finite.fall))


def any_chain(seed):
    """Make a chain that no path has, with steps of every kind and limits that jump."""
    rng = np.random.default_rng(seed)
    count, columns, stride = rng.integers(1, 12), rng.integers(1, 4), int(rng.integers(1, 4))
    laws = [rng.dirichlet(np.ones(taps)) if taps > 1 else [] for taps in rng.integers(1, 5, count)]
    move = rng.random(count)
    taps = [len(law) for law in laws]
    steps = step_laws.Steps(
        1 - move,
        move,
        np.where(np.array(taps) > 0, rng.integers(0, 3, count), 0),
        np.concatenate([[0], np.cumsum(taps)]),
        np.concatenate(laws),
    )
    low = np.cumsum(rng.choice([0, 0, 1, 2, 2 * stride + 1], count)) - rng.integers(1, 9)
    high = np.maximum.accumulate(low + rng.integers(1, 9 * stride, count))
    if rng.random() < 0.3:
        return chains.Chain(steps, low, np.maximum(high, 1))  # it starts in cell 0
    # A success takes what was at the minimum at least as far above it as a success goes.
    before = np.concatenate([low[:1], low[:-1]])[:, np.newaxis]
    entry = before + stride + rng.integers(0, 5 * stride, (count, columns))
    hold = np.where(np.array(taps) > 0, rng.integers(0, 3, count), 0)
    return chains.Chain(steps, low, high, stride, hold, entry)
