"""What goes with what: every cell of the tables in docs/combinations.md, tried."""

import itertools
import re

import numpy as np
import pytest

import secant
from helpers import ROOT, optional
from secant import InputError
from secant._input.combinations import check_combination
from secant.testing import assert_calibrated

PAGE = ROOT / "docs" / "combinations.md"
N = 240


def columns():
    rng = np.random.default_rng(0)
    score = rng.random(N)
    y = (rng.random(N) < score).astype(np.int64)
    return {
        "y": y,
        "s": score,
        "s2": np.clip(score + 0.05 * rng.normal(size=N), 0, 1),
        "weights": rng.random(N) + 0.5,
        "counts": rng.integers(1, 4, N) * 1.0,
        "who": np.arange(N) % 40,
        "day": np.datetime64("2026-01-01") + rng.integers(0, 30, N),
        "g": np.arange(N) % 2,
        "a": score - 0.5,
        "b": score + 0.5,
    }


DATA = columns()
# Options as the page calls them: each a dictionary of arguments that name columns.
OPTIONS = {
    "sampling weights": {"sample_weight": "weights"},
    "frequency weights": {"sample_weight": "counts", "weight_kind": "frequency"},
    "`outcome_weights`": {"outcome_weights": (2, 1)},
    "`clusters`": {"clusters": "who"},
    "`order_by`": {"order_by": "day"},
    '`method="exact"`': {"method": "exact"},
    '`method="asymptotic"`': {"method": "asymptotic"},
    '`method="monte-carlo"`': {"method": "monte-carlo"},
    '`ties="random"`': {"ties": "random", "rng": 1},
    '`missing="drop"`': {"missing": "drop"},
}
COLUMNS = ("sample_weight", "clusters", "order_by")


def arrays(options):
    """Return options with arrays in the place of names."""
    return {k: DATA[v] if k in COLUMNS else v for k, v in options.items()}


def file(tmp_path):
    arrow, parquet = optional("pyarrow"), optional("pyarrow.parquet")
    path = tmp_path / "rows.parquet"
    parquet.write_table(arrow.table(DATA), path)
    return path


def lazy(_):
    return optional("polars").LazyFrame(DATA)


def of_data(make):
    return lambda tmp_path, o: secant.assess("y", "s", data=make(tmp_path), **o)


def one(call):
    """Return what is called with arrays."""
    return lambda _, o: call(**arrays(o))


Y, S, S2, G = DATA["y"], DATA["s"], DATA["s2"], DATA["g"]
PROBS = np.column_stack([1 - S, S])
FEATURES = {"data": DATA, "features": ["g"], "min_rows": 50}
# Functions as the page calls them.
FUNCTIONS = {
    "`assess`, arrays": one(lambda **o: secant.assess(Y, S, **o)),
    "data frames": of_data(lambda _: optional("pandas").DataFrame(DATA)),
    "files": of_data(file),
    "engines": of_data(lazy),
    "`assess_by`, Holm": one(lambda **o: secant.assess_by(Y, S, G, **o)),
    "`assess_by`, Benjamini-Hochberg": one(
        lambda **o: secant.assess_by(Y, S, G, adjust="benjamini-hochberg", **o)
    ),
    "`assess_by`, files": lambda t, o: secant.assess_by("y", "s", "g", data=file(t), **o),
    "`assess_by`, engines": lambda t, o: secant.assess_by("y", "s", "g", data=lazy(t), **o),
    "`assert_calibrated`": one(lambda **o: assert_calibrated(Y, S, max_ecce_r=0.9, **o)),
    "`assess_models`": one(lambda **o: secant.assess_models(Y, {"a": S, "b": S2}, **o)),
    "`assess_coverage`": one(
        lambda **o: secant.assess_coverage(S2, DATA["a"], DATA["b"], 0.9, **o)
    ),
    "`assess_classes`": one(lambda **o: secant.assess_classes(Y, PROBS, **o)),
    "`assess_segments`": lambda _, o: secant.assess_segments("y", "s", **FEATURES, **o),
    "`compare_models`": one(lambda **o: secant.compare_models(Y, S, S2, **o)),
    "`compare_groups`": one(lambda **o: secant.compare_groups(Y, S, G, **o)),
    "`scan`": one(lambda **o: secant.scan(Y, S, **o)),
    "`ecce_r`, `ecce_mad`": one(lambda **o: secant.ecce_r(Y, S, **o)),
    "`ece`": one(lambda **o: secant.ece(Y, S, **o)),
    "`Cells.update`": one(lambda **o: secant.Cells(64).update(Y, S, **o)),
    "`Monitor.add`": one(lambda **o: secant.Monitor().add(Y, S, **o)),
}


def tried(call, options):
    """Return what comes of a call: it works, it is refused by name, or there is no such thing."""
    try:
        call(options)
    except InputError as error:
        return "no" if any(name in str(error) for name in options) else f"not named: {error}"
    except TypeError as error:
        unknown = any(f"unexpected keyword argument {name!r}" in str(error) for name in options)
        return "-" if unknown else f"failed: {error}"
    return "yes"


def tables():
    """Return the tables of the page: for each, what its cells say by row and column."""
    found = []
    for block in re.findall(r"(?m)(?:^\|.*\n)+", PAGE.read_text(encoding="utf-8")):
        head, _, *rows = [
            [cell.strip() for cell in line.strip().strip("|").split("|")]
            for line in block.splitlines()
        ]
        found.append(
            {
                (row[0], name): cell
                for row in rows
                for name, cell in zip(head[1:], row[1:], strict=True)
            }
        )
    return found


def test_options_with_each_other():
    said = tables()[0]
    for (a, first), (b, second) in itertools.product(OPTIONS.items(), repeat=2):
        if a == b or (set(first) & set(second)):
            wanted = ""
        else:
            both = {**first, **second}
            wanted = tried(lambda o: secant.assess(Y, S, **arrays(o)), both)
        assert said[a, b] == wanted, (a, b)


@pytest.mark.parametrize("name", list(FUNCTIONS))
def test_functions_and_sources_with_options(name, tmp_path):
    said = tables()[1]
    for option, arguments in OPTIONS.items():
        wanted = tried(lambda o: FUNCTIONS[name](tmp_path, o), arguments)
        assert said[name, option] == wanted, option


def test_the_tables_have_nothing_else():
    first, second = tables()[:2]
    assert {row for row, _ in first} == {column for _, column in first} == set(OPTIONS)
    assert {row for row, _ in second} == set(FUNCTIONS)


@pytest.mark.parametrize("method", ["exact", "asymptotic", "monte-carlo"])
def test_other_methods_are_refused_by_name(method):
    check_combination(clusters=None, method=method)
    with pytest.raises(InputError, match=f"method='{method}' does not go together with clusters"):
        check_combination(clusters=[1], method=method)


def test_random_ties_are_refused_by_name():
    check_combination(clusters=[1], method="auto")
    with pytest.raises(InputError, match="ties='random' does not go together with clusters"):
        check_combination(clusters=[1], method="auto", ties="random")


def test_arrays_and_nothing_go_with_anything():
    check_combination(clusters=np.arange(3), order_by=None, ties="collapse", segments=())
