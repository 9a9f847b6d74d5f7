"""Arrows point one way: numerics import neither drawing nor input and output."""

import ast
import graphlib
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path

import pytest

from helpers import PACKAGE

# The layers, lowest first. A module (or subpackage) may import from its own layer and from those
# below; imports form no circle. A new module is placed here, as low as it can be.
LAYERS = (
    ("errors", "_types", "_files", "_progress", "_wording"),
    (
        *("null", "_adjust", "_arraylike", "_binomial", "_labels", "_input", "_grid", "_blocks"),
        *("_rules", "_batches", "_columns", "_groups", "_probs", "_stretches"),
    ),
    ("_sums", "_inference", "_chains", "_chains_numba", "_observed"),
    ("_state", "_plans", "_finite", "_montecarlo"),
    ("_cells", "_ecce", "_ece", "_joint", "_multiscale", "_pvalues", "_exchange", "sources"),
    ("_results", "_verdict", "_where", "_planning"),
    ("_calibration", "_assessments", "_compare_models", "_group_comparison"),
    ("_calibrate", "_data", "_gate"),
    ("_assess", "_assess_by", "_classes", "_compare_groups", "_scan"),
    ("plot", "report", "paper", "testing", "__init__"),
    ("cli",),
    ("__main__",),
)
RANK = {name: rank for rank, names in enumerate(LAYERS) for name in names}

# Upward imports that are allowed inside a function or for its types, as (from, to), each with its
# reason. Meant for conveniences such as a result's .plot(), which must not make numbers depend on
# drawing.
DOORS: frozenset[tuple[str, str]] = frozenset(
    {
        ("_calibration", "plot"),  # Calibration.plot()
        ("_calibration", "report"),  # Calibration.report()
        ("_assessments", "report"),  # Assessments.report()
        ("_results", "plot"),  # Reliability.plot()
        ("_verdict", "_calibration"),  # the type of what it puts into words
        ("_wording", "_results"),  # the same
        ("_verdict", "_assessments"),  # the same
    }
)

# Libraries that a module may import when it is loaded, each with its reason. Other modules import
# such a module only inside a function, so nothing of the library loads these by itself.
LIBRARIES = {
    "cli": {"click"},  # commands are made by its decorators; only __main__ stands above
    # Questions to an engine are expressions of narwhals; _data opens engines when it is given one.
    "sources.frames": {"narwhals"},
    "sources._queries": {"narwhals"},
    "sources._faults": {"narwhals"},
    "sources._filters": {"narwhals"},
    "sources._outcomes": {"narwhals"},
}


@dataclass(frozen=True)
class Import:
    target: str  # dotted, absolute: "numpy", "secant._input"
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
    return LIBRARIES.get(module.partition(".")[0], set()) | LIBRARIES.get(module, set())


def breaches(package: Path) -> list[str]:
    """Say what is wrong with the imports of a package, one line for each breach."""
    files = {module_name(path, package): path for path in sorted(package.rglob("*.py"))}
    modules = set(files)
    wrong = []
    edges: dict[str, set[str]] = {name: set() for name in files}
    for name, path in files.items():
        top = name.partition(".")[0]
        if top not in RANK:
            wrong.append(f"{name}: not in a layer yet; add it to LAYERS in {Path(__file__).name}")
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


def test_layers_name_each_module_once():
    names = [name for layer in LAYERS for name in layer]
    assert len(names) == len(set(names))


def test_imports_point_one_way():
    wrong = breaches(PACKAGE)
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("files", "complaint"),
    [
        ({"_ecce.py": "from secant._input import check\nimport numpy as np"}, None),
        ({"_ecce.py": "def f():\n    import pyarrow"}, None),
        ({"_ecce.py": "if TYPE_CHECKING:\n    import pandas"}, None),
        ({"sources/__init__.py": "from .arrays import A", "sources/arrays.py": ""}, None),
        ({"cli/__init__.py": "import click"}, None),
        ({"__main__.py": "def main():\n    import secant.cli", "cli.py": ""}, None),
        ({"_ecce.py": "import scipy.special"}, "imports scipy"),
        ({"paper/__init__.py": "import click"}, "imports click"),
        ({"sources/frames.py": "import narwhals"}, None),
        ({"sources/rows.py": "import narwhals"}, "imports narwhals"),
        (
            {"sources/frames.py": "", "_data.py": "def f():\n    from .sources.frames import g"},
            None,
        ),
        ({"sources/frames.py": "", "_data.py": "from .sources.frames import g"}, "loads narwhals"),
        ({"cli/__init__.py": "import rich"}, "imports rich"),
        ({"_ecce.py": "try:\n    import numba\nexcept ImportError:\n    pass"}, "imports numba"),
        ({"_ecce.py": "class A:\n    import pandas"}, "imports pandas"),
        ({"_ecce.py": "from . import plot", "plot.py": ""}, "above it"),
        ({"_ecce.py": "from secant.plot.x import f", "plot/x.py": ""}, "above it"),
        ({"sources/a.py": "from .._assess import assess", "_assess.py": ""}, "above it"),
        ({"_ecce.py": "def f():\n    import secant.cli", "cli.py": ""}, "above it"),
        ({"_ecce.py": "if TYPE_CHECKING:\n    from .cli import X", "cli.py": ""}, "above it"),
        ({"_ecce.py": "from secant import __version__", "__init__.py": ""}, "above it"),
        ({"_ecce.py": "from ._ece import x", "_ece.py": "from ._ecce import y"}, "a circle"),
        ({"_new.py": ""}, "add it to LAYERS"),
    ],
)
def test_the_rule_sees(tmp_path, files, complaint):
    for name, text in {"_input.py": "", **files}.items():
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
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
