"""What must not be in the repository, and what must agree in it."""

import contextlib
import io
import os
import re
import subprocess
import tokenize
import tomllib
from pathlib import Path

import pytest

import secant
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


def repository_texts() -> dict[str, str]:
    """Read the text files of the repository, line ends as they are."""
    files = repository_files()
    assert PACKAGE / "py.typed" in files
    texts = {}
    for path in files:
        with contextlib.suppress(UnicodeDecodeError):
            texts[path.relative_to(ROOT).as_posix()] = path.read_bytes().decode()
    return texts


def test_no_machine_paths_and_no_registries():
    wrong = [
        f"{name}, {found}" for name, text in repository_texts().items() for found in findings(text)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


def test_texts_are_clean():
    # a space at the end of a line, a carriage return, a conflict, another end than one newline
    untidy = re.compile(r"[ \t\r]$|^(?:<{7}|>{7}) |\n\n\Z|[^\n]\Z", re.MULTILINE)
    texts = repository_texts().items()
    wrong = [name for name, text in texts if untidy.search(text) and "tests/data/" not in name]
    assert not wrong


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


CITED = re.compile(r"(?<![\w./<*-])[\w-][\w./-]*\.(?:md|py)\b")
BEFORE_A_DOCSTRING = {tokenize.ENCODING, tokenize.NEWLINE, tokenize.INDENT}


def cited(code: str) -> list[str]:
    """List the files that comments and docstrings name."""
    found, before = [], tokenize.ENCODING
    for token in tokenize.tokenize(io.BytesIO(code.encode()).readline):
        docstring = token.type == tokenize.STRING and before in BEFORE_A_DOCSTRING
        if docstring or token.type == tokenize.COMMENT:
            found += CITED.findall(token.string)
        before = token.type
    return found


def test_files_that_comments_and_docstrings_cite_are_there():
    texts = repository_texts()
    wrong = [
        f"{name} cites {file}"
        for name, code in texts.items()
        if name.endswith(".py") and CITED.search(code)
        for file in cited(code)
        if not any(f"/{each}".endswith(f"/{file}") for each in texts)
    ]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("code", "files"),
    [
        ('"""As docs/a.md has it, and b.py."""', ["docs/a.md", "b.py"]),
        ("def f():\n    x = 1  # see SPEC.md.", ["SPEC.md"]),
        ("x = 'c.md'", []),
        ('"""*.py, https://example.org/a.md, x.python"""', []),
    ],
)
def test_the_rule_of_citations_sees(code, files):
    assert cited(code) == files


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


def test_every_pin_has_hashes():
    text = (ROOT / "hashes.txt").read_text(encoding="utf-8")
    hashed = re.findall(r"^(\S+==\S+)(?: \\\n  --hash=sha256:[0-9a-f]{64})+$", text, re.MULTILINE)
    wanted = [f"{name}=={one}" for name, (one,) in pins("constraints.txt").items()]
    assert hashed == sorted(wanted), "run `make hashes`"


def test_the_oldest_extras_are_those_promised():
    oldest, extras = pins("constraints-oldest-extras.txt"), pyproject()["project"]
    tested = ("cli", "fast", "files", "frames", "plot")  # torch has no small builds that are old
    for extra in tested:
        for requirement in extras["optional-dependencies"][extra]:
            name, _, least = requirement.partition(">=")
            if not name.startswith("secant"):
                wanted = re.compile(rf"{re.escape(least)}(\.0)*")
                assert any(map(wanted.fullmatch, oldest[name])), requirement


def pyproject() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def test_numpy_is_the_only_dependency():
    assert pyproject()["project"]["dependencies"] == ["numpy>=2"]


def test_every_extra_and_group_is_pinned_for_development():
    tables, pinned = pyproject(), pins("constraints.txt")
    sets = tables["project"]["optional-dependencies"] | tables["dependency-groups"]
    for title, requirements in sets.items():
        for requirement in requirements:
            if isinstance(requirement, str):  # the others include a group of this table
                name = re.match(r"[\w.-]+", requirement)[0]
                assert name == "secant" or name in pinned, f"{title}: {name} has no pin"


def test_extras_are_for_users_and_groups_for_development():
    tables = pyproject()
    extras = tables["project"]["optional-dependencies"]
    assert set(extras) >= {"all", "cli", "cuda", "fast", "files", "frames", "imagenet"}
    assert set(extras) >= {"paper", "plot", "torch"}
    assert not set(extras) & set(tables["dependency-groups"])


def test_hooks_have_the_versions_of_the_linters():
    text = (ROOT / ".pre-commit-config.yaml").read_text(encoding="utf-8")
    revisions = dict(re.findall(r"repo: \S+/(\S+)\n +rev: v(\S+)", text))
    assert revisions.pop("pre-commit-hooks")  # has no part in `make lint`
    assert len(revisions) == text.count("rev:") - 1
    pinned = pins("constraints.txt")
    for hook, version in revisions.items():
        assert pinned[hook.removesuffix("-pre-commit")] == {version}


def test_the_citation_has_the_version():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert re.findall(r"^version: (.+)$", text, re.MULTILINE) == [secant.__version__]


def test_the_workflow_runs_every_python_promised():
    text = (ROOT / ".github" / "workflows" / "ci.yml").read_text(encoding="utf-8")
    label = "Programming Language :: Python :: 3."
    promised = [name for name in pyproject()["project"]["classifiers"] if name.startswith(label)]
    run = re.findall(r'"3\.(\d+)"', text)
    assert [label + minor for minor in run] == promised


def test_the_template_of_changes_has_the_science_review():
    listed = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    template = (ROOT / ".github" / "pull_request_template.md").read_text(encoding="utf-8")
    names = re.findall(r"^- \[ \] \*\*(.+?)\.\*\*", listed, re.MULTILINE)
    assert len(names) > 10
    assert re.findall(r"^- \[ \] ([^`].+):$", template, re.MULTILINE) == names


def test_the_changelog_has_a_section_for_the_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## \[(.+)\]", text, re.MULTILINE)
    assert versions[0] == "Unreleased"
    assert versions[1] == secant.__version__
