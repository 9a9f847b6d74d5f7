"""Tests mirror the rooms: whoever changes a module finds its test by name."""

from pathlib import Path

import pytest

from helpers import PACKAGE, ROOT


def untested(package: Path, tests: Path) -> list[str]:
    """Name each module that has no test in its place."""
    # report/sections/bins.py has tests/report/sections/test_bins.py, _input/labels.py has
    # tests/input/test_labels.py and report/_html.py tests/report/test_html.py: the same place, with
    # the underscores in front dropped. __init__ and __main__ need none; what a public room promises
    # as a whole is in tests/report/test_report.py and the like. Sources are tested by kind: a file
    # there is named after a module or its folder.
    kinds = [test.relative_to(tests).as_posix() for test in tests.glob("sources/**/test_*")]
    found = []
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package)
        if path.stem.startswith("__"):
            continue
        if module.parts[0] == "sources":
            names = {path.stem, path.parent.name}
            tested = any(name in test for test in kinds for name in names)
        else:
            *folders, file = (part.lstrip("_") for part in module.parts)
            tested = tests.joinpath(*folders, f"test_{file}").exists()
        if not tested:
            found.append(module.as_posix())
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
        ("plot/cumulative.py", "input/test_labels.py", True),
        ("plot/cumulative.py", "plot/test_cumulative.py", False),
        ("report/_html.py", "report/test_html.py", False),
        ("report/_html.py", "report/test__html.py", True),
        ("report/sections/bins.py", "report/test_bins.py", True),
        ("report/sections/bins.py", "report/sections/test_bins.py", False),
        ("cli/__init__.py", "report/test_report.py", False),
        ("__main__.py", "cli/test_cli.py", False),
        ("errors.py", "input/test_labels.py", True),
        ("errors.py", "test_errors.py", False),
    ],
)
def test_the_rule_sees(tmp_path, module, test, missing):
    for path in (tmp_path / "package" / module, tmp_path / "tests" / test):
        path.parent.mkdir(parents=True)
        path.touch()
    found = untested(tmp_path / "package", tmp_path / "tests")
    assert found == ([module] if missing else [])
