"""Which files a name stands for: each once, whatever it is called, and none that is no data."""

import os
import re
from pathlib import Path

import numpy as np
import pytest

import secant
from helpers import optional
from secant.sources.files.paths import find

pa = optional("pyarrow")
parquet = optional("pyarrow.parquet")

N = 50
COLUMNS = {"y": np.arange(N) % 2, "p": np.linspace(0.1, 0.9, N)}


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def write(name):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(pa.table(COLUMNS), path)
    return name


def refusal(data):
    with pytest.raises(secant.InputError) as caught:
        secant.assess("y", "p", data=data)
    return str(caught.value)


def test_one_file_by_two_names_is_refused_naming_both(folder):
    write("a.parquet")
    Path("soft.parquet").symlink_to("a.parquet")
    os.link("a.parquet", "hard.parquet")
    for other in (folder / "a.parquet", "./sub/../a.parquet", "soft.parquet", "hard.parquet"):
        Path("sub").mkdir(exist_ok=True)
        told = refusal(["a.parquet", other])
        if Path(other) != Path("a.parquet"):
            assert f"a.parquet and {Path(other)}, which are two names of one file" in told
        assert told.endswith("; its rows would count twice")
    assert "two names of one file" in refusal("*.parquet")
    assert "two names of one file" in refusal(".")


def test_a_linked_folder_is_read_once(folder):
    for day in ("d1", "d2"):
        write(f"set/{day}/0.parquet")
    Path("set/latest").symlink_to("d2")
    Path("set/around").symlink_to(folder / "set")
    assert secant.assess("y", "p", data="set").n == 2 * N
    write("elsewhere/1.parquet")
    Path("set/more").symlink_to(folder / "elsewhere")  # whose rows are not there otherwise
    assert secant.assess("y", "p", data="set").n == 3 * N
    assert [str(found.path) for found in find("set")] == [
        "set/d1/0.parquet",
        "set/d2/0.parquet",
        "set/more/1.parquet",
    ]


LAKES = [
    ("_delta_log/0.json", "is a table of Delta Lake.*polars.scan_delta"),
    (".hoodie/hoodie.properties", "is a table of Hudi"),
    ("metadata/v3.metadata.json", "is a table of Iceberg.*pyiceberg"),
    ("metadata/version-hint.text", "is a table of Iceberg.*scan_iceberg"),
]


@pytest.fixture(params=LAKES)
def lake(request):
    """A table that keeps deleted rows, and what is told of it."""
    mark, told = request.param
    write("lake/part-0.parquet")
    write("lake/data/g=1/part-1.parquet")
    Path("lake", mark).parent.mkdir()
    Path("lake", mark).write_text("{}")
    return told


@pytest.mark.parametrize(
    "data",
    [
        "lake",
        "lake/*.parquet",
        ".",
        "l*",
        "lake/**/*.parquet",
        "lake/data",
        "lake/*/*/*.parquet",
        "lake/data/g=1",
        "lake/data/g=1/part-1.parquet",
        "lake/part-0.parquet",
        ["fine.parquet", "lake/data/g=1/part-1.parquet"],
        "./lake/data",
    ],
)
def test_tables_that_keep_deleted_rows_are_refused_by_whatever_name(data, lake):
    write("fine.parquet")
    assert re.match(f"lake {lake}", refusal(data))


def test_tables_that_keep_deleted_rows_are_found_from_inside_and_through_links(folder, lake):
    (folder / "link.parquet").symlink_to(folder / "lake" / "part-0.parquet")
    (folder / "linked").symlink_to(folder / "lake" / "data")
    inside = folder / "lake" / "data" / "more.parquet"
    write("elsewhere/0.parquet")
    inside.symlink_to(folder / "elsewhere" / "0.parquet")
    place = re.escape(str(folder / "lake"))
    for data in ("link.parquet", "linked", "linked/g=1", "linked/*/*.parquet", inside):
        assert re.match(f"{place} {lake}", refusal(data)), data
    os.chdir("lake/data/g=1")
    for data in (".", "part-1.parquet", "*.parquet", "../g=1"):
        assert re.match(f"{place} {lake}", refusal(data)), data
    os.chdir(folder)
    assert secant.assess("y", "p", data="lake/../elsewhere").n == N


def test_addresses_of_files(folder):
    write("a b.parquet")
    for host in ("", "//", "//localhost"):
        for name in ("a%20b.parquet", "a b.parquet"):
            assert secant.assess("y", "p", data=f"file:{host}{folder}/{name}").n == N
    there = "file:" + "//server/a.parquet"
    assert "secant reads files of this machine alone" in refusal(there)


def test_names_that_cannot_be_read(folder):
    assert "there is no such user" in refusal("~nosuchuserhere/a.parquet")
    strange = os.fsdecode(b"\xff\xfe.parquet")
    told = refusal(strange)
    assert "which is no text in UTF-8; rename that file" in told
    told.encode()
    write("set/a.parquet")
    (folder / "set" / strange).touch()
    refusal("set").encode()
    assert "no text in UTF-8" in refusal("a\0b.parquet")


@pytest.mark.parametrize(
    ("name", "reader"),
    [
        ("a.xlsx", "pandas.read_excel('a.xlsx')"),
        ("a.npz", "numpy.load('a.npz')"),
        ("a.npy", "numpy.load('a.npy'), as a mapping of names to its columns"),
        ("a.json", "pandas.read_json"),
        ("a.sav", "pandas.read_spss"),
        ("a.dta", "pandas.read_stata"),
        ("a.pkl", "pandas.read_pickle"),
        ("a.h5", "pandas.read_hdf"),
        ("a.orc", "pyarrow.orc.read_table"),
        ("a.txt", "pandas.read_csv"),
    ],
)
def test_formats_of_others_are_refused_with_what_reads_them(name, reader):
    Path(name).write_bytes(b"anything")
    told = refusal(name)
    assert told.startswith(f"{name} is of no format that secant knows by its name; files end in ")
    assert f"; save it as one of these, or in Python pass as data what reads it: {reader}" in told


@pytest.mark.parametrize(
    ("name", "prints"),
    [
        ("a.csv.bz2", "bzcat"),
        ("a.CSV.XZ", "xzcat"),
        ("a.jsonl.zst", "zstdcat"),
        ("a.csv.lz4", "lz4cat"),
        ("a.parquet.gz", "zcat"),
    ],
)
def test_packed_files_are_refused_with_what_unpacks_them(name, prints):
    Path(name).write_bytes(b"anything")
    ways = f"unpack it, or send what {prints} prints to standard input, which is named -"
    assert refusal(name).endswith(f".ndjson.gz; {ways}")


@pytest.mark.parametrize("data", ["", ["a.parquet", ""], "file:"])
def test_an_empty_path_is_not_the_current_folder(data):
    write("a.parquet")
    assert refusal(data) == "data is an empty path; name a file or a folder (the current one is .)"
    assert secant.assess("y", "p", data=".").n == N


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_what_can_be_read_only_once_is_sent_to_standard_input():
    os.mkfifo("a.csv")
    write("set/0.parquet")
    os.mkfifo("set/1.parquet")
    for data, name in [
        ("a.csv", "a.csv"),
        ("*.csv", "a.csv"),
        ("set", "set/1.parquet"),
        ("/dev/stdin", "/dev/stdin"),
        ("/dev/null", "/dev/null"),
    ]:
        once = f"{name} is no file that can be read more than once, as secant does; send it to "
        assert refusal(data) == f"{once}standard input, which is named -"


def test_what_a_process_holds_open_is_sent_to_standard_input():
    if not Path("/dev/fd").exists():
        pytest.skip("open files have no names here")
    with Path("a.csv").open("w+") as file:
        assert "more than once" in refusal(f"/dev/fd/{file.fileno()}")


def test_a_store_that_is_a_folder_is_refused_by_what_is_in_it():
    Path("a.zarr/p").mkdir(parents=True)
    Path("a.zarr/p/0.0").write_bytes(b"x")
    assert "xarray.open_dataset" in refusal("a.zarr")
