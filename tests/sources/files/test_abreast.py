"""Pieces of files read by several threads: the answers of one thread, and its errors."""

import threading
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import optional
from secant._base.types import Forbidden
from secant.sources import rows
from secant.sources.files import abreast, first, held
from secant.sources.files.abreast import Abreast, _Outcomes
from secant.sources.files.groups import FileRows
from secant.sources.files.prefetch import THREAD
from secant.sources.files.table import FileTable
from secant.sources.open import open_source

pa = optional("pyarrow")
optional("numba")
parquet = optional("pyarrow.parquet")

N = 3000
# Calibrated, and not found to be off: else quantiles of all scores are looked into.
rng = np.random.default_rng(1)
P = rng.random(N)
Y = (rng.random(N) < P).astype(np.int64)


@pytest.fixture(autouse=True)
def few_rows_are_many(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(rows, "SORT_UP_TO", 64)
    monkeypatch.setattr(rows, "COLLECT_UP_TO", 64)
    monkeypatch.setattr(rows.kernels, "should_use_numba", lambda *_, **__: True)
    monkeypatch.setattr(rows.kernels, "threads", lambda: 3)
    monkeypatch.setattr(held, "HOLD", 0)
    monkeypatch.setattr(abreast, "PIECE", 250)
    monkeypatch.setattr(abreast, "SIZE", 70)


@pytest.fixture
def columns_read(monkeypatch):
    """The columns of every pass over pieces, and of every other walk."""
    seen = []
    walk, pieces = FileTable.walk, abreast.read

    def walked(self, names, *asked):
        seen.append(("walk", *names))
        return walk(self, names, *asked)

    def read(table, names, *asked):
        seen.append(("abreast", *names))
        return pieces(table, names, *asked)

    monkeypatch.setattr(FileTable, "walk", walked)
    monkeypatch.setattr(abreast, "read", read)
    return seen


def write(name="a.parquet", rows_of_groups=100, y=Y, p=P, **more):
    parquet.write_table(pa.table({"y": y, "p": p, **more}), name, row_group_size=rows_of_groups)
    return name


def assess(data="a.parquet", **asked):
    return secant.assess(
        **{"y_true": "y", "y_prob": "p", "method": "asymptotic"} | asked, data=data
    )


def in_order(monkeypatch):
    monkeypatch.setattr(Abreast, "_pieces", lambda _: [])


def told(result):
    numbers = result.ecce_r, result.ecce_mad, result.sigma, result.n, result.forbidden
    return *numbers, result.warnings, result.brier


KINDS = {
    "bool": bool,
    "int8": np.int8,
    "uint8": np.uint8,
    "int32": np.int32,
    "int64": np.int64,
    "float32": np.float32,
    "float64": np.float64,
}


@pytest.mark.parametrize("of_scores", ["float32", "float64"])
@pytest.mark.parametrize("of_labels", KINDS)
def test_several_threads_have_the_answer_of_one_walk(
    of_labels, of_scores, columns_read, monkeypatch
):
    write(y=Y.astype(of_labels), p=P.astype(of_scores))
    found = assess()
    assert {kind for kind, *_ in columns_read} == {"abreast"}
    in_order(monkeypatch)
    columns_read.clear()
    wanted = assess()
    assert {kind for kind, *_ in columns_read} == {"walk"}
    assert told(found) == told(wanted)
    assert found.log_loss.value == pytest.approx(wanted.log_loss.value, rel=1e-14)


def test_the_number_of_threads_changes_nothing(monkeypatch):
    write()
    results = []
    for count in (1, 2, 8):
        monkeypatch.setattr(rows.kernels, "threads", lambda count=count: count)
        results.append(assess().to_dict())
    assert results[0] == results[1] == results[2]


def test_files_and_folders_are_one_table(columns_read, monkeypatch):
    for label in (0, 1):
        Path(f"y={label}").mkdir()
        of_label = np.flatnonzero(label == Y)
        for part in range(2):
            some = P[of_label[part::2]]
            parquet.write_table(
                pa.table({"p": some}), f"y={label}/{part}.parquet", row_group_size=99
            )
    found = assess(".")
    assert [kind for kind, *_ in columns_read] == ["abreast"] * 2
    in_order(monkeypatch)
    assert told(assess(".")) == told(found)
    assert found.ecce_r.value == secant.ecce_r(Y, P)


def test_rows_that_their_score_rules_out_are_named_in_their_order(columns_read):
    y, p = Y.copy(), P.copy()
    wrong = [7, 104, 105, 2999]
    y[wrong], p[wrong] = [0, 1, 0, 1], [1.0, 0.0, 1.0, 0.0]
    y[2], p[2] = 1, 1.0
    write(y=y, p=p)
    result = assess()
    assert list(result.forbidden) == wrong
    assert result.log_loss.value == np.inf
    assert {kind for kind, *_ in columns_read} == {"abreast"}


UNUSUAL = {
    "two": (lambda y, p: (np.where(np.arange(N) == 1234, 2, y), p), True),
    "minus": (lambda y, p: (2 * y - 1, p), False),
    "words": (lambda y, p: (np.where(y == 1, "yes", "no"), p), False),
    "half": (lambda y, p: (np.where(np.arange(N) == 1234, 0.5, y), p), True),
    "nan": (lambda y, p: (y, np.where(np.arange(N) == 1234, np.nan, p)), True),
    "above": (lambda y, p: (y, np.where(np.arange(N) == 1234, 1.5, p)), True),
    "below": (lambda y, p: (y, np.where(np.arange(N) == 1234, -1e-9, p)), True),
    "null": (lambda y, p: (y, pa.array(p, mask=np.arange(N) == 1234)), True),
    "no label": (lambda y, p: (pa.array(y, mask=np.arange(N) >= 1234), p), True),
    "-0.0": (lambda y, p: (y, np.where(np.arange(N) == 1234, -0.0, p)), False),
    "-0": (lambda y, p: (np.where(y == 1, 1.0, -0.0), p), False),
}


@pytest.mark.parametrize("name", UNUSUAL)
def test_what_is_unusual_is_left_to_a_walk_in_order(name, monkeypatch):
    make, is_wrong = UNUSUAL[name]
    y, p = make(Y, P)
    write(y=y, p=p)
    asked = {"pos_label": "yes"} if name == "words" else {}

    def answer():
        try:
            return told(assess(**asked))
        except secant.InputError as error:
            return str(error), error.row, error.column, error.value, error.place

    found = answer()
    assert is_wrong == isinstance(found[0], str)
    if is_wrong:
        assert found[1] == 1234
    in_order(monkeypatch)
    assert answer() == found


@pytest.mark.parametrize("most", [N - 1, N])
def test_scores_are_read_again_alone_while_outcomes_are_kept(most, columns_read, monkeypatch):
    write()
    monkeypatch.setattr(abreast, "KEEP_OUTCOMES", most)
    result = assess()
    again = ("p",) if most == N else ("y", "p")
    assert columns_read == [("abreast", "y", "p"), ("abreast", *again)]
    assert result.ecce_r.value == secant.ecce_r(Y, P)


def test_a_result_keeps_no_outcomes(columns_read):
    write()
    result = assess()
    assert result._source._files._groups._abreast._outcomes is None
    columns_read.clear()
    assert result.between(0.2, 0.7).n == np.count_nonzero((P >= 0.2) & (P <= 0.7))
    assert set(columns_read) <= {("abreast", "y", "p"), ("walk", "y", "p")}


@pytest.fixture
def rows_read(monkeypatch):
    """How many rows every pass over pieces has read."""
    seen = []
    read = abreast.read

    def counted(table, names, pieces, takers):
        seen.append(sum(piece.rows for piece in pieces))
        return read(table, names, pieces, takers)

    monkeypatch.setattr(abreast, "read", counted)
    return seen


@pytest.mark.parametrize("sign", [1, -1])
def test_pieces_without_scores_that_matter_are_passed_over(sign, rows_read, monkeypatch):
    order = np.argsort(sign * P)
    write(y=Y[order], p=P[order])
    found = assess()
    first, again = rows_read
    assert first == N
    assert 0 < again < N / 2
    rows_read.clear()
    assert found.between(0.3, 0.301).n == np.count_nonzero((P >= 0.3) & (P <= 0.301))
    assert sum(rows_read) <= 2 * 300  # one piece, or two
    rows_read.clear()
    monkeypatch.setattr(Abreast, "_near", lambda _, pieces, *__: pieces)
    assert told(assess()) == told(found)
    assert rows_read == [N, N]


@pytest.mark.parametrize("most", [N - 1, N])
def test_one_model_alone_is_read_abreast_whoever_asks(most, columns_read, monkeypatch):
    write()
    monkeypatch.setattr(first, "KEEP", most)
    wanted = assess()
    columns_read.clear()
    asked = {"data": "a.parquet", "method": "asymptotic"}
    found = secant.assess_models("y", {"one": "p"}, **asked)["one"]
    kinds = {kind for kind, *_ in columns_read}
    assert kinds == ({"abreast"} if most < N else {"walk"})
    assert found._source._observations._groups._abreast._outcomes is None
    assert told(found)[:-1] == told(wanted)[:-1]


def test_several_models_are_read_together(columns_read):
    write(q=P[::-1].copy())
    asked = {"data": "a.parquet", "method": "asymptotic"}
    found = secant.assess_models("y", {"one": "p", "two": "q"}, **asked)
    assert {kind for kind, *_ in columns_read} == {"walk"}
    assert told(found["one"])[:-1] == told(assess())[:-1]


def test_a_piece_whose_scores_only_touch_a_range_is_read():
    write(p=np.repeat(np.arange(10) / 10, N // 10), y=np.arange(N) % 2)
    table = open_source("y", "p", data="a.parquet")._files
    assert table.feed(rows.RowSource(table).fixed_sums())
    reader = table._groups._abreast
    pieces = reader._pieces()

    def near(low, high):
        return [piece.first for piece in reader._near(pieces, np.array([low]), np.array([high]))]

    assert [piece.rows for piece in pieces] == [300] * 10
    assert near(0.3, 0.3) == [900]
    assert near(0.25, 0.3) == [900]
    assert near(0.3, 0.35) == [900]
    assert near(0.21, 0.29) == []
    assert near(0.2, 0.4) == [600, 900, 1200]
    assert near(0.0, 1.0) == [piece.first for piece in pieces]


def test_outcomes_are_kept_as_bits():
    class Taker:
        def __init__(self, parts):
            self.outcomes = [
                (first, np.packbits(Y[first:stop].astype(bool))) for first, stop in parts
            ]

    ends = [0, 1, 9, 100, 107, 1000, N]
    parts = list(pairwise(ends))
    kept = _Outcomes.of([Taker(parts[1::2]), Taker(parts[::2])])
    every = rng.permutation(N)
    np.testing.assert_array_equal(kept.of_rows(every), Y[every])
    assert kept.bits.nbytes <= N / 8 + len(parts)


@pytest.mark.parametrize("least", [99, 100, 101, N, N + 1])
def test_pieces_are_neighbouring_row_groups_of_enough_rows(least):
    write("a.parquet")
    write("b.parquet", 1000)
    write("c.parquet", y=Y[:0], p=P[:0])
    table = FileTable(["a.parquet", "b.parquet", "c.parquet"], {}, None)
    pieces = table.pieces(least)
    first = 0
    for piece in pieces:
        assert piece.first == first
        assert piece.rows >= min(least, 1) or piece.file.path.name == "c.parquet"
        first += piece.rows
    assert first == 2 * N
    of_a = [piece for piece in pieces if piece.file.path.name == "a.parquet"]
    assert len(of_a) == {99: 30, 100: 30, 101: 15}.get(least, 1)
    assert [number for piece in of_a for number in piece.sections] == list(range(30))


def test_formats_without_sections_have_no_pieces():
    Path("a.csv").write_text("y,p\n1,.5\n", encoding="utf-8")
    assert FileTable(["a.csv"], {}, None).pieces(1) == []


def table_of(path):
    return FileTable([path], {secant.errors.Argument("y_prob"): "p"}, None)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_every_row_is_read_once(count):
    write()
    table = table_of("a.parquet")
    seen, where = [], set()
    lock = threading.Lock()

    def take(batch):
        assert batch.rows <= abreast.SIZE
        with lock:
            where.add(threading.current_thread().name)
            seen.extend(range(batch.first, batch.first + batch.rows))

    abreast.read(table, ["p"], table.pieces(250), [take] * count)
    assert sorted(seen) == list(range(N))
    assert where <= {threading.main_thread().name, THREAD}


@pytest.mark.parametrize("number", [0, 1])
def test_an_error_in_any_thread_ends_all(number):
    write()
    table = table_of("a.parquet")
    has_begun = threading.Event()

    def waits(batch):
        if batch.first:  # what comes first is waited for by all
            has_begun.wait(10)

    def fails(batch):
        if number or batch.first:
            has_begun.set()
            raise KeyError(number)

    takers = [waits, waits]
    takers[number] = fails
    with pytest.raises(KeyError):
        abreast.read(table, ["p"], table.pieces(100), takers)
    assert not [each for each in threading.enumerate() if each.name == THREAD]


def test_without_threads_one_reads_all(monkeypatch):
    write()
    table = table_of("a.parquet")

    def refuses(_):
        msg = "can't start new thread"
        raise RuntimeError(msg)

    monkeypatch.setattr(threading.Thread, "start", refuses)
    count = []
    abreast.read(table, ["p"], table.pieces(250), [lambda batch: count.append(batch.rows)] * 3)
    assert sum(count) == N


def test_files_that_change_between_passes_are_noticed(monkeypatch):
    write()
    refine = FileRows.feed

    def changed(self, taker):
        if self._groups._seen is not None:
            write(p=P[::-1])
        return refine(self, taker)

    monkeypatch.setattr(FileRows, "feed", changed)
    with pytest.raises(secant.errors.SecantError, match="changed after it was first looked at"):
        assess()


def test_a_piece_with_fewer_rows_than_told_is_refused():
    write()
    table = table_of("a.parquet")
    piece = table.pieces(N)[0]
    with pytest.raises(secant.InputError, match="says that it holds 2,999 rows from row 0 on"):
        list(table.walk_pieces(["p"], 100, iter([piece._replace(rows=N - 1)])))


def test_a_walk_takes_note_of_what_others_saw():
    write()
    walk = open_source("y", "p", data="a.parquet")._files._groups.walk()
    walk.saw(5, (0.25, 0.5), [np.array([4]), np.array([1, 3])])
    assert walk.checks.extent == (5, 0.25, 0.5)
    assert walk.refused.found == Forbidden(3, (1, 3, 4))
