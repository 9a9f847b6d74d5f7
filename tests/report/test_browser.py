"""What a reader does with the page, in a browser, opened from disk."""

import json
from itertools import pairwise

import numpy as np
import pytest

import secant
import secant.report
from helpers import HOSTILE
from secant._results import wording


def chosen(page) -> dict:
    """Return the numbers of the range that is being read, with all their digits."""
    raw = page.locator("#readout").evaluate("each => ({...each.dataset})")
    limits = [float(each) for each in raw.pop("limits").split(",")]
    raw.pop("mood")
    return {"limits": limits, **{key: float(value) for key, value in raw.items()}}


def agrees(page, result) -> None:
    """Compare what the page reads with the library."""
    read = chosen(page)
    truth = result.between(read["low"], read["high"])
    assert read["n"] == truth.n
    assert (read["low"], read["high"]) == (truth.low, truth.high)
    assert read["gap"] == pytest.approx(truth.miscalibration, rel=1e-9, abs=1e-12)
    assert read["forecast"] == pytest.approx(truth.mean_score, rel=1e-9, abs=1e-12)
    assert read["happened"] == pytest.approx(truth.mean_response, rel=1e-9, abs=1e-12)
    assert read["limits"] == pytest.approx(truth.ci, rel=1e-9, abs=1e-12)
    # What is written is what the library prints.
    texts = {each: page.inner_text(f"#read-{each}") for each in ("scores", "n", "forecast")}
    texts |= {each: page.inner_text(f"#read-{each}") for each in ("happened", "miscalibration")}
    limits = page.inner_text("#read-limits")
    said = (
        f"Scores {texts['scores']}, {texts['n']} prediction{'' if truth.n == 1 else 's'}: "
        f"mean forecast {texts['forecast']}, happened {texts['happened']}, "
        f"miscalibration {texts['miscalibration']} ({limits})."
    )
    assert said.replace("\N{MINUS SIGN}", "-").replace("+", "") == str(truth)


def drag(page, start: float, stop: float, steps: int = 30) -> None:
    """Drag over the plot between two shares of its width."""
    page.locator("#area").scroll_into_view_if_needed()
    box = page.locator("#area").bounding_box()
    middle = box["y"] + box["height"] * 0.5
    page.mouse.move(box["x"] + start * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + stop * box["width"], middle, steps=steps)
    page.mouse.up()


def test_the_worst_range_is_read_first(visit, paper, paper_page):
    with visit(paper_page) as page:
        agrees(page, paper)
        assert page.inner_text("#read-scores") == "0.292 to 1.000"
        assert page.inner_text("#read-n") == "29,955"
        assert page.inner_text("#read-miscalibration") == "\N{MINUS SIGN}2.51 points"
        assert page.inner_text("#read-limits") == "\N{MINUS SIGN}3.15 to \N{MINUS SIGN}1.87"


@pytest.mark.parametrize(("start", "stop"), [(0.2, 0.5), (0.9, 0.05), (0.33, 0.336), (0.5, 1.2)])
def test_dragging_reads_what_the_library_says(visit, paper, paper_page, start, stop):
    with visit(paper_page) as page:
        before = chosen(page)
        drag(page, start, stop)
        assert chosen(page) != before
        agrees(page, paper)
        share = chosen(page)["n"] / paper.n
        assert share == pytest.approx(abs(min(stop, 1) - start), abs=0.01)


def test_numbers_are_written_as_the_library_writes_them(visit, paper_page):
    rng = np.random.default_rng(4)
    exact_ties = [k / 64 for k in range(65)] + [0.0625, 0.00125, 0.0005, 0.0015, 0.02125]
    edges = [
        0.0,
        1.0,
        1e-3,
        9.995e-4,
        0.9995,
        0.99949,
        0.99951,
        1 - 1e-9,
        1 - 1e-16,
        1e-5,
        9.996e-6,
    ]
    spread = [*(10 ** rng.uniform(-8, 0, 2000)).tolist(), *rng.random(2000).tolist()]
    values = [*exact_ties, *edges, *spread]
    with visit(paper_page) as page:

        def written(function, numbers):
            return page.evaluate(f"values => values.map({function})", numbers)

        assert written("writeScore", values) == [wording.score(value) for value in values]
        assert written("percent", values) == [wording.percent(value) for value in values]
        both = values + [-value for value in values[1:]]
        points = [text.replace("\N{MINUS SIGN}", "-") for text in written("points", both)]
        assert points == [wording.points(value) for value in both]


def test_every_step_of_a_drag_is_read(visit, paper_page):
    with visit(paper_page) as page:
        page.evaluate(
            "window.reads = 0; new MutationObserver(() => window.reads++)"
            ".observe(document.getElementById('read-n'), {childList: true})"
        )
        drag(page, 0.1, 0.8, steps=30)
        assert page.evaluate("window.reads") >= 29  # the first step may tell a click from a drag


def test_a_pointer_passing_by_is_told_the_score(visit, paper, paper_page):
    with visit(paper_page) as page:
        box = page.locator("#area").bounding_box()
        page.mouse.move(box["x"] + 0.25 * box["width"], box["y"] + 40)
        assert page.locator("#hair").is_visible()
        assert float(page.get_attribute("#hair", "data-score")) == pytest.approx(0.5, abs=2e-3)
        page.mouse.move(5, 5)
        assert not page.locator("#hair").is_visible()


def test_a_click_changes_nothing(visit, paper_page):
    with visit(paper_page) as page:
        before = chosen(page)
        drag(page, 0.4, 0.4, steps=1)
        assert chosen(page) == before


def test_handles_and_the_bar_are_dragged(visit, paper, paper_page):
    with visit(paper_page) as page:
        drag(page, 0.3, 0.5)
        first = chosen(page)
        box = page.locator("#area").bounding_box()

        def pull(selector, by):
            place = page.locator(selector).bounding_box()
            x, y = place["x"] + place["width"] / 2, place["y"] + place["height"] / 2
            page.mouse.move(x, y)
            page.mouse.down()
            page.mouse.move(x + by * box["width"], y, steps=5)
            page.mouse.up()
            agrees(page, paper)
            return chosen(page)

        wider = pull("#to .knob", 0.2)
        assert wider["low"] == first["low"]
        assert wider["n"] == pytest.approx(first["n"] + 0.2 * paper.n, rel=0.02)
        moved = pull("#whole", -0.1)
        assert moved["n"] == pytest.approx(wider["n"], rel=0.01)
        assert moved["low"] < wider["low"]
        crossed = pull("#from .knob", 0.6)  # past the other handle
        assert crossed["low"] > moved["low"]


def test_the_keyboard_moves_the_ends(visit, paper, paper_page):
    with visit(paper_page) as page:
        page.focus("#to")
        page.keyboard.press("End")
        page.focus("#from")
        page.keyboard.press("Home")
        assert chosen(page)["n"] == paper.n
        agrees(page, paper)
        page.keyboard.press("ArrowRight")
        assert chosen(page)["n"] == pytest.approx(0.99 * paper.n, rel=1e-3)
        page.keyboard.press("PageUp")
        assert chosen(page)["n"] == pytest.approx(0.89 * paper.n, rel=1e-3)
        one_further = chosen(page)["n"]
        page.keyboard.press("Shift+ArrowRight")
        assert 0 < one_further - chosen(page)["n"] < 0.002 * paper.n
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement.id") == "to"
        for _ in range(3):
            page.keyboard.press("ArrowLeft")
        agrees(page, paper)
        value = page.get_attribute("#to", "aria-valuetext")
        assert value == f"score {chosen(page)['high']:.3f}"
        page.keyboard.press("Home")  # as far down as it goes: one step above the other end
        assert 0 < chosen(page)["n"] < 0.002 * paper.n
        page.focus("#whole")
        page.keyboard.press("End")
        assert chosen(page)["n"] == paper.n


def test_ranges_found_are_buttons(visit, paper, paper_page):
    with visit(paper_page) as page:
        buttons = page.locator("#presets button")
        assert buttons.count() == len(paper.intervals) + 1
        assert "too high" in buttons.first.inner_text()
        buttons.last.click()
        assert chosen(page)["n"] == paper.n
        agrees(page, paper)
        assert buttons.last.get_attribute("aria-pressed") == "true"
        buttons.first.click()
        assert (chosen(page)["low"], chosen(page)["high"]) == (paper.worst.low, paper.worst.high)


def test_the_slider_moves_the_ece_and_not_the_ecce(visit, paper, paper_page):
    with visit(paper_page) as page:
        assert page.inner_text("dd.ecce") == "0.0229"
        assert page.inner_text("dd.ece") == f"{paper.ece(n_bins=15).value:.3g}"
        page.focus("#bins-slider")
        page.keyboard.press("End")
        assert page.inner_text("#bins-count") == "4096"
        assert page.inner_text("dd.ece") == f"{paper.ece(n_bins=4096).value:.3g}"
        page.check("[value=quantile]")
        many = paper.ece(n_bins=4096, strategy="quantile")
        assert page.inner_text("dd.ece") == f"{many.value:.3g}"
        assert page.inner_text("dd.noise_floor") == f"{many.noise_floor:.3g}"
        assert page.get_attribute(".dots", "d").count("M") == 4096
        assert page.inner_text("dd.ecce") == "0.0229"


def test_dots_stand_where_bins_are(visit, paper, paper_page):
    with visit(paper_page) as page:
        bins = paper.reliability(n_bins=15)
        drawn = [each.split() for each in page.get_attribute(".dots", "d").split("M")[1:]]
        x, y = np.array([[float(a), float(b.removesuffix("h0"))] for a, b in drawn]).T
        low, high = (float(page.get_attribute(".square", f"data-{end}")) for end in ("low", "high"))
        assert low + x / 1000 * (high - low) == pytest.approx(bins.mean_score, abs=1e-4)
        assert high - y / 1000 * (high - low) == pytest.approx(bins.mean_response, abs=1e-4)


def test_rare_events_start_with_bins_of_equal_count(visit, tmp_path):
    rng = np.random.default_rng(1)
    scores = rng.beta(1, 200, 20_000)
    secant.assess(rng.random(20_000) < scores, scores).report(tmp_path / "rare.html")
    with visit(tmp_path / "rare.html") as page:
        assert page.is_checked("[value=quantile]")
        assert page.get_attribute(".dots", "d").count("M") == 15


def test_few_predictions_have_no_bins_of_equal_count(visit, tmp_path):
    secant.assess([0, 1, 1], [0.2, 0.4, 0.6]).report(tmp_path / "few.html")
    with visit(tmp_path / "few.html") as page:
        assert page.is_disabled("[value=quantile]")
        assert page.inner_text("dd.ece") == "0.400"  # (0.2 + 0.6 + 0.4) / 3


def test_models_are_chosen_by_name(visit, models, full_page):
    first, second = models.values()
    with visit(full_page) as page:
        agrees(page, first)
        page.locator("#series button", has_text="other").click()
        agrees(page, second)
        drag(page, 0.3, 0.6)
        agrees(page, second)
        assert page.locator(".bins[data-model]").count() == 2


def names_shown(page) -> list[str]:
    return page.locator(".groups tbody tr:not([hidden]) [data-group]").all_inner_texts()


def test_groups_are_sorted_searched_and_opened(visit, groups, full_page):
    with visit(full_page) as page:
        assert names_shown(page)[0] == "north"  # worst first
        page.locator("th button", has_text="predictions").click()
        shown = page.locator(".groups tbody td.number:nth-child(3)").all_inner_texts()
        counts = [int(text.replace(",", "")) for text in shown]
        assert counts == sorted(row.calibration.n for row in groups.rows)
        page.locator("th button", has_text="predictions").click()
        assert page.locator("th[aria-sort=descending]").count() == 1
        page.locator("th button", has_text="group").click()
        assert names_shown(page)[-1] == "(missing)"
        page.fill(".groups [type=search]", "OUTH")
        assert names_shown(page) == ["south"]
        assert page.inner_text(".search-count") == "1 of 5 shown"
        # Every row has such a number, and no group such a name.
        page.fill(".groups [type=search]", "0.")
        assert all("0." in row.text_content() for row in page.locator(".groups tbody tr").all())
        verdicts = page.locator(".groups tbody tr:not([hidden]) td:last-child").all_inner_texts()
        assert all("0." in verdict for verdict in verdicts)
        assert len(verdicts) < 5
        page.fill(".groups [type=search]", "")
        assert len(names_shown(page)) == 5
        assert not page.locator("#read-alone").is_visible()
        page.locator("[data-group]", has_text="north").click()
        assert "Among 5 groups some are off by chance" in page.inner_text("#read-alone")
        assert f"P is {wording.plain_pvalue(groups.rows[0].adjusted_pvalue)}: too" in (
            page.inner_text("#read-alone")
        )
        agrees(page, groups["north"])
        assert page.locator("#group-curve").is_visible()
        drag(page, 0.2, 0.7)
        agrees(page, groups["north"])
        page.locator("#series button", has_text="other").click()
        assert not page.locator("#group-curve").is_visible()
        assert not page.locator("#read-alone").is_visible()


def test_groups_of_two_models(visit, tmp_path):
    rng = np.random.default_rng(4)
    scores, region = rng.random(3000), rng.choice(["north", "south", "west"], 3000)
    happened = rng.random(3000) < scores
    forecasts = {"old": scores**1.3, HOSTILE: scores}
    models = {name: secant.assess(happened, each) for name, each in forecasts.items()}
    groups = {name: secant.assess_by(happened, each, region) for name, each in forecasts.items()}
    secant.report.write(tmp_path / "two.html", models, groups=groups)
    with visit(tmp_path / "two.html") as page:
        assert page.locator("section.groups h2").all_inner_texts() == [
            "Groups of old", f"Groups of {HOSTILE}"
        ]  # fmt: skip
        first, second = page.locator("section.groups").all()
        second.locator("[type=search]").fill("south")
        assert second.locator(".search-count").inner_text() == "1 of 3 shown"
        assert first.locator("tbody tr:not([hidden])").count() == 3
        second.locator("th button", has_text="group").click()
        assert first.locator("th[aria-sort=ascending]").count() == 0
        second.locator("[data-group]", has_text="south").click()
        agrees(page, groups[HOSTILE]["south"])
        assert page.locator("#series button").last.inner_text() == f"Group south of {HOSTILE}"
        first.locator("[data-group]", has_text="south").click()
        agrees(page, groups["old"]["south"])
        page.locator(".groups-verdict a").last.click()
        assert page.evaluate("location.hash") == f"#{second.get_attribute('id')}"


def test_hostile_names_are_text(visit, full_page):
    with visit(full_page) as page:
        assert page.locator("img").count() == 0
        assert page.inner_text("h1").startswith(HOSTILE)
        assert HOSTILE in names_shown(page)
        assert page.locator("#provenance dd", has_text=HOSTILE).count() == 2
        page.locator("[data-group]", has_text="<img").click()
        assert page.locator("#series button", has_text=HOSTILE).count() == 2


def test_groups_alone_make_a_page(visit, groups, tmp_path):
    path = tmp_path / "groups.html"
    groups.report(path, title="Groups")
    with visit(path) as page:
        agrees(page, groups["north"])
        page.locator("[data-group]", has_text="south").click()
        agrees(page, groups["south"])
        assert page.locator("#bins").count() == 0


def test_the_numbers_are_downloaded(visit, paper, paper_page, tmp_path):
    with visit(paper_page) as page:
        with page.expect_download() as waiting:
            page.click("#download")
        path = tmp_path / "numbers.json"
        waiting.value.save_as(path)
    model = json.loads(path.read_text(encoding="utf-8"))["models"][0]
    assert model["ecce_r"]["value"] == paper.ecce_r.value
    assert model["bins"]["uniform"][6]["ece"] == paper.ece(n_bins=15).value


def test_definitions_show_on_hover_and_on_focus(visit, paper_page):
    with visit(paper_page) as page:
        triangle = page.locator("#noise")
        triangle.hover()
        assert "scale of noise" in triangle.inner_text()
        word = page.locator("#metrics .term").first
        assert not word.locator("[role=tooltip]").is_visible()
        word.hover()
        assert word.locator("[role=tooltip]").is_visible()
        page.mouse.move(0, 0)
        assert not word.locator("[role=tooltip]").is_visible()
        word.focus()
        assert word.locator("[role=tooltip]").is_visible()


@pytest.mark.parametrize("width", [390, 800, 1280])
def test_definitions_stay_on_the_screen(visit, full_page, width):
    with visit(full_page, viewport={"width": width, "height": 900}) as page:
        words = page.locator(".term")
        for number in range(words.count()):
            words.nth(number).focus()
            box = words.nth(number).locator("[role=tooltip]").bounding_box()
            assert box["x"] >= 0, words.nth(number).inner_text()
            assert box["x"] + box["width"] <= width, words.nth(number).inner_text()


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


def test_labels_below_the_plot_do_not_touch(visit, paper_page):
    for width in (390, 700, 1280):
        with visit(paper_page, viewport={"width": width, "height": 800}) as page:
            spans = page.locator("#area .axis.bottom span:visible")
            boxes = [spans.nth(k).bounding_box() for k in range(spans.count())]
            assert len(boxes) >= 3
            for left, right in pairwise(boxes):
                assert left["x"] + left["width"] < right["x"]


@pytest.mark.parametrize("width", [390, 641, 1280])
def test_what_is_said_of_a_range_stands_clear_of_its_handles(visit, paper_page, width):
    with visit(paper_page, viewport={"width": width, "height": 900}) as page:
        page.locator("#area").scroll_into_view_if_needed()
        for start in np.arange(0.0, 1.0, 0.1):
            for share in (0.01, 0.1, 0.2, 0.3, 0.4, 0.6):
                drag(page, start, start + share, steps=3)
                text = page.locator("#caliper-text").bounding_box()
                left, right = text["x"], text["x"] + text["width"]
                assert text["width"] > 20
                assert 0 <= left < right <= width
                for handle in ("#from", "#to"):
                    grip = page.locator(handle).bounding_box()
                    line = grip["x"] + grip["width"] / 2
                    assert not left - 5 < line < right + 5, (start, share)


def test_the_triangle_has_its_name_where_the_curve_is_not(visit, tmp_path):
    p = np.full(2000, 0.5) + np.linspace(-0.2, 0.2, 2000)
    for name, happened, side in (("up", p < 0.4, "below"), ("down", p > 0.6, "above")):
        path = tmp_path / f"{name}.html"
        secant.assess(happened, p).report(path)
        with visit(path) as page:
            noise, said = page.locator("#noise"), page.locator("#noise .noise-name")
            assert said.inner_text() == "noise, \N{PLUS-MINUS SIGN}2\N{GREEK SMALL LETTER SIGMA}"
            triangle, box = noise.bounding_box(), said.bounding_box()
            assert noise.get_attribute("data-side") == side
            if side == "above":
                assert box["y"] + box["height"] <= triangle["y"] + 1
            else:
                assert box["y"] >= triangle["y"] + triangle["height"] - 1


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_line_among_the_bins_wears_the_colour_of_a_model(visit, full_page, scheme):
    with visit(full_page, color_scheme=scheme) as page:
        colors = [
            page.locator(each).first.evaluate("each => getComputedStyle(each).stroke")
            for each in ("path.by-bins.ecce", ".curve.model-0", ".curve.model-1")
        ]
        assert len(set(colors)) == 3


def test_a_level_has_all_its_digits(visit, tmp_path):
    secant.assess([0, 1, 1, 0], [0.1, 0.6, 0.7, 0.4], confidence_level=0.9975).report(
        tmp_path / "level.html"
    )
    with visit(tmp_path / "level.html") as page:
        assert "99.75% limits" in page.inner_text("#readout")


@pytest.mark.parametrize("kind", ["paper_page", "full_page"])
def test_it_prints_on_two_pages(visit, kind, request, tmp_path):
    with visit(request.getfixturevalue(kind)) as page:
        printed = page.pdf(path=tmp_path / "report.pdf", prefer_css_page_size=True)
    assert printed.count(b"/Type /Page\n") == 2


def test_without_predictions_it_says_so(visit, tmp_path):
    import pickle

    rng = np.random.default_rng(0)
    scores = rng.random(100_000)
    result = secant.assess(rng.random(100_000) < scores, scores)
    path = tmp_path / "gone.html"
    pickle.loads(pickle.dumps(result)).report(path)  # noqa: S301  (our own)
    with visit(path) as page:
        assert "no longer has its predictions" in page.inner_text("#bins")
        assert page.locator("#bins-slider").count() == 0
        drag(page, 0.2, 0.4)
        assert chosen(page)["n"] == pytest.approx(20_000, rel=0.02)


def test_a_finger_drags_too(visit, paper, paper_page):
    phone = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
    with visit(paper_page, **phone) as page:
        page.locator("#area").scroll_into_view_if_needed()
        box = page.locator("#area").bounding_box()
        touch = page.context.new_cdp_session(page)

        def send(kind, share=None):
            at = (
                []
                if share is None
                else [{"x": box["x"] + share * box["width"], "y": box["y"] + 80}]
            )
            touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": at})

        send("touchStart", 0.4)
        for share in np.linspace(0.42, 0.7, 15):
            send("touchMove", float(share))
        send("touchEnd")
        assert chosen(page)["n"] == pytest.approx(0.3 * paper.n, rel=0.03)
        agrees(page, paper)


def test_groups_of_two_columns_and_numbers(visit, tmp_path):
    rng = np.random.default_rng(8)
    data = {
        "happened": rng.random(2000) < 0.5,
        "forecast": rng.random(2000),
        "year": rng.integers(2, 12, 2000),
        "site": np.where(rng.random(2000) < 0.5, "a", HOSTILE),
    }
    groups = secant.assess_by("happened", "forecast", ["site", "year"], data=data)
    groups.report(tmp_path / "groups.html")
    with visit(tmp_path / "groups.html") as page:
        page.locator("th button", has_text="year").click()
        years = [
            int(year) for year in page.locator(".groups tbody td:nth-child(2)").all_inner_texts()
        ]
        assert years == sorted(row.key[1] for row in groups.rows)
        page.locator(".groups tbody tr").first.click()
        assert page.inner_text("#series button").endswith(", 2")
        assert page.evaluate("document.activeElement.id") == "whole"
        opened = page.locator(".groups tbody [aria-pressed=true]")
        agrees(page, groups[opened.inner_text(), 2])
