"""Write hashes.txt: the pins of constraints.txt, each with the hashes of its files.

Run it after a pin was changed (`make hashes`), and read what else has changed before committing: a
version that stays keeps its files. It asks the registry that pip asks by itself. Files for systems
without make and for other Pythons are left out; source archives are in where there is nothing else.
"""

from __future__ import annotations

import re
import sys
import tomllib
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

from pip._internal.models.index import PyPI
from pip._vendor.packaging.utils import (
    InvalidSdistFilename,
    InvalidWheelFilename,
    parse_sdist_filename,
    parse_wheel_filename,
)
from pip._vendor.packaging.version import InvalidVersion, Version

if TYPE_CHECKING:
    from pip._vendor.packaging.tags import Tag

ROOT = Path(__file__).parents[1]
SYSTEMS = re.compile(r"any|manylinux.*_(x86_64|aarch64)|macosx.*_(x86_64|arm64|universal2)")
# Files that are in no registry, with the reason.
ELSEWHERE = {
    # the build for processors alone (2.13.0+cpu, Linux, Python 3.11) from its makers: no 3 GB
    "torch==2.13.0": ["6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"],
}
HEAD = """\
# Written by `make hashes`: the pins of constraints.txt, each with the hashes of its files.
"""


def minors() -> list[int]:
    """Return the Pythons that secant promises to run on: 11 for 3.11."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    label = re.compile(r"Programming Language :: Python :: 3\.(\d+)")
    return [int(found[1]) for found in map(label.fullmatch, project["classifiers"]) if found]


PYTHONS = minors()


def suits(tag: Tag) -> bool:
    """Tell whether `make` may install wheels with a tag."""
    minor = int(tag.interpreter[3:] or 0) if tag.interpreter.startswith("cp3") else -1
    return bool(SYSTEMS.fullmatch(tag.platform)) and (
        (tag.interpreter in {"py3", *(f"py3{each}" for each in PYTHONS)})
        or (tag.abi == "abi3" and 0 < minor <= max(PYTHONS))
        or (minor in PYTHONS and tag.abi in {"none", f"cp3{minor}"})
    )


def hashes(pin: str) -> list[str]:
    """Return the SHA-256 of every file of a version that may be installed."""
    name, _, version = pin.partition("==")
    with urlopen(f"{PyPI.simple_url}/{name}/") as answer:  # noqa: S310  (https)
        page = answer.read().decode()
    wheels, sources = set(), set()
    for digest, file in re.findall(r"#sha256=([0-9a-f]{64})[^>]*>\s*([^<\s]+)", page):
        with suppress(InvalidWheelFilename, InvalidSdistFilename, InvalidVersion):
            if file.endswith(".whl"):
                _, found, _, tags = parse_wheel_filename(file)
                if found == Version(version) and any(map(suits, tags)):
                    wheels.add(digest)
            elif parse_sdist_filename(file)[1] == Version(version):
                sources.add(digest)
    return sorted(wheels or sources) + ELSEWHERE.get(pin, [])


def main() -> None:
    """Ask for the hashes of every pin and write them."""
    text = (ROOT / "constraints.txt").read_text(encoding="utf-8")
    pins = sorted(re.findall(r"^[^\s#;]+==[^\s#;]+", text, re.MULTILINE))
    with ThreadPoolExecutor() as pool:
        found = dict(zip(pins, pool.map(hashes, pins), strict=True))
    lost = [pin for pin in pins if not found[pin]] + list(ELSEWHERE.keys() - found)
    if lost:
        sys.exit(f"no file was found of {', '.join(lost)}")
    lines = [
        " \\\n  ".join([pin, *(f"--hash=sha256:{each}" for each in digests)])
        for pin, digests in found.items()
    ]
    (ROOT / "hashes.txt").write_text("\n".join([HEAD, *lines, ""]), encoding="utf-8")


if __name__ == "__main__":
    main()
