"""Docstring examples that draw are left out where matplotlib is missing (`make test-oldest`)."""

import importlib.util
import os

collect_ignore: list[str] = []
if os.environ.get("SECANT_REQUIRE_ALL") != "1" and importlib.util.find_spec("matplotlib") is None:
    collect_ignore += ["secant/plot/cumulative.py", "secant/plot/reliability.py"]
