"""One front door: every function takes its predictions from arrays, tables, files and engines."""

import itertools

import numpy as np
import pytest

import secant
from helpers import optional
from secant import InputError

narwhals = optional("narwhals")
pandas = optional("pandas")
polars = optional("polars")
pyarrow = optional("pyarrow")

N = 400
RNG = np.random.default_rng(9)
P = RNG.random((N, 3)) ** 2
P /= P.sum(axis=1, keepdims=True)
COLUMNS = {
    "y": (RNG.random(N) < P[:, 0]).astype(int),
    "p": P[:, 0],
    "q": P[:, 1],
    "r": P[:, 2],
    "w": RNG.uniform(0.5, 2, N),
    "m": RNG.random(N) < 0.3,
    "c": np.array(["p", "q", "r"])[(P.cumsum(axis=1) < RNG.random((N, 1))).sum(axis=1)],
    "t": np.where(RNG.random(N) < P[:, 0], "yes", "no"),
}


def parquet(tmp_path):
    path = tmp_path / "a.parquet"
    optional("pyarrow.parquet").write_table(pyarrow.table(COLUMNS), path)
    return path


def csv(tmp_path):
    path = tmp_path / "a.csv"
    optional("pyarrow.csv").write_csv(pyarrow.table(COLUMNS), path)
    return path


def feather_in_two(tmp_path):
    paths = [tmp_path / "a.feather", tmp_path / "b.feather"]
    table = pyarrow.table(COLUMNS)
    for path, part in zip(paths, (table.slice(0, 150), table.slice(150)), strict=True):
        optional("pyarrow.feather").write_feather(part, path)
    return paths


TABLES = {
    "mapping": lambda _: COLUMNS,
    "pandas": lambda _: pandas.DataFrame(COLUMNS),
    "polars": lambda _: polars.DataFrame(COLUMNS),
    "pyarrow": lambda _: pyarrow.table(COLUMNS),
    "parquet": parquet,
    "csv": csv,
    "feather": feather_in_two,
}
ENGINES = {
    "polars": lambda: polars.LazyFrame(COLUMNS),
    "duckdb": lambda: optional("duckdb").from_arrow(pyarrow.table(COLUMNS)),
}


def scorer(function, **options):
    """Return the question twice: with arrays, and with names of columns."""
    named = {name: options.pop(name) for name in ("sample_weight",) if name in options}

    def ask(y, p, **where):
        weights = {name: column if where else COLUMNS[column] for name, column in named.items()}
        return function(y, p, **weights, **options, **where)

    return lambda: ask(COLUMNS["y"], COLUMNS["p"]), lambda data: ask("y", "p", data=data)


def models(function):
    return (
        lambda: function(COLUMNS["y"], COLUMNS["p"], COLUMNS["q"], sample_weight=COLUMNS["w"]),
        lambda data: function("y", "p", "q", sample_weight="w", data=data),
    )


SUMS = {
    "ecce_r": scorer(secant.ecce_r),
    "ecce_r weighted": scorer(secant.ecce_r, sample_weight="w"),
    "ecce_mad": scorer(secant.ecce_mad, sample_weight="w"),
    "ece": scorer(secant.ece, n_bins=7),
    "ece quantile": scorer(secant.ece, n_bins=7, strategy="quantile", sample_weight="w"),
    "compare_models": models(lambda *a, **k: secant.compare_models(*a, **k).ci),
}
ROWS = {
    "scan": scorer(lambda *a, **k: secant.scan(*a, draws=99, **k).statistic),
    "scan weighted": scorer(
        lambda *a, **k: secant.scan(*a, draws=99, **k).statistic, sample_weight="w"
    ),
    "compare_groups": (
        lambda: secant.compare_groups(COLUMNS["y"], COLUMNS["p"], COLUMNS["m"]).ecce_r.value,
        lambda data: secant.compare_groups("y", "p", "m", data=data).ecce_r.value,
    ),
    "compare_groups weighted": (
        lambda: (
            secant.compare_groups(
                COLUMNS["y"], COLUMNS["p"], COLUMNS["m"], sample_weight=COLUMNS["w"]
            ).ecce_r.value
        ),
        lambda data: (
            secant.compare_groups("y", "p", "m", sample_weight="w", data=data).ecce_r.value
        ),
    ),
    "assess_classes": (
        lambda: secant.assess_classes(COLUMNS["c"], P, classes=["p", "q", "r"])["q"].ecce_r.value,
        lambda data: secant.assess_classes("c", ["p", "q", "r"], data=data)["q"].ecce_r.value,
    ),
    "assess_classes one-vs-rest": (
        lambda: (
            secant.assess_classes(
                COLUMNS["c"], P, classes=["p", "q", "r"], kind="one-vs-rest", adjust="holm"
            )["r"].ecce_r.pvalue
        ),
        lambda data: (
            secant.assess_classes(
                "c", ["p", "q", "r"], data=data, kind="one-vs-rest", adjust="holm"
            )["r"].ecce_r.pvalue
        ),
    ),
}


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("question", [*SUMS, *ROWS])
def test_tables_and_files_answer_as_arrays_do(tmp_path, table, question):
    arrays, named = {**SUMS, **ROWS}[question]
    found = named(TABLES[table](tmp_path))
    np.testing.assert_allclose(found, arrays(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("question", SUMS)
def test_engines_answer_what_sums_can_tell(engine, question):
    arrays, named = SUMS[question]
    np.testing.assert_allclose(named(ENGINES[engine]()), arrays(), rtol=0, atol=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("question", ROWS)
def test_engines_keep_their_rows_and_say_what_works(engine, question):
    with pytest.raises(InputError, match=r"keeps its rows, and \w+ needs them all.*ask assess"):
        ROWS[question][1](ENGINES[engine]())


@pytest.mark.parametrize("function", [secant.ecce_r, secant.ecce_mad, secant.ece])
def test_words_for_outcomes_need_to_be_told_apart(function):
    with pytest.raises(InputError, match=r"which is the event\? Name it with pos_label$"):
        function(COLUMNS["t"], COLUMNS["p"])
    found = function(COLUMNS["t"], COLUMNS["p"], pos_label="yes")
    assert found == function(COLUMNS["t"] == "yes", COLUMNS["p"])
    assert function("t", "p", data=COLUMNS, pos_label="yes") == found


@pytest.mark.parametrize("function", [secant.ecce_r, secant.ecce_mad, secant.ece])
def test_text_labels_can_be_scored_in_scikit_learn(function):
    optional("sklearn")
    from sklearn.linear_model import LogisticRegression
    from sklearn.metrics import make_scorer
    from sklearn.model_selection import cross_validate

    X = COLUMNS["p"].reshape(-1, 1)
    for event in ("yes", "no"):
        score = make_scorer(
            function, response_method="predict_proba", greater_is_better=False, pos_label=event
        )
        found = cross_validate(
            LogisticRegression(),
            X,
            COLUMNS["t"],
            scoring=score,
            cv=3,
            return_estimator=True,
            return_indices=True,
        )
        for value, model, test in zip(
            found["test_score"], found["estimator"], found["indices"]["test"], strict=True
        ):
            column = list(model.classes_).index(event)
            probs = model.predict_proba(X[test])[:, column]
            assert value == -function(COLUMNS["t"][test] == event, probs)


@pytest.mark.parametrize(
    ("ask", "told"),
    [
        (lambda: secant.ecce_r("y", "z", data=COLUMNS), "data has no column 'z', which y_prob"),
        (lambda: secant.scan("y", "z", data=COLUMNS), "data has no column 'z', which y_prob names"),
        (
            lambda: secant.compare_groups("y", "p", "z", data=COLUMNS),
            "data has no column 'z', which member names",
        ),
        (
            lambda: secant.compare_models("y", "p", "z", data=COLUMNS),
            "data has no column 'z', which y_prob_b names",
        ),
        (
            lambda: secant.assess_classes("c", ["p", "z"], data=COLUMNS),
            "data has no column 'z', which probs names",
        ),
        (
            lambda: secant.assess_classes("c", "p", data=COLUMNS),
            "with data=, probs must be a list of columns, one for each class; got str",
        ),
        (
            lambda: secant.compare_groups("y", "p", COLUMNS["m"], data=COLUMNS),
            "with data=, member must be the name of a column; got ndarray",
        ),
        (lambda: secant.ecce_r("y", "p"), r"y_true must be an array .* then pass data= as well"),
    ],
)
def test_what_is_not_there_is_named(ask, told):
    with pytest.raises(InputError, match=told):
        ask()


@pytest.mark.parametrize(
    "kind", ["pandas", "polars", "pyarrow", "parquet", "feather", "duckdb", "polars lazy"]
)
def test_a_field_of_structs_is_to_be_a_column(kind, tmp_path):
    pa = optional("pyarrow")
    rows = [{"p": 0.2}, {"p": 0.7}]
    makers = {
        "pandas": lambda: optional("pandas").DataFrame({"y": [0, 1], "m": rows}),
        "polars": lambda: optional("polars").DataFrame({"y": [0, 1], "m": rows}),
        "polars lazy": lambda: optional("polars").LazyFrame({"y": [0, 1], "m": rows}),
        "pyarrow": lambda: pa.table({"y": [0, 1], "m": rows}),
        "duckdb": lambda: optional("duckdb").from_arrow(pa.table({"y": [0, 1], "m": rows})),
    }
    if kind in makers:
        data = makers[kind]()
    else:
        data = tmp_path / f"one.{kind}"
        write = {"parquet": "write_table", "feather": "write_feather"}[kind]
        getattr(optional(f"pyarrow.{kind}"), write)(makers["pyarrow"](), str(data))
    with pytest.raises(InputError, match=r"'m\.p'.*'p' is a field of column 'm', make it a column"):
        secant.assess("y", "m.p", data=data)


@pytest.mark.parametrize("kind", ["table", "reader", "parquet", "feather"])
def test_truths_in_bytes_are_truths(kind, tmp_path):
    pa = optional("pyarrow")
    if not hasattr(pa, "bool8"):
        pytest.skip("before pyarrow 18")
    truth, score = np.array([0, 1, 1, 0, 1, 1], np.int8), np.linspace(0.1, 0.9, 6)
    column = pa.ExtensionArray.from_storage(pa.bool8(), pa.array(truth))
    table, path = pa.table({"y": column, "p": score, "g": column}), str(tmp_path / f"one.{kind}")
    if kind in ("parquet", "feather"):
        write = {"parquet": "write_table", "feather": "write_feather"}[kind]
        getattr(optional(f"pyarrow.{kind}"), write)(table, path)
    data = {"table": lambda: table, "reader": table.to_reader}.get(kind, lambda: path)
    found = secant.assess("y", "p", data=data())
    assert found.ecce_r.value == secant.ecce_r(truth, score)
    assert set(secant.assess_by("y", "p", "g", data=data())) == {False, True}


def test_models_with_one_column_give_the_same_scores():
    for data in (COLUMNS, ENGINES["polars"]()):
        assert secant.compare_models("y", "p", "p", data=data).ci == (0.0, 0.0)


@pytest.mark.parametrize("library", ["pandas", "pyarrow"])
def test_names_that_columns_share_matter_where_they_are_asked_for(library):
    module = optional(library)
    rng = np.random.default_rng(0)
    p, z = rng.random(200), rng.integers(2, size=200)
    y = rng.random(200) < p
    names, columns = ["y", "p", "z", "z", "g"], [y, p, z, z, z]
    if library == "pandas":
        frame = module.concat([module.Series(each) for each in columns], axis=1)
        frame.columns = names
    else:
        frame = module.table([module.array(each) for each in columns], names=names)
    assert secant.assess("y", "p", data=frame).ecce_r == secant.assess(y, p).ecce_r
    assert len(secant.assess_by("y", "p", data=frame, by="g").rows) == 2
    secant.assess_segments("y", "p", data=frame, features=["g"], min_rows=20)
    calls = [
        lambda: secant.assess("y", "p", data=frame, order_by="z"),
        lambda: secant.assess("y", "p", data=frame, sample_weight="z"),
        lambda: secant.assess_by("y", "p", data=frame, by="z"),
        lambda: secant.assess_segments("y", "p", data=frame, features=["z"]),
        lambda: secant.assess_coverage("y", "p", "z", 0.9, data=frame),
    ]
    for call in calls:
        with pytest.raises(InputError, match="data has 2 columns called 'z'; give each"):
            call()


# Rows of several frames ---------------------------------------------------------------------------

LENGTH = 60
GIVEN = {
    "y": np.arange(LENGTH) % 2,
    "p": np.linspace(0.1, 0.9, LENGTH),
    "q": np.linspace(0.9, 0.1, LENGTH),
    "w": np.linspace(1, 2, LENGTH),
    "g": np.arange(LENGTH) // 30,
    "h": np.arange(LENGTH) // 20,
    "c": np.arange(LENGTH) // 2,
    "o": np.arange(LENGTH)[::-1] * 1.0,
    "m": np.arange(LENGTH) % 3 == 0,
    "low": np.linspace(-2, -1, LENGTH),
    "high": np.linspace(2, 3, LENGTH),
}


def segments(d):
    return secant.assess_segments(
        d["y"], d["p"], features={"g": d["g"], "h": d["h"]}, sample_weight=d["w"], min_rows=5
    )


# What pairs rows: columns by the names of the arguments that take them, and the call.
PAIRED = {
    "assess": ("y p w c o", lambda d: secant.assess(
        d["y"], d["p"], sample_weight=d["w"], clusters=d["c"], order_by=d["o"])),
    "assess_by": ("y p w g h", lambda d: secant.assess_by(
        d["y"], d["p"], [d["g"], d["h"]], sample_weight=d["w"])),
    "assess_segments": ("y p w g h", segments),
    "assess_classes": ("y p q w", lambda d: secant.assess_classes(
        "y", ["p", "q"], classes=[0, 1], data=d, sample_weight="w")),
    "assess_coverage": ("y low high w c o", lambda d: secant.assess_coverage(
        d["y"], d["low"], d["high"], 0.9, sample_weight=d["w"], clusters=d["c"], order_by=d["o"])),
    "assess_models": ("y p q", lambda d: secant.assess_models(d["y"], {"a": d["p"], "b": d["q"]})),
    "compare_models": ("y p q w", lambda d: secant.compare_models(
        d["y"], d["p"], d["q"], sample_weight=d["w"])),
    "compare_groups": ("y p m w", lambda d: secant.compare_groups(
        d["y"], d["p"], d["m"], sample_weight=d["w"])),
    "scan": ("y p w", lambda d: secant.scan(d["y"], d["p"], sample_weight=d["w"])),
    "data, by": ("y p w c o g h", lambda d: secant.assess_by(
        "y", "p", ["g", "h"], data=d, sample_weight="w", clusters="c", order_by="o")),
    "data, segments": ("y p w g h", lambda d: secant.assess_segments(
        "y", "p", data=d, features=["g", "h"], sample_weight="w", min_rows=5)),
    "data, groups": ("y p m w", lambda d: secant.compare_groups(
        "y", "p", "m", data=d, sample_weight="w")),
}  # fmt: skip


@pytest.mark.parametrize(
    ("call", "one", "other"),
    [
        (name, one, other)
        for name, (columns, _) in PAIRED.items()
        for one, other in itertools.combinations(columns.split(), 2)
    ],
)
def test_no_two_columns_of_different_rows_are_paired(call, one, other):
    """Whichever two have an index that says so, and whatever the other columns are."""
    index = [f"r{i}" for i in range(LENGTH)]
    data = dict(GIVEN)
    data[one] = pandas.Series(GIVEN[one], index=index)
    data[other] = pandas.Series(GIVEN[other], index=index)[::-1]
    with pytest.raises(InputError, match="have the same index in different orders"):
        PAIRED[call][1](data)
