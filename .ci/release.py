"""Write a new version into every place that states it: the package, the citation, the changelog.

    python .ci/release.py 0.2.0 [--dry-run]

With --dry-run nothing is written, and the lines that would change are shown.
"""

from __future__ import annotations

import difflib
import re
import sys
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VERSION = re.compile(r"(\d+)\.(\d+)\.(\d+)")


def places(version: str, day: str) -> dict[str, tuple[str, str]]:
    """Return, for every file, the one line that changes and what it becomes."""
    return {
        "src/secant/__init__.py": (r'^__version__ = ".+"$', f'__version__ = "{version}"'),
        "CITATION.cff": (r"^version: .+$", f"version: {version}"),
        "CHANGELOG.md": (r"^## \[Unreleased\]$", f"## [Unreleased]\n\n## [{version}] - {day}"),
    }


def main(version: str = "", *options: str) -> None:
    """Change all files or none, or show what would change."""
    if not VERSION.fullmatch(version):
        sys.exit(f"a version has three numbers, such as 0.2.0; this is {version!r}")
    day = datetime.now(UTC).date().isoformat()
    changed = {}
    for name, (line, replacement) in places(version, day).items():
        path = ROOT / name
        before = path.read_text(encoding="utf-8")
        after, changes = re.subn(line, replacement, before, flags=re.MULTILINE)
        if changes != 1 or f"[{version}]" in before:
            sys.exit(f"{name} does not have exactly one place for the version, or has it already")
        changed[path] = after
        if "--dry-run" in options:
            old, new = before.splitlines(), after.splitlines()
            print(*difflib.unified_diff(old, new, name, name, n=0, lineterm=""), sep="\n")
    if "--dry-run" not in options:
        for path, after in changed.items():
            path.write_text(after, encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
