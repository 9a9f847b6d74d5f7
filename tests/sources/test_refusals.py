"""What every source says of rows that cannot be used, as the snapshot of refusals has it."""

import pytest

import refusals
import secant
from refusals import REFUSALS, SOURCES, complaint

SAID = refusals.read()


@pytest.fixture
def _tensors_are_elsewhere(monkeypatch):
    """Have tensors in the host's memory taken for ones on a device."""
    monkeypatch.setattr("secant.sources.open.on_a_device", refusals.are_tensors)


@pytest.mark.usefixtures("_tensors_are_elsewhere")
@pytest.mark.parametrize("name", REFUSALS)
@pytest.mark.parametrize("source", SOURCES)
def test_the_words_of_every_source(source, name, tmp_path):
    if (name, source) in SAID:
        assert complaint(source, name, tmp_path) == SAID[name, source]
        return
    # A value that this kind of data cannot hold never gets as far as secant.
    with pytest.raises(Exception) as caught:  # noqa: PT011  (an error of the library's own)
        complaint(source, name, tmp_path)
    assert not isinstance(caught.value, secant.SecantError)


def test_every_case_is_refused_by_every_source():
    assert not [case for case, words in SAID.items() if words.startswith("ANSWERED")]


def test_the_snapshot_has_no_other_cases():
    assert {name for name, _ in SAID} == set(REFUSALS)
    assert {source for _, source in SAID} == set(SOURCES)
