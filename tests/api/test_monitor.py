"""Monitor: batches in, an alarm out, the same numbers however they come."""

import pickle
from datetime import date, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import secant
from helpers import optional
from monitor_oracle import slow_cuts, slow_log_e, slow_monitor, slow_prior
from secant import Cells, InputError, Monitor
from secant._api.monitor import kept_at


def predictions(n, seed=0, power=1.0):
    rng = np.random.default_rng(seed)
    scores = rng.random(n)
    return (rng.random(n) < scores**power).astype(int), scores


def fed(*batches, **options):
    monitor = Monitor(**options)
    for batch in batches:
        monitor.add(*batch)
    return monitor


def numbers(monitor):
    return monitor.to_dict()


# What it finds ------------------------------------------------------------------------------------


def test_a_shift_is_found_with_its_beginning_and_its_place():
    monitor, rng = Monitor(), np.random.default_rng(1)
    for day in range(40):
        scores = rng.random(1000)
        chance = np.where((scores > 0.5) & (day >= 20), scores - 0.15, scores)
        monitor.add(rng.random(1000) < chance, scores, time=date(2026, 1, 1) + timedelta(day))
        assert monitor.alarm == (monitor.pvalue <= 0.05)
        assert (monitor.since is None) == (not monitor.alarm) == (monitor.where is None)
    assert monitor.alarm
    assert abs((monitor.since - date(2026, 1, 21)).days) <= 1
    assert date(2026, 1, 20) < monitor.history.alarm_time < date(2026, 1, 26)
    where = monitor.where
    assert where.direction == "too high"
    assert where.low == pytest.approx(0.5, abs=0.05)
    assert where.high == 1
    assert where.mean_score - where.mean_response == pytest.approx(0.15, abs=0.02)


def test_a_calibrated_model_raises_no_alarm():
    monitor = fed(*(predictions(500, seed) for seed in range(60)))
    assert not monitor.alarm
    assert monitor.pvalue > 0.05
    assert len(monitor.history) == 60
    assert monitor.history.n == 30_000


def test_too_extreme_and_too_moderate_are_found():
    for power, direction in ((0.6, "too extreme"), (1.6, "too moderate")):
        rng = np.random.default_rng(2)
        monitor = Monitor()
        for _ in range(5):
            scores = rng.random(2000)
            odds = (scores / (1 - scores)) ** power
            monitor.add(rng.random(2000) < odds / (1 + odds), scores)
        assert monitor.alarm
        assert monitor.where.direction == direction
        assert (monitor.where.low, monitor.where.high) == (0, 1)


def test_a_tolerance_is_kept():
    rng = np.random.default_rng(3)
    strict, lenient, wide = Monitor(), Monitor(tolerance=0.03), Monitor(tolerance=0.06)
    for _ in range(20):
        scores = rng.uniform(0.1, 0.9, 5000)
        happened = rng.random(5000) < scores + 0.05
        for monitor in (strict, lenient, wide):
            monitor.add(happened, scores)
    assert strict.alarm
    assert lenient.alarm
    assert lenient.pvalue > strict.pvalue
    assert not wide.alarm


def test_an_outcome_that_its_score_ruled_out():
    monitor = fed(predictions(300))
    monitor.add([0, 1], [0.0, 1.0])
    assert not monitor.alarm
    monitor.add([1, 0, 0], [0.0, 0.5, 0.0])
    assert monitor.alarm
    assert monitor.pvalue == 0
    assert monitor.since == 3
    assert (monitor.where.low, monitor.where.high, monitor.where.direction) == (0, 0, "too low")
    tolerant = fed(predictions(300), ([1, 0, 0], [0.0, 0.5, 0.0]), tolerance=0.01)
    assert not tolerant.alarm
    assert tolerant.history.n_forbidden == 1
    other = fed(predictions(300), ([0], [1.0]))
    assert (other.where.low, other.where.direction) == (1, "too high")


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
@pytest.mark.parametrize("size", [200, 60])
def test_it_is_what_the_definition_says(tolerance, size):
    # With 60 rows a batch, ranges are cut when the third arrives.
    batches = [predictions(size, seed, 1 if seed < 2 else 1.6) for seed in range(5)]
    monitor = fed(*batches, tolerance=tolerance)
    waited = -(-160 // size)
    edges = slow_cuts(np.concatenate([p for _, p in batches[:waited]]))
    log_es = [
        slow_log_e(
            list(zip(p.tolist(), y.tolist(), strict=True)),
            tolerance,
            edges if number >= waited - 1 else [0.0, 1.0],
        )
        for number, (y, p) in enumerate(batches)
    ]
    expected = slow_monitor(log_es, slow_prior(tolerance))
    records = monitor._state.records
    assert [record.log_evidence for record in records] == pytest.approx(
        [log_m for log_m, _, _ in expected], abs=1e-9
    )
    assert [(each.heaviest, each.start) for each in records] == [each[1:] for each in expected]
    largest = max(log_m for log_m, _, _ in expected)
    assert monitor.pvalue == pytest.approx(min(1, np.exp(-largest)), rel=1e-9)


# The same numbers ---------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 1), st.floats(0, 1)), min_size=1, max_size=30), st.randoms()
)
@settings(max_examples=30)
def test_the_order_of_rows_makes_no_difference(rows, random):
    shuffled = rows.copy()
    random.shuffle(shuffled)
    first = predictions(200)
    one = fed(first, ([y for y, _ in rows], [p for _, p in rows]))
    other = fed(first, ([y for y, _ in shuffled], [p for _, p in shuffled]))
    assert numbers(one) == numbers(other)


@given(st.lists(st.integers(0, 80), min_size=1, max_size=5), st.integers(0, 2**32))
@settings(max_examples=25)
def test_shards_added_as_cells_equal_one_batch(sizes, seed):
    rng = np.random.default_rng(seed)
    scores = np.round(rng.random(sum(sizes)), 3)
    labels = rng.integers(0, 2, scores.size)
    whole, shards = Cells(), []
    if scores.size:
        whole.update(labels, scores)
    for piece in np.split(np.arange(scores.size), np.cumsum(sizes)[:-1]):
        shard = Cells()
        if piece.size:
            shard.update(labels[piece], scores[piece])
        shards.append(shard)
    first = predictions(300)
    one, other = Monitor(), Monitor()
    for monitor, cells in ((one, whole), (other, sum(reversed(shards)))):
        monitor.add(*first)
        monitor.add(cells)
    a, b = numbers(one), numbers(other)
    assert a.pop("history")[1]["evidence"] == b.pop("history")[1]["evidence"]
    assert a == b


def test_stored_cells_are_monitored_afterwards(tmp_path):
    rows, cells = Monitor(tolerance=0.001), Monitor(tolerance=0.001)
    for day in range(8):
        y, p = predictions(2000, day, 1.1)
        state = Cells()
        state.update(y, p)
        state.save(tmp_path / f"{day}.cells")
        rows.add(y, p, time=day)
    for day in range(8):
        cells.add(Cells.load(tmp_path / f"{day}.cells"), time=day)
    assert cells.alarm == rows.alarm
    for a, b in zip(rows.history, cells.history, strict=True):
        assert (a.n, a.events) == (b.n, b.events)
        assert b.log10_evidence <= a.log10_evidence + 1e-9
        assert b.log10_evidence == pytest.approx(a.log10_evidence, abs=1e-3)
    assert (cells.since, cells.where.direction) == (rows.since, rows.where.direction)


def test_slopes_are_left_out_of_cells_and_that_is_said():
    state = Cells()
    state.update(*predictions(500))
    monitor = fed(predictions(500))
    monitor.add(state)
    assert [each.slopes for each in monitor.history] == [True, False]
    assert "1 batch came as sums (Cells, tables of engines)" in str(monitor)


@given(st.lists(st.integers(0, 300), min_size=1, max_size=5), st.integers(0, 5))
@settings(max_examples=15)
def test_saved_and_loaded_on_the_way_it_gives_the_same_numbers(tmp_path_factory, sizes, stop):
    path = tmp_path_factory.mktemp("monitor") / "state.json"
    batches = [predictions(size, seed, 1.3) for seed, size in enumerate(sizes)]
    straight = fed(*batches)
    monitor = fed(*batches[:stop])
    monitor.save(path)
    monitor = Monitor.load(path)
    for batch in batches[stop:]:
        monitor.add(*batch)
    assert numbers(monitor) == numbers(straight)
    assert str(monitor) == str(straight)


def test_names_of_every_kind_survive(tmp_path):
    for times in ([1, 5], ["a", "b"], [date(2026, 1, 1), date(2026, 1, 2)]):
        monitor = Monitor()
        for time in times:
            monitor.add(*predictions(10), time=time)
        monitor.save(tmp_path / "state")
        assert [each.time for each in Monitor.load(tmp_path / "state").history] == times


def test_it_can_be_pickled():
    monitor = fed(predictions(300), predictions(200, 1))
    assert numbers(pickle.loads(pickle.dumps(monitor))) == numbers(monitor)  # noqa: S301
    history = pickle.loads(pickle.dumps(monitor.history))  # noqa: S301
    assert history.to_dict() == numbers(monitor)


# Batches of any size ------------------------------------------------------------------------------


def test_a_batch_of_nothing_changes_nothing_but_time():
    monitor = fed(predictions(400, 0, 1.3))
    before = numbers(monitor)
    monitor.add([], [])
    monitor.add(Cells())
    monitor.add(np.empty(0), np.empty(0))
    after = numbers(monitor)
    assert len(after["history"]) == 4
    for name in ("pvalue", "log10_pvalue", "alarm", "alarm_time", "since", "where", "n"):
        assert after[name] == before[name]
    assert {each["evidence"] for each in after["history"]} == {before["history"][0]["evidence"]}
    monitor.add(*predictions(400, 1, 1.3))
    assert monitor.history.n == 800


def test_batches_of_one():
    rng = np.random.default_rng(4)
    monitor = Monitor()
    for _ in range(400):
        score = rng.random()
        monitor.add([int(rng.random() < score)], [score])
    assert len(monitor.history) == 400
    assert not monitor.alarm
    off = Monitor()
    for _ in range(400):
        off.add([1], [0.5])
    assert off.alarm
    assert off.where.direction == "too low"


def test_many_rows_take_little_memory():
    import tracemalloc

    scores = np.random.default_rng(5).random(2_000_000)
    labels = (scores > 0.5).astype(np.int8)
    monitor = Monitor()
    tracemalloc.start()
    monitor.add(labels, scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert monitor.history.n == 2_000_000
    assert peak < 32e6  # the scores themselves are 16 MB, and are not copied


# Where predictions come from ----------------------------------------------------------------------


def test_data_frames_mappings_and_files(tmp_path):
    pyarrow, pandas = optional("pyarrow"), optional("pandas")
    from pyarrow import parquet

    y, p = predictions(500)
    truth = numbers(fed((y, p)))
    parquet.write_table(pyarrow.table({"y": y, "p": p}), tmp_path / "day.parquet")
    sources = [{"y": y, "p": p}, pandas.DataFrame({"y": y, "p": p}), tmp_path / "day.parquet"]
    for data in sources:
        monitor = Monitor()
        monitor.add("y", "p", data=data)
        assert numbers(monitor) == truth


def test_labels_of_any_kind():
    y, p = predictions(500)
    words = np.where(y == 1, "yes", "no")
    monitor = Monitor()
    monitor.add(words, p, pos_label="yes")
    assert numbers(monitor) == numbers(fed((y, p)))
    with pytest.raises(InputError, match="pos_label"):
        monitor.add(words, p)


@pytest.mark.parametrize(
    ("arguments", "options", "complaint"),
    [
        (([0, 1], [0.1, 0.2]), {"sample_weight": [1, 2]}, "sample_weight cannot be used"),
        (([0, 1], [0.1, 1.2]), {}, r"y_prob\[1\] is 1.2"),
        (([0, np.nan], [0.1, 0.2]), {}, "a missing outcome"),
        (([0, 1], [0.1]), {}, "must have one length"),
        (([], [0.1]), {}, "must have one length"),
        (([0, 1],), {}, "y_prob is missing"),
        ((), {}, "y_true is missing"),
        ((Cells(), [0.1]), {}, "y_prob cannot be given beside Cells"),
        ((Cells(),), {"pos_label": 1}, "pos_label cannot be given beside Cells"),
        (("y", "p"), {}, "must be an array of values"),
        (([0], [0.5]), {"time": 1}, "the period 1 has been added already"),
        (([0], [0.5]), {"time": 1.5}, "time must be a date"),
    ],
)
def test_a_batch_with_a_fault_changes_nothing(arguments, options, complaint):
    monitor = fed(predictions(200))
    before = numbers(monitor)
    with pytest.raises(InputError, match=complaint):
        monitor.add(*arguments, **options)
    assert numbers(monitor) == before


def test_weighted_cells_are_refused():
    cells = Cells()
    cells.update([0, 1], [0.2, 0.3], [1.5, 2])
    with pytest.raises(InputError, match="sampling weights"):
        Monitor().add(cells)
    copies = Cells()
    copies.update([0, 1], [0.2, 0.3], [1, 2], weight_kind="frequency")
    monitor = Monitor()
    monitor.add(copies)
    assert monitor.history.n == 3


@pytest.mark.parametrize(
    "options", [{"alpha": 0}, {"alpha": 1}, {"alpha": "x"}, {"tolerance": -0.1}, {"tolerance": 1}]
)
def test_settings_out_of_range(options):
    with pytest.raises(InputError, match=r"alpha|tolerance"):
        Monitor(**options)


def test_nothing_yet():
    monitor = Monitor()
    assert not monitor.alarm
    assert monitor.pvalue == 1
    assert monitor.since is monitor.where is None
    assert "Nothing has been added yet" in str(monitor)
    assert secant.Monitor is Monitor


# --- one file, several processes ------------------------------------------------------------------


def add(monitor, day):
    rng = np.random.default_rng(day)
    scores = rng.random(300)
    monitor.add(rng.random(300) < scores, scores, time=day)


def test_what_somebody_else_saved_is_not_lost(tmp_path):
    path = tmp_path / "state"
    monitor = Monitor()
    add(monitor, 1)
    monitor.save(path)
    one, other = Monitor.load(path), Monitor.load(path)
    for number, each in enumerate((one, other, monitor), 2):
        add(each, number)
    one.save(path)
    kept = path.read_bytes()
    for late in (other, monitor):
        with pytest.raises(InputError, match="is not what it was when this process read it"):
            late.save(path)
    assert path.read_bytes() == kept
    assert sorted(each.name for each in tmp_path.iterdir()) == ["state"]
    for day in (7, 8):  # nobody else has
        add(one, day)
        one.save(path)
    assert [each.time for each in Monitor.load(path).history] == [1, 2, 7, 8]
    path.unlink()
    with pytest.raises(InputError, match="written or removed"):
        one.save(path)
    other.save(tmp_path / "copy")
    Monitor().save(tmp_path / "copy")  # a new one has read nothing, and replaces what is there


def test_two_that_begin_at_one_place(tmp_path):
    path = tmp_path / "state"
    one, other = kept_at(path, alpha=0.01), kept_at(path)
    one.save(path)
    with pytest.raises(InputError, match="is not what it was"):
        other.save(path)
    assert kept_at(path).alpha == 0.01
