"""The page as text, and the numbers in it."""

import json
import pickle
import re
from html.parser import HTMLParser

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import secant
import secant.report
from helpers import CLOSING, HOSTILE
from secant.errors import InputError
from secant.report import _numbers
from secant.report._html import Markup, data_block, tag
from secant.report.sections import groups as _groups


class Outline(HTMLParser):
    """Elements, their attributes, and the text of data blocks."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict]] = []
        self.blocks: dict[str, str] = {}
        self._block = None
        self.feed(page)

    def handle_starttag(self, element, attributes):
        found = dict(attributes)
        self.elements.append((element, found))
        self._block = found.get("id") if element == "script" else None

    def handle_endtag(self, element):  # noqa: ARG002  (the parser's signature)
        self._block = None

    def handle_data(self, data):
        if self._block:
            self.blocks[self._block] = self.blocks.get(self._block, "") + data


def outline(path) -> Outline:
    return Outline(path.read_text(encoding="utf-8"))


def numbers_of(path) -> dict:
    return json.loads(outline(path).blocks["numbers"])


# --- text from data is text -----------------------------------------------------------------------


@given(st.text(max_size=30))
def test_text_never_becomes_markup(text):
    made = tag("p", text, title=text)
    parsed = Outline(made)
    assert [element for element, _ in parsed.elements] == ["p"]
    assert "<" not in made.removeprefix("<p ").removesuffix("</p>")


@given(st.recursive(st.text(max_size=20) | st.none(), lambda inner: st.lists(inner, max_size=3)))
def test_a_data_block_gives_back_what_it_holds(data):
    block = data_block("d", data)
    assert block.count("<") == 2
    assert block.isascii()
    text = re.fullmatch(r"<script[^>]*>(.*)</script>", block)[1]
    assert json.loads(text) == data


def test_markup_is_kept():
    assert tag("p", Markup("<b>x</b>")) == "<p><b>x</b></p>"
    assert tag("p", tag("b", "<"), None) == "<p><b>&lt;</b></p>"


def test_hostile_names_stay_text_everywhere(full_page):
    page = outline(full_page)
    assert not [each for each, _ in page.elements if each == "img"]
    assert len([each for each, _ in page.elements if each == "script"]) == 3
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    numbers = json.loads(page.blocks["numbers"])
    assert numbers["models"][0]["name"] == HOSTILE
    assert CLOSING in [row["key"] for row in numbers["groups"][0]["rows"]]
    assert numbers["provenance"]["columns"] == {"forecast": HOSTILE}


def test_half_a_surrogate_pair_can_be_written(tmp_path):
    path = tmp_path / "report.html"
    secant.assess([0, 1], [0.2, 0.7]).report(path, title="\ud800")
    assert "&#55296;" in path.read_text(encoding="utf-8")


# --- one file, no network -------------------------------------------------------------------------


def test_the_page_refers_to_nothing_outside(full_page):
    page = outline(full_page)
    for element, found in page.elements:
        assert not {"src", "srcset", "action"} & set(found), element
        assert found.get("href", "#").startswith("#")
    text = full_page.read_text(encoding="utf-8")
    addresses = set(re.findall(r"\w+://[^\s\"']+", text))
    assert addresses == {"http://www.w3.org/2000/svg"}  # the name of SVG, which nobody fetches
    assert "url(" not in text
    assert "@import" not in text


def test_the_browser_is_told_to_refuse_everything_else(paper_page):
    policies = [
        found["content"]
        for element, found in outline(paper_page).elements
        if found.get("http-equiv") == "Content-Security-Policy"
    ]
    assert len(policies) == 1
    rules = dict(rule.strip().split(" ", 1) for rule in policies[0].split(";"))
    assert rules["default-src"] == "'none'"
    assert re.fullmatch(r"'sha256-[\w+/]{43}='", rules["script-src"])


def test_it_stays_small(tmp_path):
    rng = np.random.default_rng(1)
    scores, which = rng.random(200_000), np.arange(200_000) % 1500
    happened = rng.random(200_000) < scores
    results = {f"model {k}": secant.assess(happened, scores ** (1 + k / 5)) for k in range(5)}
    groups = secant.assess_by(happened, scores, which, method="asymptotic")
    path = tmp_path / "large.html"
    secant.report.write(path, results, groups=groups)
    assert path.stat().st_size < 6_000_000
    numbers = numbers_of(path)
    assert len(numbers["groups"][0]["rows"]) == 500
    assert "1,000 are left out" in path.read_text(encoding="utf-8")


# --- the numbers are the library's ----------------------------------------------------------------


def read(model: dict, i: int, j: int) -> dict:
    """Do what the page does to read the range between two points."""
    curve = model["curve"]
    share = curve["fraction"][j] - curve["fraction"][i]
    forecast = (curve["scored"][j] - curve["scored"][i]) / share
    gap = (curve["difference"][j] - curve["difference"][i]) / share
    half = model["half_width"] / share
    return {
        "low": curve["next"][i],
        "high": curve["score"][j],
        "n": curve["n"][j] - curve["n"][i],
        "mean_score": forecast,
        "mean_response": forecast + gap,
        "miscalibration": gap,
        "ci": [max(gap - half, -forecast), min(gap + half, 1 - forecast)],
    }


def check(result, model: dict, i: int, j: int) -> None:
    found = read(model, i, j)
    truth = result.between(found["low"], found["high"])
    assert found["n"] == truth.n
    for key in ("mean_score", "mean_response", "miscalibration", "ci"):
        assert found[key] == pytest.approx(getattr(truth, key), rel=1e-9, abs=1e-12), key


@st.composite
def datasets(draw):
    n = draw(st.integers(1, 60))
    grid = draw(st.sampled_from([3, 10, 10**6]))
    scores = [draw(st.integers(0, grid)) / grid for _ in range(n)]
    happened = [draw(st.booleans()) for _ in range(n)]
    weights = draw(st.none() | st.lists(st.integers(1, 9).map(float), min_size=n, max_size=n))
    return happened, scores, weights


@given(datasets(), st.data())
def test_any_two_points_say_what_between_says(data, more):
    happened, scores, weights = data
    result = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
    model = _numbers.readable(result, (), most=8)
    last = len(model["curve"]["n"]) - 1
    i = more.draw(st.integers(0, last - 1))
    j = more.draw(st.integers(i + 1, last))
    check(result, model, i, j)


@pytest.mark.parametrize("n", [1000, 200_000])
@pytest.mark.parametrize("kind", ["plain", "weighted", "rare", "tied"])
def test_points_of_long_curves_too(n, kind):
    rng = np.random.default_rng(3)
    scores = {"rare": rng.beta(1, 200, n), "tied": rng.integers(0, 11, n) / 10}.get(
        kind, rng.random(n)
    )
    happened = rng.random(n) < scores**1.3
    weights = rng.lognormal(size=n) if kind == "weighted" else None
    result = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
    model = _numbers.model(result, most=400, diagrams=16)
    last = len(model["curve"]["n"]) - 1
    assert last <= 400 + 4 * (len(model["intervals"]) + 1)
    for i, j in np.sort(rng.integers(0, last + 1, (20, 2)), axis=1).tolist():
        if i < j:
            check(result, model, i, j)
    # The extremes are kept, and so are both ends of every range found.
    assert max(model["curve"]["difference"]) - min(model["curve"]["difference"]) == pytest.approx(
        result.ecce_r.value, abs=1e-12
    )
    for each in model["intervals"]:
        i, j = (
            model["curve"]["next"].index(each["low"]),
            model["curve"]["score"].index(each["high"], 1),
        )
        assert read(model, i, j)["n"] == each["n"]


def test_bins_are_those_of_the_library(paper, paper_page):
    bins = numbers_of(paper_page)["models"][0]["bins"]
    for strategy, rows in bins.items():
        assert [row["n_bins"] for row in rows] == list(_numbers.POSITIONS)
        for row in rows:
            ece = paper.ece(n_bins=row["n_bins"], strategy=strategy)
            assert (row["ece"], row["noise_floor"]) == (ece.value, ece.noise_floor)
            filled = ece.bins.count > 0
            digits = 1e-6 if row["n_bins"] <= 256 else 1e-3
            for column in {"mean_score", "mean_response", "low", "high"} & set(row):
                expected = getattr(ece.bins, column)[filled]
                assert row[column] == pytest.approx(expected, rel=digits, abs=1e-15), column


def test_quantile_bins_do_not_outnumber_predictions():
    result = secant.assess([0, 1, 0, 1, 1], [0.1, 0.2, 0.5, 0.7, 0.9])
    bins = _numbers.in_bins(result, diagrams=64)["bins"]
    assert [row["n_bins"] for row in bins["quantile"]] == [4, 5]
    assert [row["n_bins"] for row in bins["uniform"]] == list(_numbers.POSITIONS)


@given(datasets())
def test_the_histogram_holds_everything(data):
    happened, scores, weights = data
    result = secant.assess(happened, scores, sample_weight=weights, method="asymptotic")
    low, high, cells = _numbers._range_of_nearly_all(result)
    found = _numbers.histogram(result.reliability(n_bins=cells), low, high)
    inside, below, above = sum(found["weight"]), found["below"], found["above"]
    assert inside + below + above == pytest.approx(1, abs=1e-12)
    assert max(below, above) <= 0.0051
    assert all(h <= w + 1e-12 for h, w in zip(found["happened"], found["weight"], strict=True))


def test_rare_events_get_narrow_bars():
    rng = np.random.default_rng(2)
    scores = rng.beta(1, 200, 20_000)
    result = secant.assess(rng.random(20_000) < scores, scores)
    found = _numbers.in_bins(result, diagrams=4)["distribution"]
    assert 20 <= len(found["weight"]) <= 120
    assert found["edges"][-1] < 0.1


def test_one_score_is_shown_on_the_whole_scale():
    found = _numbers.in_bins(secant.assess([0, 1, 0], [0.003] * 3), diagrams=4)["distribution"]
    assert found["edges"][0] == 0
    assert found["edges"][-1] == 1
    assert found["weight"][0] == 1


def test_predictions_that_are_gone():
    rng = np.random.default_rng(0)
    scores = rng.random(100_000)
    result = secant.assess(rng.random(100_000) < scores, scores)
    gone = pickle.loads(pickle.dumps(result))  # noqa: S301  (our own)
    model = _numbers.model(gone, most=400, diagrams=16)
    assert model["bins"] is None
    assert model["distribution"] is None
    assert model["ecce_r"]["value"] == result.ecce_r.value
    assert "no longer has its predictions" in secant.report.render(gone)


# --- words, errors and files ----------------------------------------------------------------------


def test_the_words_are_those_of_the_printed_verdict(paper, paper_page):
    text = paper_page.read_text(encoding="utf-8")
    headline, _, rest = str(paper).split("\n")[0].partition(". ")
    assert f"<strong>{headline}.</strong> {rest}" in text
    for line in str(paper).split("\n")[1:]:
        assert f"<li>{line}</li>" in text


EDGES = {
    "one": ([1], [0.3]),
    "one, certain": ([1], [1.0]),
    "one, impossible": ([1], [0.0]),
    "all equal": ([0, 1, 1], [0.4, 0.4, 0.4]),
    "sure and right": ([0, 1, 1], [0.0, 1.0, 1.0]),
    "sure and wrong": ([1, 0, 1], [0.0, 1.0, 1.0]),
    "even": ([0, 1], [0.5, 0.5]),
    "close": ([0, 1, 0], [0.5, 0.5 + 1e-12, 0.5 + 2e-12]),
    "tiny": ([0, 0, 1], [1e-9, 2e-9, 3e-9]),
}


@pytest.mark.parametrize("name", EDGES)
def test_degenerate_results_have_a_page(name, visit, tmp_path):
    path = tmp_path / "edge.html"
    result = secant.assess(*EDGES[name])
    result.report(path)
    with visit(path) as page:
        assert page.inner_text("h1") == "Calibration report"
        assert page.inner_text("#read-n") == str(result.worst.n or result.n)


@pytest.mark.parametrize("name", EDGES)
def test_degenerate_results_have_a_picture_for_notebooks(name):
    shown = secant.assess(*EDGES[name])._repr_html_()
    assert "nan" not in shown
    assert "inf" not in shown.replace("infinitely", "")
    assert not [each for each, _ in Outline(shown).elements if each in ("script", "style")]


def test_a_notebook_shows_the_curve(paper, visit, tmp_path):
    path = tmp_path / "cell.html"
    path.write_text(f"<!doctype html><meta charset=utf-8>{paper._repr_html_()}", encoding="utf-8")
    with visit(path) as page:
        box = page.locator("path").nth(2).bounding_box()
        assert box["width"] == pytest.approx(576, abs=8)  # 36rem, and the width of the line
        assert 100 < box["height"] < 144
        assert page.locator("path").nth(3).get_attribute("stroke") == "#d55e00"  # too high


def test_a_file_is_written_whole_or_not_at_all(tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("before", encoding="utf-8")
    result = secant.assess([0, 1], [0.2, 0.7])

    def fails(file, content):
        raise OSError("no room")

    monkeypatch.setattr("secant.report.write_whole", fails)
    with pytest.raises(OSError, match="no room"):
        result.report(path)
    assert path.read_text(encoding="utf-8") == "before"
    monkeypatch.undo()
    result.report(path)
    assert path.read_text(encoding="utf-8").startswith("<!doctype html>")
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("results", "groups", "message"),
    [
        (None, None, "results"),
        ([], None, "holds no Calibration"),
        ([0.5], None, r"results\[0\] is a float"),
        (None, {"a": 1}, "groups must be Assessments"),
    ],
)
def test_what_cannot_be_reported(results, groups, message):
    with pytest.raises(InputError, match=message):
        secant.report.render(results, groups=groups)


def test_provenance_is_shown(tmp_path):
    about = secant.report.Provenance(
        files=["a.parquet", "b.parquet", "c.csv", "d.csv", "e.csv"],
        columns={"outcome": "label", "forecast": "score"},
        elapsed=1.25,
    )
    page = secant.report.render(secant.assess([0, 1], [0.2, 0.7]), provenance=about)
    for part in ("a.parquet", "and 2 more", "Column: outcome", "label", "1.2 s", "e.csv"):
        assert part in page
    assert f"secant {secant.__version__}" in page


def test_keys_that_are_numbers():
    keys = [1.5, 1.5, np.inf, np.inf, np.nan]
    groups = secant.assess_by([0, 1, 0, 1, 1], [0.2, 0.7, 0.4, 0.5, 0.6], keys)
    page = Outline(secant.report.render(groups=groups))
    rows = json.loads(page.blocks["numbers"])["groups"][0]["rows"]
    assert sorted(row["name"] for row in rows) == ["(missing)", "1.5", "inf"]
    assert {row["name"]: row["key"] for row in rows} == {
        "1.5": 1.5,
        "inf": "inf",
        "(missing)": None,
    }


def test_weights_are_named(tmp_path):
    rng = np.random.default_rng(9)
    scores = rng.random(500)
    result = secant.assess(rng.random(500) < scores, scores, sample_weight=rng.lognormal(size=500))
    assert secant.report.render(result).count("share of weight") == 2


def test_the_page_says_whose_groups_it_shows():
    happened, scores = [0, 1, 0, 1, 1], [0.2, 0.7, 0.4, 0.5, 0.6]
    groups = secant.assess_by(happened, scores, ["a", "a", "b", "b", "b"])
    models = {each: secant.assess(happened, scores) for each in ("old", "<i>new")}
    page = secant.report.render(models, groups={"<i>new": groups})
    assert "<h2>Groups of <bdi>&lt;i&gt;new</bdi></h2>" in page
    (shown,) = json.loads(Outline(page).blocks["numbers"])["groups"]
    assert shown["model"] == "<i>new"
    assert "<h2>Groups</h2>" in secant.report.render(models["old"], groups=groups)
    with pytest.raises(secant.InputError, match="groups are of 'newer', which is not the name"):
        secant.report.render(models, groups={"newer": groups})
    with pytest.raises(secant.InputError, match="groups must be Assessments, as assess_by"):
        secant.report.render(models, groups={"old": models["old"]})


def test_every_model_may_have_groups(monkeypatch):
    monkeypatch.setattr(_groups, "_MOST_GROUPS", 4)
    happened, scores = [0, 1, 0, 1, 1, 0], [0.2, 0.7, 0.4, 0.5, 0.6, 0.1]
    groups = secant.assess_by(happened, scores, ["a", "a", "b", "b", "c", "c"])
    models = {each: secant.assess(happened, scores) for each in ("old", "new")}
    page = Outline(secant.report.render(models, groups=dict.fromkeys(models, groups)))
    tables = json.loads(page.blocks["numbers"])["groups"]
    assert [table["model"] for table in tables] == ["old", "new"]
    assert [len(table["rows"]) for table in tables] == [2, 2]  # the room is shared
    assert len(json.loads(page.blocks["views"])["groups"]) == 4
    buttons = [each["data-group"] for _, each in page.elements if "data-group" in each]
    assert buttons == ["0", "1", "2", "3"]
    ids = [each["id"] for _, each in page.elements if "id" in each]
    assert len(ids) == len(set(ids))


def test_the_gate_is_part_of_where_it_comes_from():
    about = secant.report.Provenance(gate=["Gate crossed: <b>."])
    page = secant.report.render(secant.assess([0, 1], [0.2, 0.7]), provenance=about)
    assert "<dt>Gate</dt><dd>Gate crossed: &lt;b&gt;.</dd>" in page


def test_what_is_detectable_is_possible():
    few = secant.report.render(secant.assess([1], [0.3]))
    row = re.search(r"Detectable ECCE-R.*?</tr>", few)[0]
    assert ">none</td>" in row
