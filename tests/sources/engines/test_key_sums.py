"""Clusters in tables of engines: one more query, and not every row comes back."""

import math

import numpy as np
import pytest

import secant
from helpers import optional
from makers import MAKERS
from secant._blocks.key_sums import Ask
from secant._input.options import Reading
from secant.sources.open import open_groups

optional("narwhals")

from secant.sources.engines import budget, key_sums, queries  # noqa: E402  (they load narwhals)


def table(n, seed=0, **changed):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    who = rng.integers(0, 80, n)
    columns = {"y": (rng.random(n) < p).astype(np.int64), "p": p, "who": who, **changed}
    return optional("polars").DataFrame(columns)


@pytest.fixture
def asked(monkeypatch):
    """Return the rows that came back, question by question."""
    brought, collect = [], queries.collect

    def noted(frame):
        answer = collect(frame)
        brought.append(len(answer))
        return answer

    monkeypatch.setattr(queries, "collect", noted)
    return brought


def assess(frame, **how):
    return secant.assess("y", "p", data=frame.lazy(), clusters="who", **how)


def test_one_more_query(asked):
    frame = table(3000)
    secant.assess("y", "p", data=frame.lazy(), method="asymptotic")
    alone = len(asked)
    assess(frame)
    assert len(asked) - alone <= alone + 1 + 1  # the scores themselves, and the clusters


@pytest.mark.parametrize("most", [3000, 2999])
def test_above_what_may_leave_sums_come_back_by_fixed_cells(most, monkeypatch, asked):
    monkeypatch.setattr(key_sums, "LEAVE", most)
    frame = table(3000)
    found = assess(frame)
    wanted = secant.assess(*(frame[name].to_numpy() for name in ("y", "p")), clusters=frame["who"])
    if most == 3000:
        assert found._flips.r == wanted._flips.r
        return
    assert max(asked[-1:]) <= 3000
    assert found.n_clusters == wanted.n_clusters
    assert found.ecce_r.value == pytest.approx(wanted.ecce_r.value, abs=1e-12)
    assert found._predictions.half_width(1.0) == pytest.approx(
        wanted._predictions.half_width(1.0), rel=0.1
    )
    assert found.ecce_r.pvalue == pytest.approx(wanted.ecce_r.pvalue, abs=0.1)


def test_few_scores_of_many_rows_come_back_as_they_are(monkeypatch):
    monkeypatch.setattr(key_sums, "LEAVE", 10)
    frame = table(3000)
    frame = frame.with_columns(p=frame["p"].round(2))
    wanted = secant.assess(*(frame[name].to_numpy() for name in ("y", "p")), clusters=frame["who"])
    found = assess(frame)
    assert found._flips.r == wanted._flips.r
    np.testing.assert_allclose(found._flips.ranges, wanted._flips.ranges, rtol=1e-9)


@pytest.mark.parametrize("missing", [None, "", float("nan")])
def test_missing_ids_are_counted(missing):
    kind = float if isinstance(missing, float) else str
    who = [kind(each) for each in range(200)]
    who[3] = who[5] = missing
    with pytest.raises(
        secant.InputError, match=r"'who' \(clusters\) holds 2 values that are missing"
    ):
        assess(table(200, who=who))


def test_ids_that_tell_nothing_apart_are_refused():
    with pytest.raises(secant.InputError, match="which cannot name clusters"):
        assess(table(200, who=[[1]] * 200))


# Shifted scores -----------------------------------------------------------------------------------

WEIGHTS = {
    "none": lambda rng, n: None,
    "sampling": lambda rng, n: rng.lognormal(size=n),
    "frequency": lambda rng, n: rng.integers(1, 4, n),
    "outcomes": lambda rng, n: None,
}


def brute_force(rows, blocks, shift, *, squared):
    """Return w(r - s), w q and w^2 q(1 - q) of each block, row by row."""
    p, w = rows["p"].to_numpy(), rows["w"].to_numpy().astype(float)
    q = np.array([1 / (1 + math.exp(-shift) * (1 - s) / s) if s > 0 else 0.0 for s in p])
    place = np.searchsorted(blocks.low, p, side="right") - 1
    square = w * w if squared else w
    columns = (w * (rows["y"].to_numpy() - p), w * q, square * q * (1 - q))
    return [np.bincount(place, column, len(blocks)) for column in columns]


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("engine", ["duckdb", "polars lazy", "sqlite"])
@pytest.mark.parametrize("resolved", [0, 9])
def test_shifted_sums_of_blocks_are_those_of_rows(engine, kind, resolved, asked, monkeypatch):
    monkeypatch.setattr(budget, "CELL_BITS", 7)
    rng = np.random.default_rng(3)
    n = 4000
    p = np.append(rng.random(n - 4), [0.0, 0.0, 1.0, 1e-300])
    weights = WEIGHTS[kind](rng, n)
    made = {"y": rng.integers(0, 2, n), "p": p, "w": np.ones(n) if weights is None else weights}
    made["g"] = rng.integers(0, 2, n)
    frame = optional("polars").DataFrame(made)
    outcome_weights = (20.0, 1.0) if kind == "outcomes" else None
    reading = Reading(
        "frequency" if kind == "frequency" else "sampling", outcome_weights=outcome_weights
    )
    weight = None if weights is None else "w"
    groups = open_groups(
        "y", "p", "g", data=MAKERS[engine](made, None), sample_weight=weight, reading=reading
    )
    tables = [blocks for blocks, _ in groups.blocks()]
    if resolved:
        finer = groups.refine({i: each.select(slice(3, resolved)) for i, each in enumerate(tables)})
        some = [(each.low >= each.low[3]) & (each.low < each.low[resolved]) for each in tables]
        tables = [each.replace(some[i], finer[i]) for i, each in enumerate(tables)]
    asked.clear()
    found = groups.sums([Ask(each, i, shift=0.8) for i, each in enumerate(tables)])
    assert len(asked) == 1
    for i, (each, sums) in enumerate(zip(tables, found, strict=True)):
        assert each.open.any()
        rows = frame.filter(frame["g"] == i)
        gain, shifted, spread = brute_force(rows, each, 0.8, squared=kind == "sampling")
        np.testing.assert_array_equal(sums.cell, np.arange(len(each)))
        np.testing.assert_array_equal(sums.n, each.n)
        np.testing.assert_allclose(sums.gain, gain, rtol=0, atol=1e-12 * rows["w"].sum())
        np.testing.assert_allclose(sums.shifted, shifted, rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(sums.spread, spread, rtol=1e-11, atol=1e-15)


@pytest.mark.parametrize("shifts", [(0.5, 0.5), (0.5, -2.0)])
def test_shifted_sums_of_clusters_take_a_query_for_each_shift(shifts, asked):
    frame = table(2000).with_columns(g=np.arange(2000) % 2)
    groups = open_groups("y", "p", "g", data=frame.lazy(), clusters="who")
    tables = [blocks for blocks, _ in groups.blocks()]
    asked.clear()
    asks = [Ask(tables[i], i, clusters=True, shift=shift) for i, shift in enumerate(shifts)]
    found = groups.sums(asks)
    assert len(asked) == len(set(shifts))
    for i, (sums, shift) in enumerate(zip(found, shifts, strict=True)):
        rows = frame.filter(frame["g"] == i)
        who, code = np.unique(rows["who"].to_numpy(), return_inverse=True)
        q = 1 / (1 + math.exp(-shift) * (1 / rows["p"].to_numpy() - 1))
        for of_rows, of_sums in ((q, sums.shifted), (q * (1 - q), sums.spread)):
            wanted = np.bincount(code, of_rows)
            keys = np.unique(sums.key, return_inverse=True)[1]
            np.testing.assert_allclose(
                np.sort(np.bincount(keys, of_sums, len(who))), np.sort(wanted), rtol=1e-12
            )


def test_what_counts_tell_takes_no_query(asked):
    groups = open_groups("y", "p", "y2", data=table(50, y2=np.zeros(50, int)).lazy())
    ((blocks, _),) = groups.blocks()
    asked.clear()
    (sums,) = groups.sums([Ask(blocks, shift=1.0)])
    assert not blocks.open.any()
    assert not asked
    odds = math.e * blocks.low / (1 - blocks.low)
    np.testing.assert_allclose(sums.shifted, blocks.n * odds / (1 + odds), rtol=1e-12)
