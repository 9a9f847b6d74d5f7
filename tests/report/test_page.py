"""The page as a whole: one small file that fetches nothing, at home on screens and on paper."""

import json
import re

import numpy as np
import pytest

import secant
import secant.report
from helpers import CLOSING, HOSTILE
from pages import EDGES, agrees, chosen, names_shown, numbers_of, outline


def test_hostile_names_stay_text_everywhere(full_page):
    page = outline(full_page)
    assert not [each for each, _ in page.elements if each == "img"]
    assert len([each for each, _ in page.elements if each == "script"]) == 3
    assert not [name for _, found in page.elements for name in found if name.startswith("on")]
    numbers = json.loads(page.blocks["numbers"])
    assert numbers["models"][0]["name"] == HOSTILE
    assert CLOSING in [row["key"] for row in numbers["groups"][0]["rows"]]
    assert numbers["provenance"]["columns"] == {"forecast": HOSTILE}


def test_hostile_names_are_text(visit, full_page):
    with visit(full_page) as page:
        assert page.locator("img").count() == 0
        assert page.inner_text("h1").startswith(HOSTILE)
        assert HOSTILE in names_shown(page)
        assert page.locator("#provenance dd", has_text=HOSTILE).count() == 2
        page.locator("[data-group]", has_text="<img").click()
        assert page.locator("#series button", has_text=HOSTILE).count() == 2


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


@pytest.mark.parametrize("name", EDGES)
def test_degenerate_results_have_a_page(name, visit, tmp_path):
    path = tmp_path / "edge.html"
    result = secant.assess(*EDGES[name])
    result.report(path)
    with visit(path) as page:
        assert page.inner_text("h1") == "Calibration report"
        assert chosen(page)["n"] == (result.worst.n or result.n)


def test_groups_alone_make_a_page(visit, groups, tmp_path):
    path = tmp_path / "groups.html"
    groups.report(path, title="Groups")
    with visit(path) as page:
        agrees(page, groups["north"])
        page.locator("[data-group]", has_text="south").click()
        agrees(page, groups["south"])
        assert page.locator("#bins").count() == 0


def test_dark_screens_get_dark_paper(visit, paper_page):
    def brightness(page, selector, what):
        color = page.locator(selector).first.evaluate(f"each => getComputedStyle(each).{what}")
        return (
            sum(int(part) for part in color.removeprefix("rgb(").rstrip(")").split(",")[:3]) / 765
        )

    with visit(paper_page, color_scheme="dark") as page:
        assert brightness(page, "body", "backgroundColor") < 0.2
        assert brightness(page, "body", "color") > 0.8
        assert brightness(page, ".curve", "stroke") > 0.8
        page.emulate_media(media="print")
        assert brightness(page, "body", "backgroundColor") > 0.9
        assert brightness(page, ".curve", "stroke") < 0.2


@pytest.mark.parametrize("kind", ["paper_page", "full_page"])
def test_a_phone_needs_no_sideways_scrolling(visit, kind, request):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with visit(request.getfixturevalue(kind), **phone) as page:
        assert page.evaluate("document.documentElement.scrollWidth") == 390
        assert page.evaluate("window.innerWidth") == 390
        page.locator("#metrics .term").first.tap()
        assert page.locator("#metrics [role=tooltip]").first.is_visible()


SCREENS = {
    "a desk": {"viewport": {"width": 1280, "height": 800}},
    "a phone": {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True},
}


@pytest.mark.parametrize("kind", ["paper_page", "full_page"])
@pytest.mark.parametrize("screen", SCREENS)
def test_the_plot_begins_on_the_first_screen(visit, kind, screen, request):
    options = SCREENS[screen]
    with visit(request.getfixturevalue(kind), **options) as page:
        assert page.locator("#secant h2").is_visible()
        top = page.locator("#area").bounding_box()["y"]
        assert top < options["viewport"]["height"] - 40


def test_nothing_that_is_printed_is_a_background(visit, paper_page):
    """Browsers print no backgrounds unless told to: marks are lines, letters and fills of SVG."""
    with visit(paper_page) as page:
        page.emulate_media(media="print")
        marks = ["#whisker .span", "#whisker .dot", "#whisker .nought", "#whole", ".knob", ".here"]
        for mark in marks:
            look = page.locator(mark).first.evaluate(
                "each => { const look = getComputedStyle(each);"
                " return [look.borderTopWidth, look.borderLeftWidth, look.borderBottomWidth]; }"
            )
            assert set(look) != {"0px"}, mark
        handle = "getComputedStyle(document.querySelector('.handle'), '::before').borderLeftWidth"
        assert page.evaluate(handle) != "0px"


@pytest.mark.parametrize("kind", ["paper_page", "full_page"])
def test_it_prints_on_two_pages(visit, kind, request, tmp_path):
    with visit(request.getfixturevalue(kind)) as page:
        printed = page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert printed.count(b"/Type /Page\n") == 2


def test_a_page_about_intervals_speaks_of_intervals(visit, tmp_path):
    rng = np.random.default_rng(0)
    y, half = rng.normal(size=2000), rng.uniform(0.8, 1.3, 2000)
    result = secant.assess_coverage(y, -half, half, 0.9)
    assert str(result).startswith("Coverage is off: too little on average, not steady along width.")
    path = tmp_path / "page.html"
    result.report(path)
    with visit(path) as page:
        said = page.locator("main").inner_text() + page.locator("main").text_content()
        page.locator("#presets button").last.click()
        said += page.locator("#secant").text_content()
    assert "points too little (" in said
    assert "All intervals" in said
    assert "where 90.0% was promised" in said
    assert "any range of width" in said
    wrong = ("too high", "predictions", "event", "scores", "forecast", "Brier", "ECE,", "outcome")
    assert [word for word in wrong if word in said] == []


def test_a_page_along_another_axis_defines_its_numbers_there():
    rng = np.random.default_rng(0)
    score, age = rng.random(500), rng.integers(20, 80, 500)
    result = secant.assess(rng.random(500) < score, score, order_by=age)
    from secant.report._definitions import DEFINITIONS, definitions

    assert "over any range of x," in definitions(result)["ECCE-R"]
    assert "over any range of scores," in DEFINITIONS["ECCE-R"]
