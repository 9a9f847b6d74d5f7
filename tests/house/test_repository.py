"""What must not be in the repository, and what must agree in it."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

from helpers import PACKAGE, ROOT

FORBIDDEN = {
    "the path of somebody's machine": re.compile(
        r"(?<![\w.~/-])(?:/(?:home|root|Users|work|workspace|tmp|mnt|opt)/\w|[A-Z]:\\\\?Users)"
        r"|file:/{2,}"
    ),
    "the address of a package registry": re.compile(
        r"pypi\.(?:org|python)|pythonhosted\.org|anaconda\.org|registry\.npmjs|index[-_]url"
        r"|find[-_]links|trusted[-_]host"
    ),
}
PIN = re.compile(r"([a-z0-9.-]+)==([0-9][\w.]*)(?:; python_version .+)?")
GENERATED = re.compile(r"__pycache__|build|dist|\.git|\.venv.*|\.hypothesis|\.\w+_cache")


def walk(folder: Path) -> list[Path]:
    """List the files under a folder, less what tools generate."""
    found = []
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            found += [] if GENERATED.fullmatch(path.name) else walk(path)
        else:
            found.append(path)
    return found


def repository_files() -> list[Path]:
    """List the files of the repository, less those git ignores."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        run = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    except (OSError, subprocess.CalledProcessError):  # an unpacked archive, or no git
        return walk(ROOT)
    names = os.fsdecode(run.stdout).split("\0")
    return [ROOT / name for name in names if name and (ROOT / name).is_file()]


def findings(text: str) -> list[str]:
    """Say what is forbidden in a text, with the line it stands on."""
    return [
        f"line {number}: {what}: {match.group()}"
        for number, line in enumerate(text.splitlines(), 1)
        for what, pattern in FORBIDDEN.items()
        for match in pattern.finditer(line)
    ]


def test_no_machine_paths_and_no_registries():
    files = repository_files()
    assert PACKAGE / "py.typed" in files
    wrong = []
    for path in files:
        try:
            text = path.read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        wrong += [f"{path.relative_to(ROOT)}, {found}" for found in findings(text)]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("see docs/home/page and ../shared/data, ~{}work{}x, a{}tmp{}b".format(*"////"), 0),
        ("https://example.org/home/page", 0),
        ("#!/usr/bin/env bash", 0),
        ("open('{}home{}someone/x.csv')".format("/", "/"), 1),
        ("cd {}root{}x && cd {}tmp{}y".format(*"////"), 2),
        ("https://{}.org/simple".format("pypi"), 1),
        ("pip install --index-{} https://example.org".format("url"), 1),
    ],
)
def test_the_rule_sees(text, count):
    assert len(findings(text)) == count


def pins(name: str) -> dict[str, set[str]]:
    """Read a constraints file: package name to the versions it pins."""
    found: dict[str, set[str]] = {}
    for line in (ROOT / name).read_text(encoding="utf-8").splitlines():
        requirement = line.partition("#")[0].strip()
        if requirement:
            match = PIN.fullmatch(requirement)
            assert match, f"{name}: {line!r} is not a plain pin"
            found.setdefault(match[1], set()).add(match[2])
    return found


def test_constraints_are_plain_pins_and_agree():
    current, oldest = pins("constraints.txt"), pins("constraints-oldest.txt")
    assert "2.0.0" in oldest.pop("numpy")
    assert {name: current.get(name) for name in oldest} == oldest


def test_numpy_is_the_only_dependency():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert project["dependencies"] == ["numpy>=2"]


def test_every_extra_is_pinned_for_development():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = pins("constraints.txt")
    for extra, requirements in project["optional-dependencies"].items():
        for requirement in requirements:
            name = re.match(r"[\w.-]+", requirement)[0]
            assert name == "secant" or name in pinned, f"{extra}: {name} has no pin"
