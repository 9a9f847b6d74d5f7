"""Segments: false alarms of the search, power, whether the right segment is named, its limits.

    python benchmarks/segments_study.py [--quick]

Everything is simulated from fixed seeds; the numbers are those of docs/segments.md.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
from concurrent.futures import ProcessPoolExecutor

import numpy as np

import secant
from secant._api import assess_segments as searching
from secant._inference.adjust import holm
from secant._inference.binomial import clopper_pearson
from secant._inference.segments import spans
from secant._input.observations import observations
from secant.sources.segments import InMemory

LEVEL = 0.05
DRAWS = 199


def features(n, rng, *, correlated):
    """Draw five features: two numbers, three with names; correlated ones share a factor."""
    common = rng.standard_normal(n)

    def one():
        own = rng.standard_normal(n)
        return 0.8 * common + 0.6 * own if correlated else own

    cuts = [(-0.8, 0.0, 0.8), (-1.0, -0.3, 0.3, 1.0), (0.0,)]
    names = {
        name: np.array(list("abcde"))[np.digitize(one(), limits)]
        for name, limits in zip(("region", "device", "plan"), cuts, strict=True)
    }
    return {**names, "age": np.round(43 + 12 * one()), "income": np.exp(10 + one())}


def told(given, name, level):
    """Tell which rows have a level of a feature; of age, which are in its lowest fifth."""
    return given[name] <= np.quantile(given[name], 0.2) if level is None else given[name] == level


def all_segments(y, p, given, min_rows=200):
    """Return every segment searched, with its sums."""
    data = InMemory(observations(y, p), given, bins=5, most=20)
    search = searching._Search(data, depth=2, min_rows=min_rows, level=1 - LEVEL)  # noqa: SLF001
    return search._catalogue(), data  # noqa: SLF001


def false_alarms(reps, *, correlated, rare, n=4000):
    """Return how often calibrated data are found to be off: three ways to search."""
    alarms = {"unadjusted": 0, "Holm": 0, "joint redraw": 0}
    searched = 0
    for rep in range(reps):
        rng = np.random.default_rng([1, correlated, rare, rep])
        given = features(n, rng, correlated=correlated)
        p = rng.beta(1, 19, n) if rare else rng.uniform(0.02, 0.98, n)
        y = rng.random(n) < p
        segments, _ = all_segments(y, p, given, min_rows=50)
        raw = segments.tails(spans(segments.gain), 1.0)
        searched += len(segments) / reps
        alarms["unadjusted"] += raw.min() <= LEVEL
        alarms["Holm"] += holm(raw).min() <= LEVEL
        drawn = secant.assess_segments(
            y, p, features=given, min_rows=50, draws=DRAWS, rng=rng, adjust="westfall-young"
        )
        alarms["joint redraw"] += bool(drawn.standing_out)
    return round(searched), {name: count / reps for name, count in alarms.items()}


CAUSES = {
    "device = b, 8 points": ([("device", "b")], lambda p: p - 0.08),
    "region = c and device = b, 15 points": (
        [("region", "c"), ("device", "b")],
        lambda p: p - 0.15,
    ),
    "plan = b and age, lowest fifth, 12 points": (
        [("plan", "b"), ("age", None)],
        lambda p: p + 0.12,
    ),
    "device = b, too extreme": ([("device", "b")], lambda p: 0.5 + 0.6 * (p - 0.5)),
    "device = b, 30% too high": ([("device", "b")], lambda p: 0.7 * p),
}


def named(result, cause):
    """Tell whether a segment found has the conditions of the cause, and no other."""
    wanted = {name for name, _ in cause}
    for row in result.rows:
        levels = dict(row.conditions)
        fits = all(level is None or levels.get(name) == f"= {level}" for name, level in cause)
        if fits and set(levels) == wanted:
            return True
    return False


def power(reps, cause, change, *, correlated, n=10_000):
    """Return how often a cause is found and named, what is reported, and what its limits hold."""
    tally = dict.fromkeys(("assess", "Holm", "found", "named"), 0)
    reports, standing, covered, picked, everything = [], [], 0, 0, 0
    for rep in range(reps):
        rng = np.random.default_rng([2, correlated, len(cause), rep])
        given = features(n, rng, correlated=correlated)
        p = rng.uniform(0.2, 0.8, n)
        rows = np.all([told(given, *each) for each in cause], axis=0)
        chance = np.where(rows, change(p), p)
        y = rng.random(n) < chance
        result = secant.assess_segments(y, p, features=given, draws=DRAWS, rng=rng)
        tally["assess"] += secant.assess(y, p, method="asymptotic").found
        tally["found"] += bool(result.failing)
        tally["named"] += named(result, cause)
        if result.failing:
            reports.append(len(result))
            standing.append(result.standing_out)
        segments, data = all_segments(y, p, given)
        tally["Holm"] += holm(segments.tails(spans(segments.gain), 1.0)).min() <= LEVEL
        truth = np.array([mean_off(data, each, chance - p) for each in segments.conditions])
        words = dict(zip(map(tuple, keys_of(data, segments)), truth, strict=True))
        for row in result.rows:
            picked += 1
            covered += row.ci[0] <= words[row.conditions] <= row.ci[1]
        low, high = clopper_pearson(segments.n1, segments.n, 1 - LEVEL / len(segments))
        scored = (segments.n1 - segments.gain.sum(axis=1)) / segments.n
        everything += bool(((low - scored <= truth) & (truth <= high - scored)).all())
    return {
        **{name: count / reps for name, count in tally.items()},
        "reports": np.mean(reports) if reports else float("nan"),
        "stand out": np.mean(standing) if standing else float("nan"),
        "picked covered": covered / max(picked, 1),
        "all covered": everything / reps,
    }


def mean_off(data, conditions, off):
    """Return the true miscalibration of a segment."""
    return off[data._member(conditions)].mean()  # noqa: SLF001


def keys_of(data, segments):
    """Return the conditions of segments in words."""
    return [
        [(data.levels[f].name, data.levels[f].words[level]) for f, level in conditions]
        for conditions in segments.conditions
    ]


def mcgrad_beside(reps):
    """Say what MCGrad's own estimate of multicalibration error gives on calibrated data."""
    if importlib.util.find_spec("mcgrad") is None:
        print("MCGrad is not installed: no comparison (pip install mcgrad)")
        return
    import pandas as pd
    from mcgrad.metrics import MulticalibrationError

    alarms, above = 0, 0
    for rep in range(reps):
        rng = np.random.default_rng([3, rep])
        given = features(4000, rng, correlated=False)
        p = rng.uniform(0.02, 0.98, 4000)
        frame = pd.DataFrame({**given, "y": rng.random(4000) < p, "p": p})
        error = MulticalibrationError(
            df=frame,
            label_column="y",
            score_column="p",
            categorical_segment_columns=["region", "device", "plan"],
            numerical_segment_columns=["age", "income"],
        )
        alarms += error.p_value <= LEVEL
        above += error.mce_sigma_scale > 2
    print(f"MCGrad, {reps} calibrated data sets: P <= 5% in {alarms / reps:.1%}")
    print(f"  multicalibration error above 2 sigma in {above / reps:.1%}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="few repetitions, to see it run")
    parser.add_argument("--only", choices=("alarms", "power"), help="one half of the study")
    parser.add_argument("--reps", type=int, default=500, help="data sets for each cause")
    parser.add_argument("--workers", type=int, default=2, help="processes for the causes")
    asked = parser.parse_args()
    share = 0.05 if asked.quick else 1
    # At 5% a test from 199 draws is decided by the tenth draw that is as extreme.
    searching.ENOUGH = int(LEVEL * (1 + DRAWS))
    start = time.perf_counter()
    if asked.only != "power":
        show_alarms(int(1000 * share))
        mcgrad_beside(int(100 * share))
    if asked.only != "alarms":
        show_power(int(asked.reps * share), asked.workers)
    print(f"{time.perf_counter() - start:.0f} seconds")


def show_alarms(reps):
    """Print how often calibrated data are found to be off."""
    noise = 1.96 * np.sqrt(LEVEL * (1 - LEVEL) / reps)
    print(
        f"Calibrated data, 4,000 rows: any segment found at 5% (+- {noise:.1%}), {reps} data sets"
    )
    for rare in (False, True):
        for correlated in (False, True):
            searched, alarms = false_alarms(reps, correlated=correlated, rare=rare)
            kind = "correlated" if correlated else "independent"
            scores = "Beta(1, 19)" if rare else "uniform"
            shown = ", ".join(f"{name} {rate:.1%}" for name, rate in alarms.items())
            print(f"  {scores} scores, {kind} features, about {searched} segments: {shown}")


def show_power(reps, workers):
    """Print what is found where one thing is wrong, a line of a table each."""
    print(f"One cause, 10,000 rows, {reps} data sets each")
    asked = [(words, correlated) for words in CAUSES for correlated in (False, True)]
    with ProcessPoolExecutor(workers) as pool:
        answers = pool.map(power_of, [reps] * len(asked), *zip(*asked, strict=True))
        for (words, correlated), found in zip(asked, answers, strict=True):
            shares = "assess", "found", "Holm", "named"
            cells = [
                words,
                "correlated" if correlated else "independent",
                *(f"{found[name]:.0%}" for name in shares),
                f"{found['reports']:.2f}",
                f"{found['stand out']:.1f}",
                f"{found['picked covered']:.1%}",
                f"{found['all covered']:.1%}",
            ]
            print("| " + " | ".join(cells) + " |", flush=True)


def power_of(reps, words, correlated):
    """Answer for a cause by its name, in a process of its own."""
    cause, change = CAUSES[words]
    searching.ENOUGH = int(LEVEL * (1 + DRAWS))
    return power(reps, cause, change, correlated=correlated)


if __name__ == "__main__":
    main()
