"""Every kind of result prints what its snapshot has; `make snapshots` writes these."""

import pytest

import texts

ALL = [(kind, name) for kind, cases in texts.CASES.items() for name in cases]


@pytest.mark.parametrize(("kind", "name"), ALL, ids=[f"{kind}, {name}" for kind, name in ALL])
def test_a_whole_text_is_that_of_the_snapshot(kind, name):
    assert texts.told(kind, name) == texts.read(kind)[name]


def test_the_snapshots_have_no_other_cases():
    assert {kind: list(texts.read(kind)) for kind in texts.CASES} == {
        kind: list(cases) for kind, cases in texts.CASES.items()
    }
    assert {path.stem for path in texts.FOLDER.iterdir()} == set(texts.CASES)
