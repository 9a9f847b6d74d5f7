"""Tests mirror the rooms: whoever changes a module finds its test by name."""

from pathlib import Path

import pytest

from helpers import PACKAGE, ROOT


def untested(package: Path, tests: Path) -> list[str]:
    """Name each module of a private room, or of the sources, that has no test in its place."""
    # _input/labels.py has tests/input/test_labels.py. Sources are tested by kind: a file there is
    # named after a module or its folder. plot, report, paper and cli are tested by what one sees.
    found = []
    for path in sorted(package.rglob("*.py")):
        room, *folders = path.relative_to(package).parent.parts or ("",)
        if path.stem == "__init__" or not (room.startswith("_") or room == "sources"):
            continue
        if room == "sources":
            names = {path.stem, path.parent.name}
            there = (test.relative_to(tests).as_posix() for test in tests.glob("sources/**/test_*"))
            tested = any(name in test for test in there for name in names)
        else:
            place = tests.joinpath(room.removeprefix("_"), *folders, f"test_{path.stem}.py")
            tested = place.exists()
        if not tested:
            found.append(path.relative_to(package).as_posix())
    return found


def test_every_module_has_its_test():
    missing = untested(PACKAGE, ROOT / "tests")
    assert not missing, "\n" + "\n".join(f"{module}: no test of its own" for module in missing)


@pytest.mark.parametrize(
    ("module", "test", "missing"),
    [
        ("_input/labels.py", "input/test_labels.py", False),
        ("_input/labels.py", "input/test_observations.py", True),
        ("_input/labels.py", "blocks/test_labels.py", True),
        ("_input/__init__.py", "input/test_labels.py", False),
        ("_input/deep/labels.py", "input/test_labels.py", True),
        ("_input/deep/labels.py", "input/deep/test_labels.py", False),
        ("sources/open.py", "sources/test_same_answers.py", False),
        ("sources/files/keys.py", "sources/test_files.py", False),
        ("sources/files/keys.py", "sources/test_keys.py", False),
        ("sources/tensors/cuda.py", "sources/test_files.py", True),
        ("plot/cumulative.py", "input/test_labels.py", False),
        ("errors.py", "input/test_labels.py", False),
    ],
)
def test_the_rule_sees(tmp_path, module, test, missing):
    for path in (tmp_path / "package" / module, tmp_path / "tests" / test):
        path.parent.mkdir(parents=True)
        path.touch()
    found = untested(tmp_path / "package", tmp_path / "tests")
    assert found == ([module] if missing else [])
