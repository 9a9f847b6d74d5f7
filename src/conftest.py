"""Docstring examples are left out where a library they need is missing (`make test-oldest`)."""

import importlib.util
import os

NEEDED = {
    "matplotlib": ["secant/plot/cumulative.py", "secant/plot/reliability.py"],
    "click": ["secant/cli"],
    "narwhals": [
        f"secant/sources/{name}.py"
        for name in ("_faults", "_filters", "_outcomes", "_queries", "frames")
    ],
}

collect_ignore: list[str] = []
if os.environ.get("SECANT_REQUIRE_ALL") != "1":
    for library, files in NEEDED.items():
        if importlib.util.find_spec(library) is None:
            collect_ignore += files
