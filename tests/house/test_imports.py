"""Arrows point one way: numerics import neither drawing nor input and output."""

import ast
import graphlib
import re
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import PACKAGE, ROOT

# The rooms, lowest first. A module imports from its own room and from those before it; inside a
# room imports form no circle. A new room is placed here, as early as it can be.
ROOMS = (
    *("errors", "_base", "null", "_input", "_blocks", "sources", "_metrics", "_inference"),
    *("_results", "_api", "_drawing", "plot", "torch", "__init__", "report"),
    *("testing", "paper", "cli"),
    "__main__",
)
RANK = {room: rank for rank, room in enumerate(ROOMS)}

# Upward imports that are allowed inside a function or for its types, as (from, to).
DOORS = {
    ("_results", "plot"),  # Calibration.plot(), Reliability.plot()
    ("_results", "report"),  # Calibration.report(), Assessments.report(), notebooks
}

# Libraries that a room may import when it is loaded, each with its reason. Other rooms import such
# a one only inside a function, so nothing of the library loads these by itself.
LIBRARIES = {
    "cli": {"click"},  # commands are made by its decorators; only __main__ stands above
    "torch": {"torch", "torchmetrics"},  # a metric is a class of torchmetrics
    "sources.engines": {"narwhals"},  # questions to an engine are expressions of narwhals
}


@dataclass(frozen=True)
class Import:
    target: str  # dotted, absolute: "numpy", "secant._input.observations"
    line: int
    deferred: bool  # inside a function: not executed when the module is imported
    typing_only: bool  # under `if TYPE_CHECKING:`


def module_name(path: Path, package: Path) -> str:
    """Return the dotted name inside the package: "_ecce", "sources.arrays", "__init__"."""
    parts = path.relative_to(package).with_suffix("").parts
    if len(parts) > 1 and parts[-1] == "__init__":
        parts = parts[:-1]
    return ".".join(parts)


def imports_of(path: Path, package: Path) -> list[Import]:
    """List every import statement of a file, wherever it stands."""
    here = ("secant", *path.relative_to(package).parts[:-1])
    found = []

    def targets(node: ast.Import | ast.ImportFrom) -> list[str]:
        if isinstance(node, ast.Import):
            return [alias.name for alias in node.names]
        base = here[: len(here) - node.level + 1] if node.level else ()
        stem = ".".join([*base, *([node.module] if node.module else [])])
        return [f"{stem}.{alias.name}" for alias in node.names]

    def walk(node: ast.AST, *, deferred: bool, typing_only: bool) -> None:
        if isinstance(node, ast.Import | ast.ImportFrom):
            found.extend(Import(t, node.lineno, deferred, typing_only) for t in targets(node))
        elif isinstance(node, ast.If) and ast.unparse(node.test).endswith("TYPE_CHECKING"):
            for child in node.body:
                walk(child, deferred=deferred, typing_only=True)
            for child in node.orelse:
                walk(child, deferred=deferred, typing_only=typing_only)
        else:
            inside = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda)
            for child in ast.iter_child_nodes(node):
                walk(child, deferred=deferred or inside, typing_only=typing_only)

    walk(ast.parse(path.read_text(encoding="utf-8")), deferred=False, typing_only=False)
    return found


def resolve(target: str, modules: set[str]) -> str:
    """Turn "secant.sources.arrays.Thing" into the module that statement loads."""
    parts = target.split(".")[1:]
    while parts and ".".join(parts) not in modules:
        parts.pop()
    return ".".join(parts) or "__init__"


def libraries(module: str) -> set[str]:
    """Return the libraries that a module loads."""
    return {
        library
        for place, loaded in LIBRARIES.items()
        if module == place or module.startswith(f"{place}.")
        for library in loaded
    }


def breaches(package: Path) -> list[str]:
    """Say what is wrong with the imports of a package, one line for each breach."""
    files = {module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    modules = set(files)
    wrong = []
    edges: dict[str, set[str]] = {name: set() for name in files}
    for name, path in files.items():
        top = name.partition(".")[0]
        if top not in RANK:
            wrong.append(f"{name}: not in a room yet; add it to ROOMS in {Path(__file__).name}")
            continue
        for item in imports_of(path, package):
            where = f"{path.relative_to(package)}:{item.line}"
            library = item.target.partition(".")[0]
            if library != "secant":
                ours = library in {"numpy"} | libraries(name)
                allowed = library in sys.stdlib_module_names or ours
                if not (allowed or item.deferred or item.typing_only):
                    wrong.append(f"{where}: imports {library} when secant is imported")
                continue
            target = resolve(item.target, modules)
            target_top = target.partition(".")[0]
            foreign = libraries(target) - libraries(name)
            if foreign and not (item.deferred or item.typing_only):
                wrong.append(f"{where}: {name} imports {target}, which loads {', '.join(foreign)}")
            door = (item.deferred or item.typing_only) and (top, target_top) in DOORS
            if RANK.get(target_top, -1) > RANK[top] and not door:
                wrong.append(f"{where}: {name} imports {target}, which is above it")
            if not item.typing_only and not door and target != name:
                edges[name].add(target)
    try:
        graphlib.TopologicalSorter(edges).prepare()
    except graphlib.CycleError as error:
        wrong.append("a circle: " + " <- ".join(error.args[1]))
    return wrong


def test_rooms_are_those_there_are():
    there = {path.stem for path in PACKAGE.glob("*.py")} | {
        path.name for path in PACKAGE.iterdir() if (path / "__init__.py").exists()
    }
    assert sorted(ROOMS) == sorted(there)


def test_at_most_two_doors_point_up():
    assert len(DOORS) <= 2


def test_private_rooms_open_lazily():
    # An __init__ that imports would load a whole room for one of its names.
    for path in PACKAGE.rglob("__init__.py"):
        room = path.parent.relative_to(PACKAGE).parts
        if room and (room[0].startswith("_") or room[0] == "sources"):
            statements = ast.parse(path.read_text(encoding="utf-8")).body
            assert len(statements) == 1, path
            assert isinstance(statements[0], ast.Expr), path


def test_imports_point_one_way():
    wrong = breaches(PACKAGE)
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"_metrics/a.py": "from secant._input.b import check\nimport numpy as np"}, None),
        ({"_metrics/a.py": "def f():\n    import pyarrow"}, None),
        ({"_metrics/a.py": "if TYPE_CHECKING:\n    import pandas"}, None),
        ({"sources/__init__.py": "from .arrays import A", "sources/arrays.py": ""}, None),
        ({"cli/__init__.py": "import click"}, None),
        ({"__main__.py": "def main():\n    import secant.cli", "cli.py": ""}, None),
        ({"_metrics/a.py": "import scipy.special"}, "imports scipy"),
        ({"paper/__init__.py": "import click"}, "imports click"),
        ({"sources/engines/a.py": "import narwhals"}, None),
        ({"sources/rows.py": "import narwhals"}, "imports narwhals"),
        (
            {
                "sources/engines/a.py": "",
                "sources/b.py": "def f():\n    from .engines.a import g",
            },
            None,
        ),
        (
            {"sources/engines/a.py": "", "sources/b.py": "from .engines.a import g"},
            "loads narwhals",
        ),
        ({"cli/__init__.py": "import rich"}, "imports rich"),
        ({"_api/a.py": "try:\n    import numba\nexcept ImportError:\n    pass"}, "imports numba"),
        ({"_api/a.py": "class A:\n    import pandas"}, "imports pandas"),
        ({"_api/a.py": "from secant import plot", "plot.py": ""}, "above it"),
        ({"_api/a.py": "def f():\n    from secant.plot import x", "plot/x.py": ""}, "above it"),
        ({"_results/a.py": "def f():\n    from secant.plot import x", "plot/x.py": ""}, None),
        ({"_results/a.py": "from secant.plot import x", "plot/x.py": ""}, "above it"),
        ({"sources/a.py": "from .._api.b import assess", "_api/b.py": ""}, "above it"),
        ({"_api/a.py": "def f():\n    import secant.cli", "cli.py": ""}, "above it"),
        ({"_api/a.py": "if TYPE_CHECKING:\n    from ..cli import X", "cli.py": ""}, "above it"),
        ({"_api/a.py": "from secant import __version__", "__init__.py": ""}, "above it"),
        ({"_api/a.py": "from .b import x", "_api/b.py": "from .a import y"}, "a circle"),
        ({"_new/a.py": ""}, "add it to ROOMS"),
    ],
)
def test_the_rule_sees(tmp_path, files, complaint):
    for name, text in {"_input/b.py": "", **files}.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    wrong = breaches(tmp_path)
    if complaint is None:
        assert wrong == []
    else:
        assert [complaint in line for line in wrong] == [True]


def test_import_loads_nothing_but_numpy(tmp_path):
    script = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[1])
        import numpy.random  # with what it loads on its own behalf
        before = set(sys.modules)
        import secant
        tops = {name.partition(".")[0] for name in set(sys.modules) - before}
        print(*sorted(tops - sys.stdlib_module_names - {"numpy"}))
    """)
    command = [sys.executable, "-W", "error", "-c", script, str(PACKAGE.parent)]
    run = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)
    assert run.returncode == 0, run.stderr
    assert run.stdout.split() == ["secant"]
    assert run.stderr == ""


def test_no_other_library_is_loaded_by_using_secant(tmp_path):
    script = f"""
        import sys
        import secant
        y, p = [0, 1, 0, 1], [0.1, 0.4, 0.4, 0.9]
        result = secant.assess(y, p, sample_weight=[1, 2, 3, 4])
        print(result); result._repr_html_(); result.to_dict(); result.between(0, 1); result.curve
        result.ece(norm="l2"), result.reliability(strategy="quantile", n_bins=2, limits="wilson")
        secant.assess(["a", "b", "a", "b"], p, pos_label="a", ties="random", rng=0)
        secant.ecce_r(y, p), secant.ecce_mad(y, p), secant.ece(y, p)
        many = secant.assess([0, 1] * 50_000, [i / 1e5 for i in range(100_000)])
        many.between(0.1234567, 0.7)
        cells = secant.Cells(); cells.update(y, p); cells.save(r"{tmp_path / "state"}")
        secant.Cells.load(r"{tmp_path / "state"}").bounds()
        try:
            secant.ecce_r(y, [0.1, None, 0.2, 0.3])
        except secant.InputError:
            pass
        heavy = "pandas polars pyarrow torch scipy sklearn narwhals matplotlib".split()
        assert not set(heavy) & set(sys.modules), sorted(sys.modules)
    """
    subprocess.run([sys.executable, "-W", "error", "-c", textwrap.dedent(script)], check=True)


# The map -----------------------------------------------------------------------------------------

MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_every_file_on_the_map_is_there():
    named = re.findall(r"(new )?`((?:\w+/)+\w+\.(?:py|css|js))`", MAP)
    assert len(named) > 20
    for is_new, name in named:
        place = ROOT / name if name.startswith("tests/") else PACKAGE / name
        assert is_new or place.is_file(), name


def test_every_room_has_its_sentence():
    table = MAP.partition("| room |")[2].partition("Tests mirror")[0]
    rooms = {room for line in table.splitlines()[2:] for room in re.findall(r"`(\w+)`", line[:40])}
    assert rooms == {room for room in ROOMS if not room.startswith("__")}


def test_the_rooms_stand_in_the_order_of_imports():
    table = MAP.index("| room |")
    places = [MAP.index(f"`{room}`", table) for room in ROOMS if not room.startswith("__")]
    assert places == sorted(places)


def test_it_is_one_screen():
    assert len(MAP.rstrip().splitlines()) <= 80
