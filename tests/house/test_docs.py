"""The pages of the site: each has its place, every public name is there, links lead somewhere."""

import fnmatch
import importlib.util
import re
from inspect import getdoc, isfunction

import pytest

import secant
from helpers import ROOT

DOCS = ROOT / "docs"
MADE = {"_build", "examples", "gallery", "generated"}  # by `make docs`, or no pages


def pages():
    """Name the pages as toctrees do: without their ending."""
    found = (path.relative_to(DOCS) for path in sorted(DOCS.rglob("*.md")))
    return [page.with_suffix("").as_posix() for page in found if not MADE & set(page.parts)]


def in_toctrees(page: str, text: str) -> list[str]:
    """List what the toctrees of a page name, from the folder of the pages."""
    folder = page.rpartition("/")[0]
    entries = []
    for block in re.findall(r"```\{toctree\}\n(.*?)```", text, re.DOTALL):
        lines = [line.strip() for line in block.splitlines()]
        names = [line for line in lines if line and not line.startswith(":")]
        # either "page" or "words <page>"
        names = [re.sub(r".*<(.+)>", r"\1", name) for name in names]
        entries += [f"{folder}/{name}".lstrip("/") for name in names]
    return entries


def test_every_page_is_in_a_toctree():
    everything = pages()
    entries = [
        entry
        for page in everything
        for entry in in_toctrees(page, (DOCS / f"{page}.md").read_text(encoding="utf-8"))
    ]
    lost = [
        page
        for page in everything
        if page != "index" and not any(fnmatch.fnmatch(page, entry) for entry in entries)
    ]
    assert not lost, "name these in a toctree, of docs/guide.md or docs/evidence.md"
    assert len(everything) > 30


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "reference" / "index.md").read_text(encoding="utf-8")
    named = {line.strip() for line in text.splitlines() if re.fullmatch(r"   [\w.]+", line)}
    wanted = set(secant.__all__) - {"__version__", "null"}
    for module in ("report", "testing", "torch", "null"):
        path = ROOT / "src" / "secant" / module
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        (names,) = re.findall(r"(?ms)^__all__ = (\[.*?\])", path.read_text("utf-8"))
        wanted |= {f"{module}.{name}" for name in re.findall(r'"(\w+)"', names)}
    assert not wanted - named


def test_every_public_name_has_an_example():
    # functions in their docstrings, results on a page that the tests run
    page = (DOCS / "reference" / "results.md").read_text(encoding="utf-8")
    classes = [name for name in secant.__all__ if isinstance(getattr(secant, name), type)]
    functions = [name for name in secant.__all__ if isfunction(getattr(secant, name))]
    public = {name: getdoc(getattr(secant, name)) or "" for name in secant.__all__}
    in_docstrings = {name for name, text in public.items() if "Examples\n---" in text}
    assert len(functions) > 10
    assert not set(functions) - in_docstrings
    on_page = {name for name in classes if f"`secant.{name}`" in page}
    assert not set(classes) - in_docstrings - on_page


def test_every_example_has_a_title_for_the_gallery():
    examples = sorted((ROOT / "examples").glob("*.py"))
    assert len(examples) > 10
    for path in examples:
        title, underline = path.read_text(encoding="utf-8").removeprefix('"""').splitlines()[:2]
        assert underline == "=" * len(title), f"{path.name}: underline its first line with ="


# Links -------------------------------------------------------------------------------------------

WITHOUT_CODE = re.compile(r"^```.*?^```|`[^`\n]*`", re.DOTALL | re.MULTILINE)
LINK = re.compile(r"\]\(([^()\s]+)\)")


def anchors(text: str) -> set[str]:
    """Return the places that headings make, as GitHub and the site name them."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.DOTALL | re.MULTILINE)
    titles = re.findall(r"^#+ +(.+)$", plain, re.MULTILINE)
    titles = [re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title) for title in titles]
    return {re.sub(r"[^\w\- ]", "", title.lower()).strip().replace(" ", "-") for title in titles}


def broken(path):
    """Say which links of a page to files of the repository lead nowhere."""
    wrong = []
    for link in LINK.findall(WITHOUT_CODE.sub("", path.read_text(encoding="utf-8"))):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = (path.parent / name) if name else path
        if not target.exists():
            wrong.append(f"{path.name}: {link}")
        elif anchor and target.suffix == ".md" and anchor not in anchors(target.read_text("utf-8")):
            wrong.append(f"{path.name}: {link}, no such heading")
    return wrong


def test_links_lead_somewhere():
    files = [DOCS / f"{page}.md" for page in pages()] + sorted(ROOT.glob("*.md"))
    made = ("examples/index.md", "generated/")  # by `make docs`, which checks them itself
    wrong = [line for path in files for line in broken(path) if not any(m in line for m in made)]
    assert not wrong, "\n" + "\n".join(wrong)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("[a](b.md), [a](b.md#the-answer), [a](https://example.org/x.md), `[a](no.md)`", 0),
        ("# Here, `now`\n[a](#here-now)", 0),
        ("[a](c.md)", 1),
        ("[a](b.md#another)", 1),
        ("[a](#nowhere)", 1),
        ("![a](picture.png)", 1),
    ],
)
def test_the_rule_sees(tmp_path, text, count):
    (tmp_path / "b.md").write_text("# B\n\n## The answer\n", encoding="utf-8")
    page = tmp_path / "a.md"
    page.write_text(text, encoding="utf-8")
    assert len(broken(page)) == count


# The built site ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("page", "fault"),
    [
        ('<h1 id="x"></h1><a href="#x"></a><a href="b.html#y"></a><a href="//a.org"></a>', ""),
        ('<img src="data:image/png;base64,AAAA">', ""),
        ('<a href="c.html"></a>', "not there"),
        ('<a href="b.html#z"></a>', "no such place"),
        ('<script src="https://cdn.example.org/x.js"></script>', "loads"),
        ('<link rel="stylesheet" href="//cdn.example.org/x.css">', "loads"),
    ],
)
def test_the_check_of_the_built_site_sees(tmp_path, page, fault):
    spec = importlib.util.spec_from_file_location("check", DOCS / "check.py")
    check = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(check)
    (tmp_path / "a.html").write_text(page, encoding="utf-8")
    (tmp_path / "b.html").write_text('<p id="y"></p>', encoding="utf-8")
    found = check.faults(tmp_path.resolve())
    assert (not found) if not fault else (len(found) == 1 and fault in found[0])
