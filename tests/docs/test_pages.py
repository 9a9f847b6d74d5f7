"""The code on every page runs, from top to bottom, and prints what the page says."""

import re
import runpy
from types import SimpleNamespace

import numpy as np
import pytest

import secant
from commands import write
from documents import PART, Page, exists, read
from helpers import ROOT, optional
from secant.paper import synthetic

COMMAND = ["click", "rich", "pyarrow"]

# Pages with code to run, and the libraries that it needs beside numpy.
PAGES = {
    "README.md": [*COMMAND, "matplotlib"],
    "alternatives.md": ["sklearn"],
    "classes.md": [],
    "cli.md": COMMAND,
    "comparing.md": [],
    "from-ece.md": [],
    "gates.md": COMMAND,
    "groups.md": [],
    "how-it-works.md": [],
    "how-many.md": [],
    "imagenet.md": [],
    "independence.md": COMMAND,
    "index.md": COMMAND,
    "is-it-good.md": [],
    "language-models.md": [],
    "models.md": ["sklearn"],
    "monitoring.md": COMMAND,
    "orders.md": [*COMMAND, "sklearn"],
    "paper.md": [*COMMAND, "matplotlib"],
    "reading.md": [],
    "recalibrate.md": ["sklearn", "scipy"],
    "reference/results.md": [],
    "report.md": [],
    "scale.md": ["duckdb", "narwhals", "polars", "pyarrow"],
    "segments.md": COMMAND,
    "studies.md": [],
    "ten-minutes.md": [*COMMAND, "matplotlib", "narwhals", "pandas"],
    "tensors.md": ["torch", "torchmetrics"],
    "training.md": ["torch", "torchmetrics"],
    "validators.md": [],
    "weights.md": [],
}

# Run by tests/docs/test_libraries.py, which looks at what comes of them.
ELSEWHERE = {"sklearn.md", "tools.md"}

# The first lines of blocks that are not run, and why.
LEFT_OUT = {
    "classes.md": {
        "Miscalibrated: overconfident on average, and too extreme. Scores 0.505 to 0.9999 are "
        "overconfident by 6.65 points (95%": "real predictions, not in the repository: see below"
    },
    "imagenet.md": {
        "pip install 'secant[imagenet,paper]'": "needs the images",
        "from secant.paper import imagenet": "a network to be filled in",
        "1000 images in 40 of 1000 classes, random weights": "was run on a GPU",
    },
    "paper.md": {"pip install 'secant[paper]'": "half a minute; tests/cli/test_paper.py runs it"},
    "scale.md": {
        "from pyspark.sql import SparkSession": "needs a cluster; tests/sources have one",
        "import dask.dataframe, distributed": "the same",
    },
}


def example(name):
    return runpy.run_path(str(ROOT / "examples" / f"{name}.py"))


def predictions(n=6_000):
    """Calibrated predictions, with the columns that pages speak of."""
    rng = np.random.default_rng(0)
    score = rng.uniform(0.1, 0.9, n)
    return {
        "label": (rng.random(n) < score).astype(np.int8),
        "score": score,
        "segment": rng.choice(["a", "b"], n),
        "region": rng.choice(["north", "south"], n),
        "age": rng.integers(18, 80, n),
        "device": rng.choice(["phone", "desktop"], n),
        "date": np.sort(rng.integers(0, 28, n)) + np.datetime64("2026-01-01"),
    }


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The files that the pages speak of."""
    optional("pyarrow")
    folder = tmp_path_factory.mktemp("files")
    table = predictions()
    write(folder / "preds.parquet", table)
    current, happened = table["score"], table["label"]
    holdout = {"label": happened, "current": current, "candidate": current**0.99}
    write(folder / "holdout.parquet", {**holdout, "region": table["region"]})
    write(folder / "rows.parquet", {"happened": happened, "forecast": current, "day": table["age"]})
    write(folder / "answers.parquet", example("clusters_questions")["answers"]())
    for name in ("out", "preds", "predictions"):
        (folder / name).mkdir()
    write(folder / "out" / "preds.parquet", table)
    for day in (1, 2, 3):
        rows = {key: column[day * 1000 : (day + 1) * 1000] for key, column in table.items()}
        rows["date"] = np.full(1000, np.datetime64(f"2026-01-0{day}"))
        write(folder / "preds" / f"2026-01-0{day}.parquet", rows)
        rows = {"happened": rows["label"], "forecast": rows["score"], "country": rows["region"]}
        write(folder / "predictions" / f"{day}.parquet", rows)
    return folder


def readers_own(page):
    """What a page takes for granted: the reader's own arrays, model and tables."""
    table = predictions(3_000)
    return TAKEN.get(page, lambda *_: {})(table["label"], table["score"], table["region"])


def paper(*_):
    (happened,) = synthetic.responses(32768, "square rooted")
    return {"happened": happened, "forecast": synthetic.scores(32768, "square rooted")}


def classes(*_):
    rng = np.random.default_rng(1)
    probs = rng.dirichlet(np.ones(3), 3_000)
    y_true = (probs.cumsum(axis=1) > rng.random((3_000, 1))).argmax(axis=1)
    return {"y_true": y_true, "probs": probs, "model": SimpleNamespace(classes_=[0, 1, 2])}


def gates(_, p, region):
    y = (np.random.default_rng(1).random(len(p)) < p).astype(np.int8)  # which pass at 0.01
    model = SimpleNamespace(predict_proba=lambda scores: np.column_stack([1 - scores, scores]))
    holdout = SimpleNamespace(y=y, X=p, region=region)
    return {"y_true": y, "y_prob": p, "model": model, "holdout": holdout}


def recalibrate(y, p, _):
    model = optional("sklearn.naive_bayes").GaussianNB()
    rows = {"X": p[:, None], "y": y, "model": model, "new_scores": p}
    for when in ("held_out", "recent"):
        rows |= {f"{when}_scores": p, f"{when}_outcomes": y}
    return rows


def report(y, p, region):
    return {"happened": y, "forecast": p, "old": p**1.2, "new": p, "region": region}


def tensors(y, p, _):
    torch = optional("torch")
    labels, scores = torch.tensor(y), torch.tensor(p)
    return {"labels": labels, "scores": scores, "model": torch.logit, "x": scores, "y": labels}


TAKEN = {
    "README.md": paper,
    "classes.md": classes,
    "gates.md": gates,
    "independence.md": lambda *_: {"answers": example("clusters_questions")["answers"]()},
    "recalibrate.md": recalibrate,
    "report.md": report,
    "segments.md": lambda *_: {"customers": example("segments_hidden")["customers"]()},
    "tensors.md": tensors,
}


@pytest.mark.parametrize("page", PAGES)
def test_the_code_on_a_page_runs(page, tmp_path, monkeypatch, request):
    for library in PAGES[page]:
        optional(library)
    if "pyarrow" in PAGES[page]:
        for each in request.getfixturevalue("files").iterdir():
            (tmp_path / each.name).symlink_to(each)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    faults = Page(page, read(page), readers_own(page), LEFT_OUT.get(page, ())).run()
    assert not faults, "\n".join(faults)


def test_every_page_with_code_is_run():
    with_code = {
        page
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
        if "_build" not in path.parts
        for page in [path.relative_to(ROOT if path.name == "README.md" else ROOT / "docs")]
        for kind, *_ in [part.groups() for part in PART.finditer(path.read_text(encoding="utf-8"))]
        if not (kind or "").startswith("{")
    }
    assert {page.as_posix() for page in with_code} == set(PAGES) | ELSEWHERE
    hidden = re.compile(r"^(?:[ >]+```|[ >]*~~~)", re.MULTILINE)  # from the rule
    assert not [page for page in with_code if hidden.search(read(page.as_posix()))]


def test_scripts_and_targets_named_in_sentences_are_there():
    said = re.compile(r"`(?:make (?:[A-Z]+=\S+ )*|python )([a-z][\w./-]+)[^`]*`")
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("*/*.md")]
    named = {each for page in pages for each in said.findall(page.read_text(encoding="utf-8"))}
    missing = [
        each
        for each in sorted(named)
        if not exists("python" if each.endswith(".py") else "make", [each])
    ]
    assert len(named) > 30
    assert not missing


def test_every_option_of_the_command_is_on_a_page():
    for library in COMMAND:
        optional(library)
    from secant.cli import cli

    pages = {"monitor": "monitoring.md", "paper": "paper.md", "imagenet": "imagenet.md"}
    missing = [
        f"{name} {option}"
        for name, each in cli.commands.items()
        for parameter in each.params
        for option in parameter.opts
        if option.startswith("--") and option not in read(pages.get(name, "cli.md"))
    ]
    assert len(cli.commands) == 6
    assert not missing


def test_the_network_of_the_page_on_classes(shared_data):
    with np.load(shared_data / "cifar10_vgg16_probs_labels.npz") as stored:
        labels, probs = stored["labels"], stored["probs"]
    (block,) = (part[2] for part in PART.finditer(read("classes.md")) if part[1] == "text")
    said = str(secant.top_label(labels, probs).assess()).splitlines()
    assert " ".join(block.split()) == " ".join(said[:3])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("```python\n>>> 1 + 1\n2\n```", True),
        ("```python\nx = 1\n```\n\n```python\n>>> x\n1\n```", True),
        ("```python\n>>> 1 + 1\n3\n```", False),
        ("```python\n>>> 1 / 0\n1\n```", False),
        ("```python\nprint(1)\n```\n\n```text\n1\n```", True),
        ("```python\nprint(1)\n```\n\n```text\n2\n```", False),
        ("```\nwhat is this?\n```", False),
        ("```sh\nmake test  # in a checkout\n```", True),
        ("```sh\nmake tests\n```", False),
        ("```sh\npython benchmarks/none.py\n```", False),
        ("```yaml\n- run: pip install x\n- run: make test\n```", True),
        ("```yaml\n- run: make tests\n```", False),
        ("```{toctree}\nindex\n```", True),
    ],
)
def test_the_rule_sees(text, right):
    assert (not Page("page.md", text).run()) == right


def test_the_rule_sees_commands(tmp_path, monkeypatch):
    for library in COMMAND:
        optional(library)
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "preds.parquet", predictions())
    line = "secant assess preds.parquet --y-true label"
    for text in (f"`{line}`", f"```sh\n{line}\n```"):
        assert not Page("page.md", text).run()
        assert Page("page.md", text.replace("preds", "none")).run()
        assert Page("page.md", text.replace(".parquet", ".parquet --no-such-option")).run()


def test_what_is_left_out_is_there():
    assert Page("page.md", "", left_out=["import none"]).run()
    assert not Page("page.md", "```python\n1 / 0\n```", left_out=["1 / 0"]).run()


def test_tests_on_a_page_are_run():
    text = "```python\ndef test_it(y, p=2):\n    assert y == p\n```"
    assert not Page("page.md", text, {"y": 2}).run()
    with pytest.raises(AssertionError):
        Page("page.md", text, {"y": 3}).run()
