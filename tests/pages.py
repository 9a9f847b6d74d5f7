"""A report, read by a test: as text, and in a browser as its reader does."""

import json
from html.parser import HTMLParser

import pytest

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
    if result.steepest is not None and (truth.low, truth.high) == (
        result.steepest.low,
        result.steepest.high,
    ):
        truth = result.steepest  # the same range with limits of its own
    assert read["n"] == truth.n
    assert (read["low"], read["high"]) == (truth.low, truth.high)
    assert read["gap"] == pytest.approx(truth.miscalibration, rel=1e-9, abs=1e-12)
    assert read["forecast"] == pytest.approx(truth.mean_score, rel=1e-9, abs=1e-12)
    assert read["happened"] == pytest.approx(truth.mean_response, rel=1e-9, abs=1e-12)
    assert read["limits"] == pytest.approx(truth.ci, rel=1e-9, abs=1e-12)
    # What is written is what the library prints.
    said = page.inner_text("#read-says").replace("\N{MINUS SIGN}", "-")
    assert said == str(truth)


def drag(page, start: float, stop: float, steps: int = 30) -> None:
    """Drag over the plot between two shares of its width."""
    page.locator("#area").scroll_into_view_if_needed()
    box = page.locator("#area").bounding_box()
    middle = box["y"] + box["height"] * 0.5
    page.mouse.move(box["x"] + start * box["width"], middle)
    page.mouse.down()
    page.mouse.move(box["x"] + stop * box["width"], middle, steps=steps)
    page.mouse.up()


def names_shown(page) -> list[str]:
    """Return the names of the groups that the table shows, in their order."""
    return page.locator(".groups tbody tr:not([hidden]) [data-group]").all_inner_texts()
