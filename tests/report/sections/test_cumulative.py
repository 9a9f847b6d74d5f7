"""The secant tool: any range of scores, read with the pointer, a finger or the keyboard."""

import numpy as np
import pytest

import secant
from pages import agrees, chosen, drag
from secant._results import wording


def test_the_worst_range_is_read_first(visit, paper, paper_page):
    with visit(paper_page) as page:
        agrees(page, paper)
        assert page.inner_text("#read-says") == (
            "Scores 0.292 to 1.000, 29,955 predictions: mean forecast 71.1%, mean outcome 68.6%, "
            "too high by 2.51 points (1.87 to 3.15)."
        )


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
            ".observe(document.querySelector('#read-says span'), {childList: true})"
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


def test_each_piece_the_steepest_place_and_everything_are_buttons(visit, paper, paper_page):
    with visit(paper_page) as page:
        buttons = page.locator("#presets button")
        texts = buttons.all_inner_texts()
        assert [text.partition(": ")[0] for text in texts] == [
            "0.292 to 1.000",
            "0.026 to 0.292",
            "Steepest, 0.004 to 0.213",
            "All predictions",
        ]
        assert [text.rpartition(", ")[2] for text in texts] == [
            "too high", "too low", "too low", "too high"
        ]  # fmt: skip
        found = [*paper.intervals, paper.steepest, paper.between(0, 1)]
        for number, each in enumerate(found):
            buttons.nth(number).click()
            assert buttons.nth(number).get_attribute("aria-pressed") == "true"
            assert (chosen(page)["low"], chosen(page)["high"]) == (each.low, each.high)
            agrees(page, paper)
        assert page.locator("#found rect").count() == 2
        assert page.locator("#signs span").all_inner_texts() == [
            "\N{MINUS SIGN} too high",
            "+ too low",
        ]


def test_noise_has_no_direction(visit, tmp_path):
    rng = np.random.default_rng(0)
    p = rng.random(2000)
    result = secant.assess(rng.random(2000) < p, p)
    assert not result.found
    result.report(tmp_path / "noise.html")
    with visit(tmp_path / "noise.html") as page:
        for words in (page.inner_text("#secant"), page.inner_text(".verdicts")):
            assert "too high" not in words
            assert "too low" not in words
        assert "could be noise" in page.inner_text("#presets")
        assert "could be noise" in page.inner_text("#caliper-text")
        assert page.get_attribute("#readout", "data-mood") == "unsure"
        agrees(page, result)


def test_times_are_no_finer_than_they_are(visit, tmp_path):
    rng = np.random.default_rng(0)
    hours = np.datetime64("2026-03-01T00", "us") + np.arange(3000) * np.timedelta64(1, "h")
    p = rng.random(3000)
    secant.assess(rng.random(3000) < p**2, p, order_by=hours).report(tmp_path / "times.html")
    with visit(tmp_path / "times.html") as page:
        words = page.inner_text("#presets") + page.inner_text("#read-says")
        assert "2026-03-01 15:00 to 2026-07-03 23:00" in words
        assert ":00:00" not in words
        assert ".000" not in words


def test_scores_below_1_are_not_written_as_1(visit, tmp_path):
    y, p = [0, 1] * 30, np.repeat([0.2, 0.999999], 30)
    result = secant.assess(y, p)
    result.report(tmp_path / "sure.html")
    with visit(tmp_path / "sure.html") as page:
        assert "Scores of 0.999999" in str(result)
        words = page.inner_text("#presets") + page.inner_text("#read-says")
        assert "0.999999" in words
        assert "1.000" not in words


def test_models_are_chosen_by_name(visit, models, full_page):
    first, second = models.values()
    with visit(full_page) as page:
        agrees(page, first)
        page.locator("#series button", has_text="other").click()
        agrees(page, second)
        drag(page, 0.3, 0.6)
        agrees(page, second)
        assert page.locator(".bins[data-model]").count() == 2


HANDLES = ["#from", "#to"]
BOXES = "names => names.map(name => document.querySelector(name).getBoundingClientRect().toJSON())"


@pytest.mark.parametrize("width", [390, 641, 1280])
def test_what_is_said_of_a_range_stands_clear_of_its_handles(visit, paper_page, width):
    with visit(paper_page, viewport={"width": width, "height": 900}) as page:
        page.locator("#area").scroll_into_view_if_needed()
        for start in np.arange(0.0, 1.0, 0.1):
            for share in (0.01, 0.1, 0.2, 0.3, 0.4, 0.6):
                drag(page, start, start + share, steps=3)
                text, whole, *grips = page.evaluate(BOXES, ["#caliper-text", "#whole", *HANDLES])
                assert text["right"] - text["left"] > 20
                assert 0 <= text["left"] < text["right"] <= width
                assert "points, " in page.inner_text("#caliper-text")
                for grip in grips:
                    line = (grip["left"] + grip["right"]) / 2
                    beside = not text["left"] - 5 < line < text["right"] + 5
                    assert text["bottom"] <= whole["top"] or beside, (start, share)


def test_a_level_has_all_its_digits(visit, tmp_path):
    secant.assess([0, 1, 1, 0], [0.1, 0.6, 0.7, 0.4], confidence_level=0.9975).report(
        tmp_path / "level.html"
    )
    with visit(tmp_path / "level.html") as page:
        assert page.inner_text("#read-level") == "99.75% limits"
