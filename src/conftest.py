"""Docstring examples: where they are looked for, and where a library they need is missing."""

import doctest
import importlib.util
import os
from typing import Any

# Left out where the library is missing (`make test-oldest-numpy`).
NEEDED = {
    "matplotlib": [
        "secant/plot/assessments.py",
        "secant/plot/cumulative.py",
        "secant/plot/monitor.py",
        "secant/plot/reliability.py",
    ],
    "click": ["secant/cli"],
    "narwhals": ["secant/sources/engines"],
    "torchmetrics": ["secant/torch.py"],
}

collect_ignore: list[str] = []
if os.environ.get("SECANT_REQUIRE_ALL") != "1":
    for library, files in NEEDED.items():
        if importlib.util.find_spec(library) is None:
            collect_ignore += files

_belongs: Any = doctest.DocTestFinder._from_module  # type: ignore[attr-defined]


def _from_module(finder: Any, module: Any, thing: Any) -> bool:
    """Tell whether an object is a module's own: public classes call themselves ``secant.X``."""
    import secant

    if isinstance(thing, type) and thing.__module__ == "secant":
        home: str = f"secant.{secant._HOME_OF[thing.__name__]}"
        return bool(home == module.__name__)
    return bool(_belongs(finder, module, thing))


doctest.DocTestFinder._from_module = _from_module  # type: ignore[attr-defined]
