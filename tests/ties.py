"""Tables of ties, small and drawn at random, and the P-values of small ones by brute force."""

import itertools
import math
from fractions import Fraction

import numpy as np
from hypothesis import strategies as st

from secant._api import scan
from secant._blocks.table import collapse
from secant._inference import multiscale
from secant._input.observations import observations


def table(scores, responses):
    """Collapse rows into ties."""
    score, tie = np.unique(np.asarray(scores, dtype=float), return_inverse=True)
    n1 = np.bincount(tie, weights=responses).astype(np.int64)
    return score, np.bincount(tie), n1


def observed_table(rng, scores, shift=0.0):
    """Draw responses that are calibrated but for a shift of their probability."""
    scores = np.asarray(scores)
    return table(scores, rng.random(scores.shape[0]) < np.clip(scores + shift, 0, 1))


def rows_of(score, n, n1):
    """Return the responses and scores of a table, row by row."""
    y = [np.arange(size) < events for size, events in zip(n, n1, strict=True)]
    return np.concatenate(y).astype(np.int64), np.repeat(score, n)


def blocks_of(score, n, n1):
    """Return the blocks of a table, each of them a tie."""
    y, p = rows_of(score, n, n1)
    return collapse(p, y, None)


@st.composite
def tables(draw, most=10):
    """Draw a small table with a few ties, some scores at 0, at 1, or very near them."""
    kinds = st.one_of(
        st.sampled_from([0.0, 1.0, 0.5, 0.1, 1e-9, 1 - 1e-9, 1e-300, 5e-324]),
        st.floats(1e-6, 1 - 1e-6),
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


# By brute force -----------------------------------------------------------------------------------


def least(seen, score, n):
    """Return what counts as at least so extreme: a guard for rounding is taken off."""
    events = sum(s * int(size) for s, size in zip(score, n, strict=True))
    most = float(max(events, int(sum(n)) - events))
    return seen - Fraction(1e-12) * seen - 4 * Fraction(math.ulp(most))


def by_fractions(score, n, n1, ends=None):
    """Return the P-values of ECCE-R and ECCE-MAD as fractions, by all counts that there are."""
    ends = set(range(len(score)) if ends is None else np.asarray(ends).tolist())
    scores = [Fraction(s) for s in np.asarray(score).tolist()]

    def reach(counts):
        x, low, high = Fraction(0), Fraction(0), Fraction(0)
        for k, (s, size, events) in enumerate(zip(scores, n, counts, strict=True)):
            x += int(events) - int(size) * s
            if k in ends:
                low, high = min(low, x), max(high, x)
        return high - low, max(high, -low)

    observed = [least(seen, scores, n) for seen in reach(n1)]
    totals = [Fraction(0), Fraction(0)]
    for counts in itertools.product(*(range(int(size) + 1) for size in n)):
        p = Fraction(1)
        for s, size, events in zip(scores, n, counts, strict=True):
            p *= math.comb(int(size), events) * s**events * (1 - s) ** (int(size) - events)
        for which, value in enumerate(reach(counts)) if p else ():
            totals[which] += p * (value >= observed[which])
    return totals


def law_of(score, n):
    """Return the probabilities of the numbers of events among observations, coin by coin."""
    law = {0: 1.0}
    for s in np.repeat(score, n).tolist():
        new = {}
        for events, p in law.items():
            for more, q in ((0, 1.0 - s), (1, s)):
                if q:
                    new[events + more] = new.get(events + more, 0.0) + p * q
        law = new
    return law


def by_states(score, n, n1):
    """Return the same in doubles, by the law of (height, lowest, highest) after each step.

    Heights are rounded once from fractions; only positive numbers are added.
    """
    scores = [Fraction(s) for s in score.tolist()]
    expected = [
        sum(s * int(k) for s, k in zip(scores[:i], n[:i], strict=True)) for i in range(len(n) + 1)
    ]
    laws = [law_of(score[i : i + 1], n[i : i + 1]) for i in range(len(n))]

    def walked(reached, far):
        states, gone = {(0, 0.0, 0.0): 1.0}, 0.0
        for law, reach in zip(laws, expected[1:], strict=True):
            new = {}
            for ((count, low, high), p), (events, q) in itertools.product(
                states.items(), law.items()
            ):
                x = float(count + events - reach)
                state = count + events, *far(low, high, x)
                if state[2] - state[1] >= reached:
                    gone += p * q
                else:
                    new[state] = new.get(state, 0.0) + p * q
            states = new
        return gone

    path = [int(k) - a for k, a in zip([0, *np.cumsum(n1)], expected, strict=True)]
    seen = max(path) - min(path), max(map(abs, path))
    kinds = (
        lambda low, high, x: (min(low, x), max(high, x)),
        lambda _, high, x: (0.0, max(high, abs(x))),
    )
    return [
        walked(float(least(reach, scores, n)), far) if reach else 1.0
        for reach, far in zip(seen, kinds, strict=True)
    ]


def enumerated(score, ends, response, weight=None):
    """Return the P-values of rows with weights, by all outcomes that there are."""
    score = np.asarray(score, float)
    weight = np.ones(len(score)) if weight is None else weight
    outcomes = (np.arange(1 << len(score))[:, None] >> np.arange(len(score))) & 1
    chance = np.where(outcomes, score, 1 - score).prod(axis=1)

    def reach(outcomes):
        path = np.cumsum(weight * (outcomes - score), axis=1)[:, ends]
        high, low = path.max(axis=1, initial=0.0), path.min(axis=1, initial=0.0)
        return high - low, np.maximum(high, -low)

    observed = reach(np.asarray(response)[None, :].astype(int))
    return [
        chance[values >= seen - 1e-9].sum()
        for values, seen in zip(reach(outcomes), observed, strict=True)
    ]
