"""What a file unpacks to is known before it is unpacked: no few kilobytes fill the memory."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import optional
from secant.sources.files import arrow, sizes

pa = optional("pyarrow")
parquet = optional("pyarrow.parquet")

N = 200_000


@pytest.fixture(autouse=True)
def _folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def little_room(monkeypatch):
    """As if so few rows were many."""
    monkeypatch.setattr(sizes, "_ROOM", 1 << 16)


def table(n=N, **columns):
    """Return rows that are all the same."""
    same = {"y": np.zeros(n, np.int64), "p": np.full(n, 0.5)}
    return pa.table(same | columns)


def write(name, rows, most=None, compression="zstd", **options):
    if name.endswith(".parquet"):
        how = {"use_dictionary": False, "data_page_size": 1 << 30, "write_batch_size": 1 << 30}
        parquet.write_table(rows, name, **how | {"compression": compression} | options)
        return name
    writer = pa.ipc.new_file if name.endswith(".feather") else pa.ipc.new_stream
    how = pa.ipc.IpcWriteOptions(compression=compression, **options)
    with writer(name, rows.schema, options=how) as file:
        file.write_table(rows, max_chunksize=most)
    return name


def refusal(name):
    with pytest.raises(secant.InputError) as caught:
        secant.assess("y", "p", data=name)
    return str(caught.value)


TOLD = {
    "a.feather": r"a batch of rows that unpacks .*smaller batches \(in pyarrow: max_chunksize\)$",
    "a.arrow": r"a batch of rows that unpacks .*smaller batches \(in pyarrow: max_chunksize\)$",
    "a.parquet": r"a page of a column that unpacks .*smaller pages \(in pyarrow: data_page_size\)$",
}


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.usefixtures("little_room")
def test_a_part_that_unpacks_to_more_than_memory_should_hold_is_refused(name):
    write(name, table())
    size = Path(name).stat().st_size
    told = refusal(name)
    assert re.match(f"{name} has {TOLD[name]}", told), told
    packed, plain = (int(each.replace(",", "")) for each in re.findall(r"(\d[\d,]*)[ ,]", told)[:2])
    assert packed < size
    assert plain > 256 * packed


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.usefixtures("little_room")
def test_it_is_refused_before_room_is_made_for_it(name, monkeypatch):
    write(name, table(1 << 20))
    before = pa.total_allocated_bytes()
    unpacked = []
    monkeypatch.setattr(arrow, "sound", unpacked.append)
    assert "unpacks from" in refusal(name)
    assert not unpacked
    assert pa.total_allocated_bytes() - before < 1 << 20


@pytest.mark.parametrize("name", TOLD)
@pytest.mark.parametrize("compression", ["zstd", "lz4", None])
@pytest.mark.usefixtures("little_room")
def test_parts_that_are_small_or_hardly_packed_are_read(name, compression):
    rng = np.random.default_rng(0)
    p = rng.random(N)
    varied = table(y=(rng.random(N) < p).astype(np.int64), p=p)
    kind = compression if name != "a.parquet" else compression or "none"
    write(name, varied, compression=kind)
    assert secant.assess("y", "p", data=name).n == N
    if name == "a.parquet":
        write(name, table(), compression=kind, data_page_size=1 << 12, write_batch_size=1 << 8)
    else:
        write(name, table(), most=1 << 12, compression=kind)
    assert secant.assess("y", "p", data=name).n == N


@pytest.mark.usefixtures("little_room")
def test_columns_of_parquet_that_nobody_wants_are_not_unpacked():
    rng = np.random.default_rng(0)
    p = rng.random(N)
    write("a.parquet", table(y=(rng.random(N) < p).astype(np.int64), p=p, note=np.zeros(N)))
    assert secant.assess("y", "p", data="a.parquet").n == N
    with pytest.raises(secant.InputError, match="a page of a column that unpacks from"):
        secant.assess_by("y", "p", "note", data="a.parquet")


@pytest.mark.usefixtures("little_room")
def test_large_files_of_parquet_need_no_look_at_their_pages(monkeypatch):
    """No page is larger than 2 GB, which is no more than 256 times 8 MB."""
    write("a.parquet", table())
    monkeypatch.setattr(sizes, "_LARGEST", 256 * Path("a.parquet").stat().st_size + 1)
    assert "a page of a column" in refusal("a.parquet")
    monkeypatch.setattr(sizes, "_LARGEST", 256 * Path("a.parquet").stat().st_size)
    assert secant.assess("y", "p", data="a.parquet").n == N


@pytest.mark.parametrize("name", ["a.feather", "a.arrow"])
@pytest.mark.usefixtures("little_room")
def test_words_of_a_category_are_looked_at_too(name):
    words = pa.DictionaryArray.from_arrays(np.zeros(9, np.int32), ["x" * (1 << 20)])
    write(name, table(9, g=words))
    assert "a batch of rows that unpacks from" in refusal(name)


@pytest.mark.usefixtures("little_room")
def test_streams_without_marks_as_they_were_written_before_2019():
    write("a.arrow", table(), use_legacy_format=True)
    assert "a batch of rows that unpacks from" in refusal("a.arrow")
    write("a.arrow", table(), most=1 << 12, use_legacy_format=True)
    assert secant.assess("y", "p", data="a.arrow").n == N


@pytest.mark.usefixtures("little_room")
def test_buffers_that_the_first_writers_packed():
    """They said so beside the description of a batch, not in it."""
    how = pa.ipc.IpcWriteOptions(compression="zstd", metadata_version=pa.ipc.MetadataVersion.V4)
    with pa.ipc.new_stream("a.arrow", table().schema, options=how) as file:
        for batch in table().to_batches():
            file.write_batch(batch, {"ARROW:experimental_compression": "zstd"})
    assert "a batch of rows that unpacks from" in refusal("a.arrow")


@pytest.mark.parametrize("statistics", [False, True])
@pytest.mark.parametrize("version", ["1.0", "2.0"])
@pytest.mark.usefixtures("little_room")
def test_every_page_is_looked_at(version, statistics):
    """Also the last, after pages with long texts for the smallest and the largest value."""
    long = ["a" * 3000, "b" * 3000] * 500
    rows = table(1000, note=long)
    how = {"data_page_version": version, "write_statistics": statistics}
    write("a.parquet", rows, data_page_size=1 << 12, write_batch_size=2, **how)
    metadata = parquet.read_metadata("a.parquet")
    with Path("a.parquet").open("rb") as file:
        for number, name in enumerate(rows.column_names):
            chunk = metadata.row_group(0).column(number)
            found = list(sizes._pages(file, {name}))
            assert len(found) > 1
            headers = chunk.total_uncompressed_size - sum(plain for _, plain in found)
            assert headers == chunk.total_compressed_size - sum(packed for packed, _ in found)
            assert 0 < headers < 8000 * len(found)


def test_equal_rows_without_end_take_no_memory():
    """A page of Parquet may say of any number of rows that they are the same."""
    n = 8 << 20
    write("a.parquet", table(n), use_dictionary=True, row_group_size=n)
    assert Path("a.parquet").stat().st_size < 1 << 17
    most = []

    def sound(batch):
        most.append(pa.total_allocated_bytes())
        return batch

    before = pa.total_allocated_bytes()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(arrow, "sound", sound)
        patch.setattr(arrow, "_WHOLE", n - 1)
        tracemalloc.start()
        try:
            secant.assess("y", "p", data="a.parquet", method="asymptotic")
            traced = tracemalloc.get_traced_memory()[1]
        finally:
            tracemalloc.stop()
    assert max(most) - before < 8 * n  # less than one column of two
    assert traced < 16 * n


@pytest.mark.parametrize("large", [1, 1 << 20])  # as large files are read, and as small ones
def test_a_long_text_in_many_rows_is_in_memory_once(large, monkeypatch):
    n, word = 5000, "x" * (1 << 16)
    words = pa.DictionaryArray.from_arrays(np.zeros(n, np.int32), [word])
    write("a.parquet", table(n, g=words), use_dictionary=True, store_schema=False)
    assert parquet.read_schema("a.parquet").field("g").type == pa.string()
    most = []

    def sound(batch):
        most.append(pa.total_allocated_bytes())
        return batch

    before = pa.total_allocated_bytes()
    monkeypatch.setattr(arrow, "sound", sound)
    monkeypatch.setattr(arrow, "_LARGE", large)
    assert secant.assess_by("y", "p", "g", data="a.parquet")[word].n == n
    assert max(most) - before < 16 << 20  # all rows are 328 MB


@pytest.mark.parametrize("seed", range(20))
def test_descriptions_that_are_damaged_are_left_to_arrow(seed):
    """Whatever they say, they are read to an end, and in no time."""
    rng = np.random.default_rng(seed)
    content = rng.integers(0, [256, 32][seed % 2], 5000, np.uint8).tobytes()
    for whole in (content, bytes(5000), b"\x1c" * 5000, b"\x19\xfc" * 2500, b"\xff" * 5000):
        size = len(whole).to_bytes(4, "little")
        for name, text in {
            "a.parquet": b"PAR1" + whole + size + b"PAR1",
            "a.feather": b"ARROW1\0\0" + whole + size + b"ARROW1",
            "a.arrow": b"\xff" * 4 + size + whole,
        }.items():
            Path(name).write_bytes(text)
            assert refusal(name).startswith(f"{name} cannot be read: ")
        sizes.check_pages(Path("a.parquet"), None)
        sizes.check_batches(Path("a.feather"), is_file=True)
        sizes.check_batches(Path("a.arrow"), is_file=False)


def test_a_map_among_the_fields_is_passed():
    """As the format knows them, though no description of a file has one."""
    compact = sizes._Compact(b"\x1b\x02\x86\x01a\x04\x01b\x06\x15\x08\x00")
    assert compact.struct() == {1: [(b"a", 2), (b"b", 3)], 2: 4}
    assert sizes._Compact(b"\x1b\x00\x15\x08\x00").struct() == {1: [], 2: 4}
