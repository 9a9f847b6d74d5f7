"""Mutation testing: change one thing in a module of the numerical rooms; its own tests must notice.

    python benchmarks/mutants.py [--each 12] [--seed 0] [MODULE ...]

Of each module a sample of mutants is drawn with a fixed seed. A mutant swaps a comparison, an
arithmetic or logical operator, moves a number by a little, or drops a `not`. Its tests run in a
process of their own until the first failure. A mutant that no test notices is printed: it either
changes nothing that can be seen, or shows what is not tested.
"""

from __future__ import annotations

import argparse
import ast
import copy
import importlib.util
import os
import random
import signal
import sys
from pathlib import Path

import hypothesis  # noqa: F401  (loaded once, before the processes part)
import numpy as np  # noqa: F401  (the same)
import pytest

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "src" / "secant"
# What is mutated, with its own tests: those that take long only say again what the others say.
TESTS = {
    "null": ["tests/test_null.py"],
    "_blocks/cell_sums": ["tests/blocks/test_cell_sums.py"],
    "_blocks/fixed_sums": ["tests/blocks/test_fixed_sums.py"],
    "_blocks/refining": ["tests/blocks/test_refining.py"],
    "_blocks/table": ["tests/blocks/test_table.py"],
    "_metrics/ecce": ["tests/metrics/test_ecce.py", "-k", "not convergence"],
    "_metrics/ece": ["tests/metrics/test_ece.py"],
    "_metrics/scores": ["tests/metrics/test_scores.py"],
    "_metrics/shape": ["tests/metrics/test_shape.py", "-k", "not false_interval"],
    "_metrics/steepest": ["tests/metrics/test_steepest.py"],
    "_inference/binomial": ["tests/inference/test_binomial.py"],
    "_inference/bridge": ["tests/inference/test_bridge.py"],
    "_inference/counts": ["tests/inference/test_counts.py"],
    "_inference/limits": ["tests/inference/test_limits.py"],
    "_inference/draws": ["tests/inference/test_draws.py"],
    "_inference/lattice": ["tests/inference/test_lattice.py", "tests/inference/test_walk.py"],
    "_inference/mean_and_shape": ["tests/inference/test_mean_and_shape.py"],
    "_inference/path": ["tests/inference/test_path.py"],
    "_inference/pooled_walk": ["tests/inference/test_pooled_walk.py"],
    "_inference/sampler": ["tests/inference/test_sampler.py"],
    "_inference/tilt": ["tests/inference/test_tilt.py"],
    "_inference/walk": ["tests/inference/test_walk.py"],
}
SECONDS = 120  # of processor time, after which a mutant counts as noticed: it hangs

SWAPS: dict[type, type] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.Mult: ast.Div,
    ast.Div: ast.Mult,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.And: ast.Or,
    ast.Or: ast.And,
}


def sites(tree: ast.AST) -> list[tuple[int, str]]:
    """List what can be changed: the number of a node in the walk, and which of its parts."""
    found = []
    hints = {
        id(part)
        for node in ast.walk(tree)
        for hint in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if hint is not None
        for part in ast.walk(hint)
    }
    for number, node in enumerate(ast.walk(tree)):
        if id(node) in hints:
            continue
        if isinstance(node, ast.Compare) and type(node.ops[0]) in SWAPS:
            found.append((number, "compare"))
        elif isinstance(node, (ast.BinOp, ast.BoolOp, ast.AugAssign)) and type(node.op) in SWAPS:
            found.append((number, "operator"))
        elif isinstance(node, ast.UnaryOp) and isinstance(node.op, (ast.Not, ast.USub)):
            found.append((number, "unary"))
        elif isinstance(node, ast.Constant) and type(node.value) in (int, float):
            found.append((number, "number"))
    return found


def mutate(tree: ast.AST, site: tuple[int, str]) -> tuple[ast.AST, int, str]:
    """Return a changed copy, the line, and what stands there now."""
    tree = copy.deepcopy(tree)
    number, part = site
    node = list(ast.walk(tree))[number]
    before = ast.unparse(node)
    if part == "compare":
        node.ops[0] = SWAPS[type(node.ops[0])]()
    elif part == "operator":
        node.op = SWAPS[type(node.op)]()
    elif part == "number":
        node.value = node.value + 1 if isinstance(node.value, int) else node.value * 1.01 or 1e-3
    else:  # the operator goes, what it stood before stays
        parent = next(p for p in ast.walk(tree) for c in ast.iter_child_nodes(p) if c is node)
        for name, value in ast.iter_fields(parent):
            if value is node:
                setattr(parent, name, node.operand)
            elif isinstance(value, list) and node in value:
                value[value.index(node)] = node.operand
        return ast.fix_missing_locations(tree), node.lineno, f"{before}  ->  no sign"
    return ast.fix_missing_locations(tree), node.lineno, f"{before}  ->  {ast.unparse(node)}"


class Mutant:
    """Loads one module from a changed tree, and leaves all others alone."""

    def __init__(self, name: str, path: Path, tree: ast.AST) -> None:
        self.name, self.path, self.tree = name, path, tree

    def find_spec(self, name, _path=None, _target=None):
        if name == self.name:
            return importlib.util.spec_from_file_location(name, self.path, loader=self)
        return None

    def create_module(self, _spec):
        return None

    def exec_module(self, module):
        exec(compile(self.tree, str(self.path), "exec"), module.__dict__)  # noqa: S102


def survives(module: str, tree: ast.AST | None) -> bool:
    """Tell whether the tests of a module pass with a tree in its place."""
    sys.stdout.flush()
    child = os.fork()
    if not child:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1)
        os.dup2(quiet, 2)
        if tree is not None:
            name = "secant." + module.replace("/", ".")
            sys.meta_path.insert(0, Mutant(name, PACKAGE / f"{module}.py", tree))
        options = ["-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        options += ["-W", "ignore::pytest.PytestAssertRewriteWarning"]  # hypothesis is loaded
        os._exit(int(pytest.main([*options, *TESTS[module]])))
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) == 0


def main() -> None:
    """Draw mutants, run their tests, say which survive."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", type=int, default=12)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("modules", nargs="*", default=list(TESTS))
    options = parser.parse_args()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT / "src"), *(str(ROOT / "tests" / more) for more in ("", "laws"))]
    os.environ.setdefault("SECANT_HYPOTHESIS", "ci")
    for module in options.modules:
        tree = ast.parse((PACKAGE / f"{module}.py").read_text(encoding="utf-8"))
        if not survives(module, None):
            sys.exit(f"{module}: its tests fail as it is")
        possible = sites(tree)
        drawn = random.Random(f"{options.seed} {module}").sample(
            possible, min(options.each, len(possible))
        )
        left = []
        for site in sorted(drawn):
            changed, line, what = mutate(tree, site)
            if survives(module, changed):
                left.append(f"    line {line}: {what}")
                print(left[-1], flush=True)
        noticed = len(drawn) - len(left)
        print(f"{module}: {noticed} of {len(drawn)} noticed, of {len(possible)} possible")


if __name__ == "__main__":
    main()
