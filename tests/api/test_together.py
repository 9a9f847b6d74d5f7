"""Several models and their groups in files: the answers of each alone, in the passes of one."""

import numpy as np
import pytest

import secant
from commands import NAMED, assess, table, write
from helpers import optional
from secant._api.together import assess_together
from secant.sources import rows

optional("click")
optional("rich")
optional("pyarrow")

MODELS = {"old": "forecast", "new": "better"}
SPLIT = 1700


@pytest.fixture
def columns():
    return table() | {"id": np.arange(4000) // 8, "w": 1.0 + np.arange(4000) % 7}


@pytest.fixture(params=["a.parquet", "a.csv", "two files"])
def files(request, tmp_path, columns):
    if request.param != "two files":
        return [str(write(tmp_path / request.param, columns))]
    parts = {
        "1.parquet": {name: values[:SPLIT] for name, values in columns.items()},
        "2.parquet": {name: values[SPLIT:] for name, values in columns.items()},
    }
    return [str(write(tmp_path / name, part)) for name, part in parts.items()]


@pytest.fixture
def here(tmp_path, columns, monkeypatch):
    """Work in a folder with a file."""
    write(tmp_path / "a.parquet", columns)
    monkeypatch.chdir(tmp_path)
    return monkeypatch


@pytest.fixture
def passes(monkeypatch):
    """Return the walks over files, each the rows that it has read."""
    from secant.sources.files.table import FileTable

    read, walk = [], FileTable.walk

    def counted(self, names, size, files=None):
        number = len(read)
        read.append(0)
        for batch in walk(self, names, size, files):
            read[number] += batch.rows
            yield batch

    monkeypatch.setattr(FileTable, "walk", counted)
    return read


def same(found, expected):
    assert found.n == expected.n
    for name in ("ecce_r", "ecce_mad"):
        a, b = getattr(found, name), getattr(expected, name)
        assert a.value == pytest.approx(b.value, abs=1e-14)
        assert a.pvalue == pytest.approx(b.pvalue, rel=1e-12)
        assert a.ci == pytest.approx(b.ci, abs=1e-12)
        assert a.method == b.method
    assert found.worst.low == expected.worst.low
    assert found.worst.high == expected.worst.high


@pytest.mark.parametrize(
    "how",
    [
        {},
        {"outcome_weights": (3.0, 1.0), "method": "asymptotic"},
        {"sample_weight": "days", "weight_kind": "frequency"},
        {"clusters": "id"},
    ],
    ids=lambda how: "+".join(how) or "plain",
)
def test_each_is_as_if_it_were_alone(files, columns, how):
    together = assess_together("happened", MODELS, ["segment"], data=files, **how)
    arrays = {
        name: columns[value] if value in ("days", "id") else value for name, value in how.items()
    }
    for name, column in MODELS.items():
        known = columns["happened"], columns[column]
        same(together.models[name], secant.assess(*known, **arrays))
        groups = secant.assess_by(*known, columns["segment"], **arrays)
        assert list(together.groups[name]) == list(groups)
        assert together.groups[name].by == ("segment",)
        for found, expected in zip(together.groups[name].rows, groups.rows, strict=True):
            same(found.calibration, expected.calibration)
            assert found.adjusted_pvalue == pytest.approx(expected.adjusted_pvalue, rel=1e-12)


@pytest.mark.parametrize("many", [True, False])
@pytest.mark.parametrize(
    ("asked", "most"),
    [
        ((), 2),
        (("--y-prob", "better"), 2),
        (("--by", "segment"), 2),
        (("--y-prob", "better", "--by", "segment"), 2),
        (("--y-prob", "better", "--by", "segment", "--html", "page.html"), 2),
        # One more where outcomes are drawn for the rows themselves, of all groups together.
        (("--y-prob", "better", "--by", "segment", "--outcome-weights", "3,1"), 3),
        (("--by", "segment", "--weight", "w", "--html", "page.html"), 3),
        (("--y-prob", "better", "--by", "segment", "--clusters", "id"), 3),
    ],
)
def test_the_command_reads_files_twice_whatever_is_asked_for(here, passes, asked, most, many):
    here.setattr(rows, "SORT_UP_TO", 500 if many else 1 << 16)
    shown = assess("a.parquet", *NAMED, *asked)
    assert shown.exit_code == 0, shown.output
    assert set(passes) == {4000}
    assert len(passes) <= most


def test_rows_that_are_few_enough_to_be_kept_are_read_once(here, passes):
    assess_together("happened", MODELS, ["segment"], data="a.parquet")
    assert sum(passes) == 4000
    here.setattr(rows, "SORT_UP_TO", 500)
    assess_together("happened", MODELS, ["segment"], data="a.parquet")
    assert sum(passes) == 2 * 4000
    here.setattr("secant.sources.files.first.KEEP", 0)
    assess_together("happened", MODELS, ["segment"], data="a.parquet")
    assert sum(passes) == 4 * 4000


def test_every_kind_of_file_is_read_as_often(files, passes):
    assess_together("happened", MODELS, ["segment"], data=files)
    assert sum(passes) <= 2 * 4000


def test_models_share_the_passes(files, columns, passes):
    found = secant.assess_models("happened", MODELS, data=files)
    assert sum(passes) <= 2 * 4000
    alone = secant.assess_models(
        columns["happened"], {name: columns[column] for name, column in MODELS.items()}
    )
    assert list(found) == list(alone)
    for name in alone:
        same(found[name], alone[name])


def test_a_stream_is_enough_for_several_models(files, columns):
    pyarrow = optional("pyarrow")
    stream = pyarrow.table(columns).to_reader()
    found = secant.assess_models("happened", MODELS, data=stream)
    same(found["old"], secant.assess(columns["happened"], columns["forecast"]))


@pytest.mark.parametrize("bad", [2.0, np.nan])
def test_what_is_wrong_names_the_model(tmp_path, columns, bad):
    columns["better"][1234] = bad
    path = write(tmp_path / "a.parquet", columns)
    with pytest.raises(secant.InputError, match=r"y_probs\['new'\]") as refused:
        secant.assess_models("happened", MODELS, data=path)
    assert refused.value.column == "better"
    assert refused.value.row == 1234


def test_a_missing_column_names_the_model(files):
    with pytest.raises(secant.InputError, match=r"'absent', which y_probs\['b'\] names"):
        secant.assess_models("happened", {"a": "forecast", "b": "absent"}, data=files)


def test_what_is_not_in_files_is_not_for_here(columns):
    assert assess_together("happened", MODELS, data=columns) is None
    assert assess_together("happened", MODELS, data="a.parquet", order_by="days") is None
