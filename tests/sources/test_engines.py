"""Tables of engines: what is asked of them, what comes back, what is refused and in which words."""

import datetime as dt
import pickle
import re
import sys
from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from datasets import datasets
from helpers import optional
from makers import MAKERS, arguments, arrow
from secant import InputError, SecantError
from secant._blocks.table import Blocks

nw = optional("narwhals")

from secant.sources import rows  # noqa: E402  (they load narwhals)
from secant.sources.engines import budget, expressions, filters, queries, runs  # noqa: E402  (the same)

ENGINES = ["duckdb", "polars lazy", "dask", "ibis", "spark", "sqlite", "postgres", "mariadb"]
every_engine = pytest.mark.parametrize("engine", ENGINES)
NAN = float("nan")


@pytest.fixture
def passes(monkeypatch):
    """Return a list that gets the number of rows brought back by each query."""
    seen = []

    def collect(frame, collect=queries.collect):
        answer = collect(frame)
        seen.append(len(answer))
        return answer

    monkeypatch.setattr(queries, "collect", collect)
    return seen


@pytest.fixture
def few_rows_are_many(monkeypatch):
    """Lower the limits from which scores are cut again, or named in several queries."""
    monkeypatch.setattr(rows, "SORT_UP_TO", 64)
    monkeypatch.setattr(budget, "LEAST", 100)
    monkeypatch.setattr(budget, "LEAVE", 4200)  # the P-values of these tests need all rows
    monkeypatch.setattr(budget, "CELL_BITS", 5)
    monkeypatch.setattr(filters, "RANGES_A_QUERY", 3)
    monkeypatch.setattr(filters, "LISTED_A_QUERY", 40)
    monkeypatch.setattr(filters, "WHOLE_UP_TO", 16)
    monkeypatch.setattr(filters, "SPARE_ROWS", 4)


def table(engine, folder, **columns):
    """Put columns into an engine; lists with None become columns with nulls."""
    return MAKERS[engine]({name: np.asarray(column) for name, column in columns.items()}, folder)


def predictions(n, seed=0, power=1.02):
    rng = np.random.default_rng(seed)
    p = rng.random(n)
    return {"happened": (rng.random(n) < p**power).astype(np.int64), "forecast": p}


# What is read from blocks as they are: of these a source knows what its own blocks tell.
FROM_BLOCKS = {
    ".steepest", ".cox", ".spiegelhalter", ".brier.mcb", ".brier.dsc",
    ".log_loss.mcb", ".log_loss.dsc",
}  # fmt: skip


def numbers(result):
    """Return every number of a result that is the same for all sources, by the path to it."""
    found = {}

    def walk(value, path):
        if path in FROM_BLOCKS:
            return
        if isinstance(value, dict):
            for name, item in value.items():
                walk(item, f"{path}.{name}")
        elif isinstance(value, (int, float)) and not isinstance(value, bool):
            found[path] = value

    walk(result.to_dict(), "")
    return found


def assert_same(found, wanted):
    # What is no walk over distinct scores is read from mean scores of cells, which are the source's
    # own: a large-sample P-value, and a walk over pools.
    of_cells = {
        f".{metric.attribute}.{name}"
        for metric, one in wanted.statistics
        for name in ("pvalue", "log10_pvalue")
        if one.method == "large-sample"
        or (one.method == "upper bound" and wanted._totals.equal_weights)
    }
    # So are those of mean and shape, and how far the path strays: up to a thousandth of a standard
    # deviation, from which on shifted scores are asked for.
    parts = {".": wanted._decided.pvalue, ".mean.": wanted.mean, ".bridge.": wanted.bridge}
    of_shape = {
        f"{part}{name}"
        for part, one in parts.items()
        for name in ("value", "pvalue", "log10_pvalue")
        if one.method != "exact" and (part, name) != (".mean.", "value")
    }
    # Limits of sampling weights rest on the largest steps, of which an engine knows bounds.
    apart = {".worst.at_least"} if wanted.weighted else set()
    found, wanted = numbers(found), numbers(wanted)
    assert found.keys() == wanted.keys()
    for name in apart:
        wanted.pop(name, None)
    for name, value in wanted.items():
        within = 1e-4 if name in of_shape else 1e-6 if name in of_cells else 1e-12
        assert abs(found[name] - value) <= within * max(1.0, abs(value)), name


# What comes back ----------------------------------------------------------------------------------


@every_engine
def test_rows_stay_in_the_engine(engine, tmp_path, passes):
    made = predictions(200_000)
    found = secant.assess(**arguments(made, table(engine, tmp_path, **made)))
    cells, ties = passes  # one group-by, then one more
    assert cells < 1.3 * 2**budget.CELL_BITS
    assert ties < 20_000
    assert_same(found, secant.assess(**arguments(made, None)))


@every_engine
def test_cells_of_all_groups_are_far_fewer_than_rows(engine, tmp_path, passes):
    n = 200_000
    made = predictions(n)
    made["segment"] = np.random.default_rng(1).integers(0, 8, n)
    data = table(engine, tmp_path, **made)
    found = secant.assess_by(**arguments(made, data), method="asymptotic")
    sizes, cells, ties = passes  # all groups together, three passes in all
    assert sizes == 8
    assert cells < n / 4
    assert ties < n / 3  # those that mean and shape look at, and the steepest range
    wanted = secant.assess_by(**arguments(made, None), method="asymptotic")
    for key in wanted:
        assert_same(found[key], wanted[key])


def test_small_groups_beside_a_large_one(passes, tmp_path):
    n = 150_000
    made = predictions(n)
    made["segment"] = np.where(np.arange(n) < 140_000, 0, np.arange(n) % 20)
    found = secant.assess_by(**arguments(made, table("duckdb", tmp_path, **made)))
    sizes, cells, *ties = passes
    assert sizes == 20
    assert cells < n / 4
    # The ties of the small groups, for their P-values, and of the large one those beside the
    # quantiles at which its steepest range may end.
    assert len(ties) <= 2
    assert 9_500 < sum(ties) < budget.LEAVE
    wanted = secant.assess_by(**arguments(made, None))
    for key in wanted:
        assert_same(found[key], wanted[key])


def test_what_was_seen_is_not_asked_for_again(passes, tmp_path):
    made = predictions(200_000)
    result = secant.assess(**arguments(made, table("polars lazy", tmp_path, **made)))
    result.ece(n_bins=7)
    before = len(passes)
    result.ece(n_bins=7)
    result.worst  # noqa: B018
    assert len(passes) == before
    result.between(0.1234, 0.5678)
    assert len(passes) == before + 1


def test_many_ranges_are_one_query(passes, tmp_path):
    made = predictions(400_000)
    result = secant.assess(**arguments(made, table("duckdb", tmp_path, **made)))
    del passes[:]
    found = result.ece(n_bins=700).value
    assert len(passes) == 1
    assert sum(passes) < budget.LEAST
    assert abs(found - secant.assess(**arguments(made, None)).ece(n_bins=700).value) <= 1e-12


# The same answers, however scores are spread ------------------------------------------------------

SPREADS = {
    "log-spread": lambda rng, n: rng.beta(0.02, 1, n),
    "near one": lambda rng, n: 1 - rng.beta(0.05, 1, n),
    "rare": lambda rng, n: rng.beta(1, 200, n),
    "two clusters": lambda rng, n: rng.choice([0.2, 0.7], n) + 1e-9 * rng.random(n),
    "next doubles": lambda rng, n: 0.5 + np.spacing(0.5) * rng.integers(0, 5, n),
    "narrow": lambda rng, n: 0.5 + 1e-12 * rng.random(n),
    "half tied": lambda rng, n: np.where(rng.random(n) < 0.5, 0.3, rng.random(n)),
    "ends": lambda rng, n: rng.choice([0.0, 5e-324, 1e-300, 1e-16, 1 - 1e-16, 1.0, 0.5], n),
}


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("engine", ["duckdb", "polars lazy"])
def test_scores_that_crowd(engine, spread, tmp_path):
    rng = np.random.default_rng(2)
    p = SPREADS[spread](rng, 100_000)
    made = {"happened": (rng.random(len(p)) < p).astype(np.int64), "forecast": p}
    found = secant.assess(**arguments(made, table(engine, tmp_path, **made)))
    assert_same(found, secant.assess(**arguments(made, None)))


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("engine", ["duckdb", "polars lazy"])
def test_cells_cut_again_and_again(engine, spread, tmp_path, few_rows_are_many, monkeypatch):
    cut_again_and_again(engine, SPREADS[spread], tmp_path, monkeypatch)


@every_engine
def test_cells_cut_again_by_every_engine(engine, tmp_path, few_rows_are_many, monkeypatch):
    cut_again_and_again(engine, SPREADS["log-spread"], tmp_path, monkeypatch)


def cut_again_and_again(engine, spread, tmp_path, monkeypatch):
    rng = np.random.default_rng(3)
    p = spread(rng, 4000)
    made = {"happened": (rng.random(len(p)) < p).astype(np.int64), "forecast": p}
    found = secant.assess(**arguments(made, table(engine, tmp_path, **made)))
    binned = found.ece(n_bins=31).value
    monkeypatch.undo()
    wanted = secant.assess(**arguments(made, None))
    assert_same(found, wanted)
    assert abs(binned - wanted.ece(n_bins=31).value) <= 1e-12


@given(data=datasets(), kind=st.sampled_from(["sampling", "frequency"]))
@settings(max_examples=25)
def test_any_data(data, kind):
    y, p, w = data
    made = {"happened": y, "forecast": p.astype(np.float64)}
    if w is not None:
        made["weight"] = np.ceil(w) if kind == "frequency" else w
    options = {"weight_kind": kind, "method": "asymptotic"}
    found = secant.assess(**arguments(made, MAKERS["polars lazy"](made, None)), **options)
    assert_same(found, secant.assess(**arguments(made, None), **options))


def test_equal_weights_do_not_drift(tmp_path):
    n = 1_000_000
    rng = np.random.default_rng(4)
    p = np.where(rng.random(n) < 0.9, 0.3, rng.random(n))
    made = {
        "happened": (rng.random(n) < p).astype(np.int64),
        "forecast": p,
        "weight": np.full(n, 0.1),
    }
    found = secant.assess(**arguments(made, table("duckdb", tmp_path, **made)))
    assert_same(found, secant.assess(**arguments(made, None)))
    assert found.ecce_r.value == pytest.approx(secant.ecce_r(made["happened"], p), rel=1e-12)


@every_engine
def test_minus_zero_is_zero(engine, tmp_path):
    made = {"happened": [0, 0, 1, 1, 0], "forecast": [0.0, -0.0, -0.0, 0.5, 1e-300]}
    found = secant.assess("happened", "forecast", data=table(engine, tmp_path, **made))
    assert found.n_forbidden == 1
    assert_same(found, secant.assess(made["happened"], made["forecast"]))


# A monitor ----------------------------------------------------------------------------------------


@every_engine
def test_a_monitor_takes_sums_and_no_rows(engine, tmp_path, passes):
    cells, sums = secant.Monitor(), secant.Monitor()
    for day in range(3):
        made = predictions(900, day, 1.2)
        made["forecast"][:4] = 0.0, 0.0, 1.0, 1.0
        made["happened"][:4] = 0, 1, 1, 0
        state = secant.Cells()
        state.update(made["happened"], made["forecast"])
        cells.add(state)
        sums.add("happened", "forecast", data=table(engine, tmp_path, **made))
    assert len(passes) == 3
    for one, other in zip(sums.history, cells.history, strict=True):
        assert (one.n, one.events, one.slopes) == (other.n, other.events, False)
        assert one.log10_evidence == pytest.approx(other.log10_evidence, abs=1e-9)
    assert sums.history.n_forbidden == cells.history.n_forbidden == 6
    assert "3 batches came as sums (Cells, tables of engines)" in str(sums)


def test_a_monitor_refuses_rows_of_an_engine_as_it_refuses_others(tmp_path):
    monitor = secant.Monitor()
    with pytest.raises(InputError, match=r"column 'forecast' \(y_prob\) holds 1 value outside"):
        monitor.add(
            "happened",
            "forecast",
            data=table("duckdb", tmp_path, happened=[0, 1], forecast=[0.5, 1.5]),
        )
    assert not len(monitor.history)


@pytest.mark.parametrize("n", [1, 159, 160])
def test_few_rows_of_an_engine_wait_for_more(n, tmp_path):
    monitor = secant.Monitor()
    for part in (predictions(n), predictions(200, 1)):
        monitor.add("happened", "forecast", data=table("duckdb", tmp_path, **part))
    assert monitor.history.edges is not None
    assert monitor.history.n == n + 200


# Cutting ------------------------------------------------------------------------------------------

SCORES = st.lists(st.floats(0, 1) | st.floats(0, 1e-6) | st.floats(1 - 1e-6, 1), min_size=2)


@given(scores=SCORES, bits=st.integers(1, 16))
def test_cells_are_consecutive_stretches(scores, bits):
    polars = optional("polars")
    ordered = nw.from_native(polars.DataFrame({"score": sorted(scores)}))
    anchor = ordered.select(anchor=expressions.grid(bits))["anchor"].to_numpy()
    assert (np.diff(anchor) >= 0).all()
    distance = ordered["score"].to_numpy() - anchor
    assert (np.abs(distance) <= 2.0**-bits).all()


@given(scores=SCORES, dropped=st.integers(2, 51))
def test_rounding_keeps_the_order(scores, dropped):
    value = np.sort(np.array(scores))
    kept = expressions.rounded(value, dropped)
    assert (np.diff(kept) >= 0).all()
    assert (np.abs(kept - value) <= value * 2.0 ** (dropped - 53)).all()


def ties(*scores):
    """Return a block for each score, of one observation."""
    score = np.array(scores) + 0.0
    one, none = np.ones(len(score), np.int64), np.zeros(len(score), np.int64)
    return Blocks(score, score, one, none, one, none, score, np.zeros(len(score)))


@given(ends=st.tuples(st.floats(0, 1), st.floats(0, 1)), cells=st.integers(1, 100))
def test_cutting_makes_progress(ends, cells):
    low, high = sorted(ends)
    if low == high:
        return
    cell = replace(ties(low), high=np.array([high]) + 0.0)
    bits = runs.finer_bits([cell], cells)
    if bits is not None:
        ends = nw.from_native(optional("polars").DataFrame({"score": [low, high]}))
        anchors = ends.select(anchor=expressions.grid(bits))["anchor"].to_list()
        assert anchors[0] < anchors[1]


@given(st.lists(st.booleans(), min_size=1, max_size=60).filter(any), st.integers(0, 10))
def test_ranges_hold_what_is_wanted(wanted, spare):
    known = ties(*np.arange(len(wanted)) / 64)
    chosen = known.select(np.array(wanted))
    low, high, held = runs.runs(chosen, known, spare)
    inside = [bool(((low <= s) & (s <= high)).any()) for s in known.low]
    assert all(got for got, want in zip(inside, wanted, strict=True) if want)
    assert sum(inside) == held <= sum(wanted) + spare
    assert (low[1:] > high[:-1]).all()


@given(st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1e-3)), min_size=1, max_size=9))
def test_lists_hold_what_is_wanted(pairs):
    low = np.unique([low for low, _ in pairs]) + 0.0
    high = np.minimum(low + [width for _, width in pairs][: len(low)], np.append(low[1:], 1.0))
    known = replace(ties(*low), high=high)
    wanted = known.select(slice(None, None, 2))
    bits = runs.listed_bits([wanted], 5)
    cells, held = runs.listed(wanted, known, bits)
    for ends in (wanted.low, wanted.high, (wanted.low + wanted.high) / 2):
        assert np.isin(np.floor(ends * 2.0**bits), cells).all()
    assert len(cells) <= max(5, 2 * len(wanted))
    assert held >= wanted.n.sum()


# Types of columns ---------------------------------------------------------------------------------


def test_decimals(tmp_path):
    duckdb = optional("duckdb")
    made = predictions(500)
    made["forecast"] = made["forecast"].round(3)
    decimals = [Decimal(str(p)) for p in made["forecast"].tolist()]
    data = duckdb.from_arrow(arrow({**made, "forecast": np.array(decimals, object)}))
    assert "DECIMAL" in str(data.types)
    assert_same(
        secant.assess("happened", "forecast", data=data), secant.assess(**arguments(made, None))
    )


@pytest.mark.parametrize("backend", ["numpy_nullable", "pyarrow"])
def test_nullable_columns_of_dask(backend):
    made = predictions(500)
    frame = optional("pandas").DataFrame(made).convert_dtypes(dtype_backend=backend)
    data = optional("dask.dataframe").from_pandas(frame, npartitions=2)
    wanted = secant.assess(**arguments(made, None))
    assert_same(secant.assess("happened", "forecast", data=data), wanted)
    frame.loc[3, "forecast"] = None
    data = optional("dask.dataframe").from_pandas(frame, npartitions=2)
    with pytest.raises(InputError, match=r"'forecast' .* holds 1 value that"):
        secant.assess("happened", "forecast", data=data)


@every_engine
@pytest.mark.parametrize("pos_label", [1, 3, 7])
def test_any_two_numbers_with_pos_label(engine, pos_label, tmp_path):
    made = predictions(300)
    happened = np.where(made["happened"] == 1, pos_label, 5)
    data = table(engine, tmp_path, happened=happened, forecast=made["forecast"])
    found = secant.assess("happened", "forecast", data=data, pos_label=pos_label)
    assert_same(found, secant.assess(**arguments(made, None)))


@pytest.mark.parametrize("pos_label", [True, False, 0])
def test_truth_values_with_pos_label(pos_label, tmp_path):
    made = predictions(300)
    made["happened"] = made["happened"] == 1
    data = table("duckdb", tmp_path, **made)
    found = secant.assess("happened", "forecast", data=data, pos_label=pos_label)
    assert_same(found, secant.assess(**arguments(made, None), pos_label=pos_label))


@every_engine
def test_an_event_that_never_happened(engine, tmp_path):
    data = table(engine, tmp_path, happened=np.array(["no"] * 3, object), forecast=[0.1, 0.2, 0.3])
    found = secant.assess("happened", "forecast", data=data, pos_label="yes")
    assert found.base_rate == 0


KEYS = {
    "floats": np.array([0.5, 0.1, NAN]),
    "truth values": np.array([True, False, True]),
    "dates": np.array([dt.date(2024, 1, 31), dt.date(2023, 5, 1), None], object),
    "times": np.array(["2024-01-31T12:00", "2023-05-01T00:00", "NaT"], "datetime64[us]"),
    "texts": np.array(["", "a'b\"c", None], object),
}


@pytest.fixture(params=["ranges", "lists"])
def asked(request, monkeypatch):
    """Let rows be named in ranges of scores, or in lists of cells, and see that they are."""
    monkeypatch.setattr(filters, "WHOLE_UP_TO", 16)
    monkeypatch.setattr(filters, "WHOLE_FROM", 1.0)
    monkeypatch.setattr(filters, "RANGES_A_QUERY", {"ranges": 1000, "lists": 0}[request.param])
    monkeypatch.setattr(filters, "SPARE_ROWS", 4)
    calls = []
    name = {"ranges": "_in_ranges", "lists": "_in_lists"}[request.param]
    function = getattr(filters, name)

    def spy(*arguments):
        calls.append(name)
        return function(*arguments)

    monkeypatch.setattr(filters, name, spy)
    yield
    assert calls


@every_engine
@pytest.mark.parametrize("kind", KEYS)
def test_keys_of_every_type(engine, kind, tmp_path, asked):
    n = 3000
    made = predictions(n, power=1.2)
    made["segment"] = KEYS[kind][np.random.default_rng(5).integers(0, 3, n)]
    if (engine, kind) == ("dask", "dates"):  # which Dask itself turns into texts
        made["segment"] = made["segment"].astype("datetime64[us]")
    options = {"method": "asymptotic"}
    found = secant.assess_by(**arguments(made, table(engine, tmp_path, **made)), **options)
    if (engine, kind) == ("mariadb", "truth values"):  # which are numbers there
        made["segment"] = made["segment"].astype(int)
    wanted = secant.assess_by(**arguments(made, None), **options)
    # Spark's times know their time zone, which is UTC in these tests.
    results = {str(key).removesuffix("+00:00"): result for key, result in found.items()}
    assert sorted(results) == sorted(map(str, wanted))
    for key in wanted:
        assert_same(results[str(key)], wanted[key])


@pytest.mark.parametrize("engine", ["polars lazy", "dask"])
def test_categories(engine, tmp_path):
    made = predictions(300)
    made["segment"] = np.array(["a", "b", None], object)[np.arange(300) % 3]
    data = table(engine, tmp_path, **made)
    if engine == "dask":
        data = data.astype({"segment": "category"})
    else:
        data = data.cast({"segment": optional("polars").Categorical})
    wanted = secant.assess_by(**arguments(made, None))
    found = secant.assess_by("happened", "forecast", "segment", data=data)
    assert sorted(map(str, found)) == ["None", "a", "b"]
    for key in wanted:
        assert_same(found[key], wanted[key])


@every_engine
def test_groups_by_several_columns(engine, tmp_path, asked):
    n = 6000
    made = predictions(n, power=1.2)
    rng = np.random.default_rng(6)
    made["a"] = np.array(["x", "y", None], object)[rng.integers(0, 3, n)]
    made["b"] = rng.integers(0, 2, n)
    data, options = table(engine, tmp_path, **made), {"method": "asymptotic"}
    found = secant.assess_by("happened", "forecast", ["a", "b"], data=data, **options)
    by = [made["a"], made["b"]]
    wanted = secant.assess_by(made["happened"], made["forecast"], by, **options)
    assert found.by == ("a", "b")
    assert set(found) == set(wanted)
    assert (None, 1) in found
    for key in wanted:
        assert_same(found[key], wanted[key])


# What is refused ----------------------------------------------------------------------------------

GOOD = {"y": [0.0, 1.0, 1.0, 0.0], "p": [0.2, 0.4, 0.6, 0.8], "w": [1.0, 2.0, 3.0, 0.0]}


def test_too_many_copies_to_count(tmp_path):
    data = table("duckdb", tmp_path, **{**GOOD, "w": [1.0, 2.0**53, 2.0, 1.0]})
    with pytest.raises(InputError, match=r"2\*\*53"):
        secant.assess("y", "p", data=data, sample_weight="w", weight_kind="frequency")


@every_engine
def test_words_need_to_be_told_apart(engine, tmp_path):
    words = np.array(["no", "yes", "maybe", "no"], object)
    data = table(engine, tmp_path, y=words, p=GOOD["p"])
    with pytest.raises(InputError, match=r"'y' .* holds 'maybe', 'no', 'yes'; which .* pos_label$"):
        secant.assess("y", "p", data=data)
    with pytest.raises(InputError, match=r"two values, pos_label='yes' and one other"):
        secant.assess("y", "p", data=data, pos_label="yes")
    with pytest.raises(InputError, match=r"pos_label='ja' does not occur in column 'y'"):
        secant.assess("y", "p", data=data, pos_label="ja")
    with pytest.raises(InputError, match=r"pos_label=1 does not occur in column 'y'"):
        secant.assess("y", "p", data=data, pos_label=1)


@every_engine
def test_missing_words(engine, tmp_path):
    words = np.array(["no", None, None, "yes"], object)
    data = table(engine, tmp_path, y=words, p=GOOD["p"])
    with pytest.raises(InputError, match=r"column 'y' \(y_true\) holds 2 missing outcomes"):
        secant.assess("y", "p", data=data, pos_label="yes")


@every_engine
def test_columns_that_are_not_there_or_not_numbers(engine, tmp_path):
    data = table(
        engine, tmp_path, label=[0, 1], score=[0.1, 0.2], name=np.array(["a", "b"], object)
    )
    with pytest.raises(InputError, match=r"no column 'Scores', .* did you mean 'score'\?"):
        secant.assess("label", "Scores", data=data)
    with pytest.raises(
        InputError, match=r"column 'name' \(y_prob\) must hold real numbers; .* text"
    ):
        secant.assess("label", "name", data=data)
    with pytest.raises(InputError, match=r"column 'name' \(sample_weight\) must hold real numbers"):
        secant.assess("label", "score", data=data, sample_weight="name")


def test_lists_cannot_name_groups():
    polars = optional("polars")
    data = polars.LazyFrame({"y": [0, 1], "p": [0.1, 0.2], "g": [[1], [2]]})
    with pytest.raises(InputError, match=r"column 'g' \(by\) .* cannot name groups"):
        secant.assess_by("y", "p", "g", data=data)


@every_engine
def test_an_empty_table(engine, tmp_path):
    data = table(engine, tmp_path, y=np.zeros(0, np.int64), p=np.zeros(0))
    for pos_label in (None, 1):  # which takes a look at the distinct outcomes
        with pytest.raises(InputError, match="no rows"):
            secant.assess("y", "p", data=data, pos_label=pos_label)


def test_outcomes_of_no_rows_may_be_words():
    polars = optional("polars")
    for kind in (polars.String, polars.Null):
        data = polars.LazyFrame({"y": [], "p": []}, schema={"y": kind, "p": polars.Float64})
        with pytest.raises(InputError, match="data holds no rows"):
            secant.assess("y", "p", data=data)


def test_random_ties_need_rows(tmp_path):
    with pytest.raises(InputError, match="an engine keeps its rows"):
        secant.assess("y", "p", data=table("duckdb", tmp_path, **GOOD), ties="random", rng=0)


# Tables that change, results that travel ----------------------------------------------------------


def test_a_table_that_changes_is_noticed():
    connection = optional("duckdb").connect()
    made = predictions(200_000)
    connection.from_arrow(arrow(made)).create("predictions")
    result = secant.assess("happened", "forecast", data=connection.table("predictions"))
    connection.execute("update predictions set happened = 1 - happened")
    with pytest.raises(SecantError, match="changed"):
        result.between(0.31234, 0.74321)
    connection.execute("delete from predictions")
    with pytest.raises(SecantError, match="changed"):
        result.between(0.21234, 0.84321)


VIEWS = {
    "scores": ("random()", "y", "g", {}),
    "groups": ("p", "y", "floor(3 * random())::int", {"by": "g", "method": "asymptotic"}),
    "outcomes": ("p", "(random() < p)::int", "g", {"by": "g"}),
    "clusters": ("p", "y", "g", {"clusters": "who"}),
}


@pytest.mark.parametrize("view", VIEWS)
def test_a_view_with_random_numbers_is_named(view):
    score, outcome, group, options = VIEWS[view]
    connection = optional("duckdb").connect()
    rng = np.random.default_rng(5)
    n = 30_000  # so many that cells of the first look hold several scores
    made = {"p": rng.random(n), "y": rng.integers(0, 2, n), "g": np.arange(n) % 3}
    connection.from_arrow(arrow(made)).create("t")
    rows = "t where random() < 0.5" if view == "clusters" else "t"
    who = "(p * 1000)::int % 50 as who"
    columns = f"{score} as p, {outcome} as y, {group} as g, {who}"
    connection.execute(f"create view v as select {columns} from {rows}")  # noqa: S608
    assess = secant.assess_by if "by" in options else secant.assess
    with pytest.raises(SecantError, match=r"as a view with random\(\) does: keep those in a table"):
        assess("y", "p", data=connection.table("v"), **options)


def test_a_result_travels_without_its_table(tmp_path):
    made = predictions(200_000)
    result = secant.assess(**arguments(made, table("duckdb", tmp_path, **made)))
    copy = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    assert copy.to_dict() == result.to_dict()
    assert result.ece().value > 0
    with pytest.raises(secant.InputError, match="gone"):  # cells lie across the edges of bins
        copy.ece()


def test_without_narwhals_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "narwhals", None)
    with pytest.raises(secant.MissingExtraError, match=re.escape("secant[frames]")):
        secant.assess("y", "p", data=object())


@pytest.mark.parametrize("engine", ["duckdb", "polars lazy", "sqlite"])
def test_log_loss_of_small_scores_keeps_its_digits(engine, tmp_path, few_rows_are_many):
    columns = predictions(5000)
    columns["forecast"] *= 1e-15
    columns["happened"][:] = 0
    data = table(engine, tmp_path, **columns)
    found = secant.assess(**arguments(columns, data), method="asymptotic")
    expected = secant.assess(columns["happened"], columns["forecast"])
    assert found.log_loss.value == pytest.approx(expected.log_loss.value, rel=1e-12, abs=0)
