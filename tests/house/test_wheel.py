"""What is built for users: everything the package needs, and nothing else."""

import subprocess
import sys
import tarfile
import zipfile

import pytest

import secant
from helpers import PACKAGE, ROOT, optional

BESIDE_THE_CODE = {
    "secant/paper/reference.json",
    "secant/py.typed",
    "secant/report/assets/page.css",
    "secant/report/assets/page.js",
    "secant/report/assets/secant.js",
    "secant/sources/tensors/cells.cu",
}
ENDINGS = {"css", "cu", "js", "json", "py", "typed"}
METADATA = {"METADATA", "RECORD", "WHEEL", "entry_points.txt", "licenses/LICENSE"}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Build both as users get them: the wheel from the source archive."""
    optional("hatchling")
    folder = tmp_path_factory.mktemp("built")
    build(ROOT, "sdist", folder)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    build(folder / f"secant-{secant.__version__}", "wheel", folder)
    return folder


def build(source, kind, folder):
    command = [sys.executable, "-m", "hatchling", "build", "-t", kind, "-d", str(folder)]
    subprocess.run(command, cwd=source, check=True, capture_output=True)


def test_the_wheel_holds_the_package_and_nothing_else(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        names = set(archive.namelist())
    about = f"secant-{secant.__version__}.dist-info/"
    package = {
        path.relative_to(PACKAGE.parent).as_posix()
        for path in PACKAGE.rglob("*.*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert package >= BESIDE_THE_CODE
    assert {name.rpartition(".")[2] for name in package} == ENDINGS
    assert names == package | {about + name for name in METADATA}


def test_the_metadata_names_the_licence_and_a_command_that_reads_files(built):
    with zipfile.ZipFile(next(built.glob("*.whl"))) as archive:
        about = f"secant-{secant.__version__}.dist-info/"
        metadata = archive.read(about + "METADATA").decode()
        assert "secant = secant.__main__:main" in archive.read(about + "entry_points.txt").decode()
    lines = metadata.splitlines()
    assert f"Version: {secant.__version__}" in lines
    assert "License-Expression: MIT" in lines
    assert "Requires-Dist: numpy>=2" in lines
    needs = [line for line in lines if line.endswith("extra == 'cli'")]
    assert {line.split()[1].partition(">")[0] for line in needs} == {"click", "pyarrow", "rich"}


def test_the_source_archive_can_be_tested_and_holds_no_product(built):
    unpacked = built / f"secant-{secant.__version__}"
    found = {path.name for path in unpacked.iterdir()}
    needed = {"CHANGELOG.md", "LICENSE", "Makefile", "README.md", "constraints.txt", "docs"}
    assert found >= needed | {"examples", "pyproject.toml", "src", "tests"}
    assert not found & {".git", ".venv", "build", "dist", "out"}
    names = {path.name for path in unpacked.rglob("*")}
    assert not names & {"_build", "__pycache__", ".hypothesis", ".pytest_cache"}
