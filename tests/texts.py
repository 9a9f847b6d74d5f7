"""Whole texts of results: every kind of result, what it prints, one snapshot a kind.

``CASES`` makes results, ``told`` prints one. The texts stand in ``tests/snapshots/results``, a file
a kind; ``make snapshots`` writes them anew, to be read before they are committed. No other test
asserts a whole sentence of a result: tests beside the modules check facts.
"""

from __future__ import annotations

from datetime import date, timedelta
from functools import cache
from typing import Any

import numpy as np

import secant
from helpers import ROOT
from monitors import watched
from pages import EDGES
from samples import DEGENERATE, miscalibrated, simulate, stepped
from secant._results.gate import Gate
from secant.paper import synthetic

FOLDER = ROOT / "tests" / "snapshots" / "results"


# --- calibrations ---------------------------------------------------------------------------------


def shifted(chance: Any, n: int = 20_000, seed: int = 0, low: float = 0.0, **options: Any) -> Any:
    """Assess scores spread evenly from ``low`` to its mirror image, of which chances are made."""
    rng = np.random.default_rng(seed)
    p = rng.uniform(low, 1 - low, n)
    return secant.assess(rng.random(n) < chance(p), p, **options)


def instead(scores: Any, n: int) -> Any:
    """Assess what somebody passed in place of the scores."""
    y, p = miscalibrated(n)
    return secant.assess(y, scores(p))


def paper() -> Any:
    """Assess the paper's synthetic set."""
    (y,) = synthetic.responses(32768, "square rooted")
    return secant.assess(y, synthetic.scores(32768, "square rooted"), method="asymptotic")


def wave(lobes: int) -> Any:
    """Assess scores that are in turn too low and too high."""
    return shifted(lambda p: p + 0.1 * np.sin(lobes * np.pi * (p - 0.15) / 0.7), 100_000, 5, 0.15)


def narrow(low: float, high: float, off: float) -> Any:
    """Assess scores that are off in a narrow range."""
    return shifted(lambda p: np.where((p > low) & (p < high), p + off, p), 60_000, 6)


def within() -> Any:
    """Assess scores that are too low but for one that is far too high."""
    rng = np.random.default_rng(0)
    p = rng.random(40_000)
    y = np.append(rng.random(p.size) < np.minimum(p + 0.06, 1), rng.random(300) < 0.1)
    return secant.assess(y, np.append(p, np.full(300, 0.5)))


def along(kind: str, n: int = 6000) -> Any:
    """Assess predictions along another axis, off in its second half."""
    rng = np.random.default_rng(1)
    p, x = rng.random(n), np.arange(n) // 20
    y = rng.random(n) < np.where(x > 150, 0.8 * p, p)
    order: Any = x + 0.5
    if kind == "dates":
        order = [date(2025, 1, 1) + timedelta(int(day)) for day in x]
    return secant.assess(y, p, order_by=order)


def drifting() -> Any:
    """Assess predictions that are off one way in one half and the other way in the other."""
    rng = np.random.default_rng(1)
    p, x = rng.uniform(0.2, 0.8, 4000), np.arange(4000)
    return secant.assess(rng.random(4000) < p + np.where(x < 2000, 0.1, -0.1), p, order_by=x)


def in_clusters(power: float) -> Any:
    """Assess rows that belong together by fours."""
    y, p = miscalibrated(2000, power=power)
    return secant.assess(y, p, clusters=np.arange(2000) // 4, rng=0)


def confident(power: float) -> Any:
    """Assess confidences in the most likely of three classes."""
    return secant.assess_classes(*simulate(4000, 3, power=power))[0]


def weighted() -> Any:
    """Assess rows with sampling weights."""
    y, p = miscalibrated(3000)
    return secant.assess(y, p, sample_weight=np.linspace(1, 4, 3000), confidence_level=0.9)


CALIBRATIONS: dict[str, Any] = {
    "paper": paper,
    "too high": lambda: shifted(lambda p: 0.8 * p),
    "too low": lambda: shifted(lambda p: 1 - 0.8 * (1 - p)),
    "too extreme": lambda: shifted(lambda p: 0.1 + 0.8 * p),
    "too moderate": lambda: shifted(lambda p: p + np.where(p > 0.5, 0.05, -0.05), low=0.2),
    "too high at the top": lambda: shifted(lambda p: np.where(p > 0.7, p - 0.1, p), 40_000),
    "in turn three times": lambda: wave(3),
    "in turn eight times": lambda: wave(8),
    "very little": lambda: shifted(lambda p: p * 0.992, 2_000_000, 2),
    "rare": lambda: shifted(lambda p: p * 0.002, 200_000, 3),
    "narrow": lambda: narrow(0.3, 0.33, 0.5),
    "the other way within": within,
    "one score": lambda: secant.assess(np.arange(1000) < 700, np.full(1000, 0.5)),
    "inverted": lambda: instead(lambda p: 1 - p, 5000),
    "classes": lambda: instead(lambda p: (p > 0.5) * 1.0, 2000),
    "calibrated": lambda: shifted(lambda p: p, 5000, 4),
    "calibrated, few": lambda: shifted(lambda p: p, 40, 4),
    "weighted": weighted,
    "clusters, calibrated": lambda: in_clusters(1.0),
    "clusters, off": lambda: in_clusters(1.6),
    "overconfident": lambda: confident(2.0),
    "underconfident": lambda: confident(0.5),
    "along numbers": lambda: along("numbers"),
    "along dates": lambda: along("dates"),
    "along numbers, both ways": drifting,
    "one wrong certainty": lambda: secant.assess([0, 1, 1, 0, 1], [0.2, 0.0, 0.7, 0.4, 1.0]),
    "wrong certainties among many": lambda: secant.assess(
        [0] * 499 + [1] * 502, [0.0] * 500 + [1.0] * 501
    ),
    "no events": lambda: secant.assess([0] * 50, np.linspace(0.1, 0.9, 50)),
    "only events": lambda: secant.assess([1] * 50, np.linspace(0.1, 0.9, 50)),
    "few distinct scores": lambda: secant.assess(
        [0, 1] * 200, np.arange(400) % 7 / 8 + 0.05, method="asymptotic"
    ),
    "one heavy row": lambda: secant.assess(
        [0, 1] * 200,
        np.linspace(0.1, 0.9, 400),
        sample_weight=[100] + [1] * 399,
        method="asymptotic",
    ),
    "left out": lambda: secant.assess([0, 1, None, 1], [0.1, 0.6, 0.4, None], missing="drop"),
    **{
        f"edge: {name}": lambda case=case: secant.assess(*case[0], **case[1])
        for name, case in DEGENERATE.items()
    },
    **{f"edge: {name}": lambda case=case: secant.assess(*case) for name, case in EDGES.items()},
}


# --- intervals and quantiles ----------------------------------------------------------------------


def coverage(side: str = "", level: float = 0.9, **options: Any) -> Any:
    """Assess intervals, or quantiles, that are as wide as they should be at one width alone."""
    rng = np.random.default_rng(1)
    n = 2000
    y, width = rng.normal(size=n), rng.uniform(0.5, 3, n)
    ends = {"low": -width, "high": width} | ({} if not side else {"low": None, "high": None})
    if side:
        ends[side] = width if side == "high" else -width
    return secant.assess_coverage(y, **ends, level=level, **options)


def in_turn() -> Any:
    """Assess intervals that cover in turn too much and too little."""
    rng, x = np.random.default_rng(0), np.arange(9000)
    half = np.where((x // 1500) % 2, 0.35, 0.5)
    return secant.assess_coverage(rng.random(9000), 0.5 - half, 0.5 + half, 0.85, order_by=x)


def as_promised(level: float = 0.5) -> Any:
    """Assess intervals that keep their promise."""
    y = np.random.default_rng(0).normal(size=500)
    half = np.full(500, {0.5: 0.6745, 0.999: 9.0}[level])
    return secant.assess_coverage(y, -half, half, level, order_by=np.arange(500))


ZERO, ONE = np.zeros(40), np.ones(40)
COVERAGE: dict[str, Any] = {
    "intervals": coverage,
    "intervals, half": lambda: coverage(level=0.5),
    "intervals in clusters": lambda: coverage(clusters=np.arange(2000) // 2, rng=0),
    "intervals in turn": in_turn,
    "intervals as promised": as_promised,
    "intervals, few to miss": lambda: as_promised(0.999),
    "not certain where": lambda: secant.assess_coverage(
        [0.0] * 10 + [2.0] * 10, [-1.0] * 20, [1.0] * 20, 0.5, order_by=np.arange(20) // 10
    ),
    "low quantiles": lambda: coverage("low"),
    "high quantiles": lambda: coverage("high"),
    "high quantiles, half": lambda: coverage("high", 0.5),
    "one interval": lambda: secant.assess_coverage([0.0], [-1.0], [1.0], 0.9),
    "every interval covers": lambda: secant.assess_coverage(ZERO, -ONE, ONE, 0.9),
    "no interval covers": lambda: secant.assess_coverage(5 * ONE, -ONE, ONE, 0.9),
    "every high quantile": lambda: secant.assess_coverage(ZERO, None, ONE, 0.9),
    "no low quantile": lambda: secant.assess_coverage(ZERO, ONE, None, 0.9),
}


# --- parts of results -----------------------------------------------------------------------------


@cache
def stepped_result() -> Any:
    """Assess outcomes that are off in two ranges."""
    return secant.assess(*stepped())


def cells() -> Any:
    """Collect some predictions in cells."""
    found = secant.Cells()
    found.update(*miscalibrated(3000))
    return found


PARTS: dict[str, Any] = {
    "statistic": lambda: stepped_result().ecce_r,
    "interval, off": lambda: stepped_result().intervals[0],
    "interval, noise": lambda: stepped_result().between(0.4, 0.5),
    "interval, fixed": lambda: stepped_result().between(0.1, 0.35, fixed_in_advance=True),
    "interval, empty": lambda: stepped_result().between(-1, 0),
    "interval, one score": lambda: secant.assess([0, 1], [0.3, 0.9]).between(0.3, 0.3),
    "interval along dates": lambda: along("dates").worst,
    "interval along numbers, empty": lambda: along("numbers").between(-9, -8),
    "interval of coverage": lambda: coverage().worst,
    "interval of quantiles, empty": lambda: coverage("high").between(-9, -8),
    "intervals": lambda: stepped_result().intervals,
    "intervals along dates": lambda: along("dates").intervals,
    "intervals of coverage": lambda: coverage().intervals,
    "intervals of quantiles": lambda: coverage("high").intervals,
    "no intervals": lambda: secant.assess([0, 1], [0.4, 0.6]).intervals,
    "steepest": lambda: stepped_result().steepest,
    "curve": lambda: stepped_result().curve,
    "reliability": lambda: stepped_result().reliability(n_bins=7),
    "reliability, many bins": lambda: stepped_result().reliability(n_bins=40, strategy="quantile"),
    "ece": lambda: stepped_result().ece(),
    "ece, squared": lambda: stepped_result().ece(n_bins=5, norm="l2", squared=True),
    "ece, largest": lambda: stepped_result().ece(n_bins=5, norm="max", strategy="quantile"),
    "expected": lambda: stepped_result().expected,
    "brier": lambda: stepped_result().brier,
    "log loss": lambda: stepped_result().log_loss,
    "log loss, infinite": lambda: secant.assess([0, 1], [1.0, 0.5]).log_loss,
    "isotonic fit": lambda: stepped_result().recalibrated,
    "cox": lambda: stepped_result().cox,
    "cox, with certain scores": lambda: (
        secant.assess([0, 1, 0, 1, 0, 1], [0.0, 0.2, 0.4, 0.6, 0.7, 1.0]).cox
    ),
    "cox, weighted": lambda: weighted().cox,
    "cox, infinite": lambda: secant.assess([0, 0, 1, 1], [0.1, 0.2, 0.8, 0.9]).cox,
    "cox, none": lambda: secant.assess([0, 1, 1], [0.5, 0.5, 0.5]).cox,
    "spiegelhalter": lambda: stepped_result().spiegelhalter,
    "spiegelhalter, none": lambda: secant.assess([0, 1, 1], [0.5, 0.5, 0.5]).spiegelhalter,
    "cells": cells,
    "bounds": lambda: cells().bounds(),
}


# --- groups, classes, segments, models ------------------------------------------------------------


def grouped(groups: Any, power: float = 1.3, n: int = 4000, **options: Any) -> Any:
    """Assess groups, of which the first is off."""
    rng = np.random.default_rng(2)
    p, group = rng.random(n), np.arange(n) % len(groups)
    y = rng.random(n) < np.where(group == 0, p**power, p)
    return secant.assess_by(y, p, [groups[each] for each in group], **options)


def both_ways() -> Any:
    """Assess groups that are too extreme, and in turn too low and too high."""
    rng = np.random.default_rng(0)
    p = rng.random(9000)
    y, half = rng.random(9000) < p, np.arange(9000) % 2 == 1
    hot = 1 / (1 + ((1 - p) / p) ** 2)
    return secant.assess_by(y, np.where(half, hot, p), np.where(half, "hot", "fine"))


def segmented(chance: Any, n: int = 8000, **options: Any) -> Any:
    """Assess segments, of which one is off."""
    rng = np.random.default_rng(0)
    p, x = rng.uniform(0.1, 0.9, n), rng.choice(list("ab"), n)
    z = rng.integers(18, 80, n)
    y = rng.random(n) < np.where(x == "a", chance(p), p)
    return secant.assess_segments(y, p, features={"x": x, "age": z}, **options)


def refuted() -> Any:
    """Assess groups in which scores of 0 and 1 were wrong."""
    y, p = [0, 1] * 20, [0.4, 0.6] * 20
    p[1], p[2] = 0.0, 1.0
    return secant.assess_by(y, p, ["a", "b"] * 20)


GROUPS: dict[str, Any] = {
    "groups": lambda: grouped(["north", "south", None]),
    "groups, none off": lambda: grouped(["north", "south", ""], power=1.0),
    "one group": lambda: grouped(["north"]),
    "one group, fine": lambda: grouped(["north"], power=1.0),
    "many groups": lambda: grouped([f"g{each}" for each in range(40)], n=8000),
    "many numbers": lambda: grouped([each / 7 for each in range(150)], n=3000),
    "too few": lambda: grouped(["a", "b", "c"], n=9),
    "two columns": lambda: secant.assess_by(
        *miscalibrated(400), [["a", "b"] * 200, [1, 1, 2, 2] * 100]
    ),
    "no weight": lambda: secant.assess_by(
        *miscalibrated(300), ["a", "b", "c"] * 100, sample_weight=[1, 2, 0] * 100
    ),
    "both ways": both_ways,
    "refuted": refuted,
    "in clusters": lambda: grouped(["a", "b"], clusters=np.arange(4000) // 2, rng=0),
    "a group": lambda: grouped(["north", "south"]).rows[0],
    "top class": lambda: secant.assess_classes(*simulate(4000, 3, power=2.0)),
    "one against the rest": lambda: secant.assess_classes(
        *simulate(2000, 3, power=2.0), kind="one-vs-rest", adjust="holm"
    ),
    "segments": lambda: segmented(lambda p: p - 0.08, adjust="holm"),
    "segments, drawn": lambda: segmented(lambda p: p - 0.08, n=3000, draws=99, rng=0),
    "segments, both ways": lambda: segmented(lambda p: 0.5 + 0.5 * (p - 0.5), adjust="holm"),
    "segments, none": lambda: segmented(lambda p: p, adjust="holm"),
    "a segment": lambda: segmented(lambda p: p - 0.08, adjust="holm").rows[0],
}


def models(**options: Any) -> Any:
    """Assess models of which one is off."""
    rng = np.random.default_rng(0)
    chance = rng.random(3000)
    scores = {"old": chance**1.5, "new": chance, "twin": np.round(chance, 3)}
    return secant.assess_models(rng.random(3000) < chance, scores, **options)


def compared(one: Any, other: Any, **options: Any) -> Any:
    """Compare two models."""
    rng = np.random.default_rng(0)
    chance = rng.random(3000)
    return secant.compare_models(rng.random(3000) < chance, one(chance), other(chance), **options)


def members(off: Any, share: float = 0.3, n: int = 4000) -> Any:
    """Compare members with everybody."""
    rng = np.random.default_rng(3)
    p, member = rng.random(n), rng.random(n) < share
    return secant.compare_groups(rng.random(n) < np.where(member, off(p), p), p, member)


def apart() -> Any:
    """Compare members with others whose scores do not overlap with theirs."""
    y, p = miscalibrated(400)
    return secant.compare_groups(y, p, p > 0.5)


def scanned(chance: Any, n: int = 2000) -> Any:
    """Scan ranges of scores."""
    rng = np.random.default_rng(0)
    p = rng.random(n)
    return secant.scan(rng.random(n) < chance(p), p)


MODELS: dict[str, Any] = {
    "models": models,
    "models in clusters": lambda: models(clusters=np.arange(3000) // 3, rng=0),
    "one model": lambda: secant.assess_models([0, 1, 1, 0], {"only": [0.2, 0.8, 0.6, 0.4]}),
    "two models": lambda: compared(lambda p: p, lambda p: p**2),
    "two models alike": lambda: compared(lambda p: p, lambda p: p**1.01),
    "two models the same": lambda: compared(lambda p: p, lambda p: p),
    "two models, no test": lambda: secant.compare_models([0, 1, 1], [0.1, 0.2, 0.8], [0.3] * 3),
    "members more often": lambda: members(lambda p: np.minimum(p + 0.1, 1)),
    "members both ways": lambda: members(lambda p: 0.5 + 0.4 * (p - 0.5)),
    "members alike": lambda: members(lambda p: p),
    "members, few": lambda: members(lambda p: p, n=20),
    "everybody is a member": lambda: members(lambda p: p, share=1.0),
    "members apart": apart,
    "a contrast": lambda: members(lambda p: np.minimum(p + 0.1, 1)).worst,
    "scan, off": lambda: scanned(lambda p: p / 2),
    "scan, fine": lambda: scanned(lambda p: p),
    "scan, certain": lambda: secant.scan([0, 1], [0.0, 1.0]),
    "scan, refuted": lambda: secant.scan([0, 1, 0, 1], [1.0, 1.0, 0.3, 0.6], draws=9),
}


# --- monitors and gates ---------------------------------------------------------------------------


def fed(*batches: tuple[Any, ...], **options: Any) -> Any:
    """Return the history of a monitor that was given some batches."""
    monitor = secant.Monitor(**options)
    for batch in batches:
        monitor.add(*batch)
    return monitor.history


def extremes(sign: float) -> Any:
    """Return the history of scores that are too extreme, or too moderate."""
    rng = np.random.default_rng(0)
    batches = []
    for _ in range(20):
        p = rng.uniform(0.05, 0.95, 800)
        odds = (p / (1 - p)) ** (0.5 if sign > 0 else 1.8)
        batches.append((rng.random(800) < odds / (1 + odds), p))
    return fed(*batches)


MONITORS: dict[str, Any] = {
    "alarm": lambda: watched().history,
    "no alarm": lambda: watched(change=99).history,
    "tolerance, alarm": lambda: watched(power=1.8, tolerance=0.02).history,
    "tolerance, no alarm": lambda: watched(change=99, tolerance=0.02).history,
    "numbered": lambda: watched(name=lambda day: day + 1).history,
    "too extreme": lambda: extremes(1),
    "too moderate": lambda: extremes(-1),
    "nothing yet": fed,
    "impossible event": lambda: fed(([1], [0.0])),
    "impossible failures": lambda: fed(([0, 0], [1.0, 1.0])),
    "impossible, tolerated": lambda: fed(([0, 0], [1.0, 1.0]), tolerance=0.1),
    "cells": lambda: fed((cells(),)),
    "period": lambda: watched().history[0],
    "where": lambda: watched().history.where,
}


class Gated:
    """What a gate says of results."""

    def __init__(self, gate: Gate, *results: Any) -> None:
        self.words = []
        for result in results:
            if isinstance(result, secant.Assessments):
                self.words.append(gate.judge_groups(result).words)
            elif isinstance(result, dict):
                self.words += [each.words for each in gate.judge_models(result).values()]
            else:
                self.words.append(gate.judge(result).words)

    def __str__(self) -> str:
        return "\n".join(self.words)


@cache
def judged() -> tuple[Any, ...]:
    """Return results of many kinds for a gate to judge."""
    off, fine = shifted(lambda p: 0.8 * p), shifted(lambda p: p, 5000, 4)
    wrong = secant.assess([0, 1, 1, 0, 1], [0.2, 0.0, 0.7, 0.4, 1.0])
    groups = (grouped(["north", "south", None]), grouped(["north"]), refuted())
    return (off, fine, wrong, *groups, segmented(lambda p: p - 0.08, adjust="holm"))


GATES: dict[str, Any] = {
    "no limit": lambda: Gated(Gate(), *judged()),
    "ECCE-R": lambda: Gated(Gate(0.01, 0.02), *judged()),
    "ECCE-R, wide": lambda: Gated(Gate(0.01, 0.2), *judged()),
    "a range": lambda: Gated(Gate(0.05, None, 0.05), *judged()),
    "within": lambda: Gated(Gate(0.05, within=0.05), *judged()),
    "all three": lambda: Gated(Gate(0.05, 0.02, 0.05, 0.05), *judged()),
    "several models": lambda: Gated(Gate(0.05, 0.02), dict(models())),
}

CASES: dict[str, dict[str, Any]] = {
    "calibration": CALIBRATIONS,
    "coverage": COVERAGE,
    "parts": PARTS,
    "groups": GROUPS,
    "models": MODELS,
    "monitor": MONITORS,
    "gate": GATES,
}


def told(kind: str, name: str) -> str:
    """Return the whole text of one result, and its details where it has some."""
    result = CASES[kind][name]()
    more = [str(result.details)] if kind in {"calibration", "coverage"} else []
    return "\n---\n".join([str(result), *more]).strip()


def read(kind: str) -> dict[str, str]:
    """Return the texts of one kind as the snapshot has them."""
    _, *cases = (FOLDER / f"{kind}.txt").read_text(encoding="utf-8").split("\n## ")
    return {name: text.strip("\n") for name, _, text in (case.partition("\n") for case in cases)}


def write() -> None:
    """Write all snapshots."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for kind, cases in CASES.items():
        lines = [f"# What {kind} results print. `make snapshots` writes this file."]
        lines += [f"\n## {name}\n{told(kind, name)}" for name in cases]
        (FOLDER / f"{kind}.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    write()
