"""The code on the pages runs, and prints what they say."""

import doctest
import re

import pytest
from _pytest.doctest import _get_checker

from helpers import ROOT, optional

# Pages whose code is run from top to bottom, with the libraries they need beside numpy.
PAGES = {
    "alternatives.md": ["sklearn"],
    "from-ece.md": [],
    "groups.md": [],
    "how-many.md": [],
    "how-it-works.md": [],
    "index.md": [],
    "is-it-good.md": [],
    "language-models.md": [],
    "models.md": ["sklearn"],
    "orders.md": ["sklearn"],
    "reading.md": [],
    "reference/results.md": [],
    "ten-minutes.md": ["matplotlib", "pyarrow", "narwhals", "pandas"],
    "training.md": ["torch", "torchmetrics"],
    "validators.md": [],
    "weights.md": [],
}
FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS | doctest.REPORT_NDIFF


def blocks(text: str) -> list[tuple[int, str]]:
    """Return the blocks of Python, each with the line it begins on."""
    found = re.finditer(r"^```python\n(.*?)^```", text, re.DOTALL | re.MULTILINE)
    return [(text.count("\n", 0, block.start()), block[1]) for block in found]


def run(page: str, text: str) -> list[str]:
    """Run a page from top to bottom in one namespace, and say what was not as it says."""
    names: dict[str, object] = {"__name__": "__main__"}
    said: list[str] = []
    for line, block in blocks(text):
        if ">>>" not in block:
            exec(compile("\n" * (line + 1) + block, page, "exec"), names)  # noqa: S102  (our own)
            continue
        test = doctest.DocTestParser().get_doctest(block, names, page, page, line + 1)
        runner = doctest.DocTestRunner(checker=_get_checker(), optionflags=FLAGS)
        runner.run(test, out=said.append, clear_globs=False)
        names.update(test.globs)
    return said


@pytest.mark.parametrize("page", PAGES)
def test_the_code_on_a_page_runs(page, tmp_path, monkeypatch):
    for library in PAGES[page]:
        optional(library)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    said = run(page, (ROOT / "docs" / page).read_text(encoding="utf-8"))
    assert not said, "".join(said)


def test_the_thirty_seconds_of_the_readme_run(tmp_path, monkeypatch):
    optional("matplotlib")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    run("README.md", text[text.index("## Thirty seconds") :])


@pytest.mark.parametrize(
    ("text", "right"),
    [
        ("```python\n>>> 1 + 1\n2\n```", True),
        ("```python\nx = 1\n```\n\n```python\n>>> x\n1\n```", True),
        ("```python\n>>> 1 + 1\n3\n```", False),
        ("```python\n>>> 1 / 0\n1\n```", False),
        ("```\n>>> 1 + 1\n3\n```", True),
    ],
)
def test_the_rule_sees(text, right):
    assert (not run("page.md", text)) == right
