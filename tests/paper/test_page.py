"""The page: what it shows, and that it trusts no text."""

import re
from html.parser import HTMLParser

from secant.paper import page
from secant.paper.figures import PaperFigure
from secant.paper.reference import Comparison

FIGURES = [
    PaperFigure(1, "First", "What to see.", None),
    PaperFigure(36, "Last", "What else to see.", None),
]


def render(figures=FIGURES, compared=None, **options):
    options = {"formats": ("pdf", "png"), "version": "1.2.3", **options}
    return page.render(figures, {} if compared is None else compared, **options)


class Reader(HTMLParser):
    """Collects tags and checks that those that open also close."""

    def __init__(self):
        super().__init__()
        self.open, self.tags = [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def tags(text, name):
    reader = Reader()
    reader.feed(text)
    assert reader.open == []
    return [attributes for tag, attributes in reader.tags if tag == name]


def test_every_figure_with_caption_and_files():
    text = render()
    assert [image["src"] for image in tags(text, "img")] == ["figure01.png", "figure36.png"]
    assert [image["alt"] for image in tags(text, "img")] == ["Figure 1: First", "Figure 36: Last"]
    links = [link["href"] for link in tags(text, "a")]
    assert {"figure01.pdf", "figure01.png", "figure36.pdf", "statistics.json"} <= set(links)
    assert {"#figure1", "#figure36"} <= set(links)
    assert "What to see." in text
    assert "secant 1.2.3" in text


def test_nothing_is_fetched_from_elsewhere():
    text = render()
    assert not tags(text, "script")
    assert not tags(text, "link")
    assert not [image for image in tags(text, "img") if "/" in image["src"]]
    assert "@import" not in text
    assert "url(" not in text


def test_without_png_there_are_links_alone():
    text = render(formats=("pdf",))
    assert tags(text, "img") == []
    assert 'href="figure01.pdf"' in text


def test_numbers_stand_beside_each_other_with_a_verdict_in_words():
    compared = {
        1: [
            Comparison("ECCE-R", "0.0229126", "0.02291", agrees=True),
            Comparison("P-value", "1.2e-23", "0", agrees=False, note="Rounding."),
        ]
    }
    text = render(compared=compared)
    rows = re.findall(r"<tr>(.*?)</tr>", text, flags=re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows[1:]]
    assert cells == [
        ["ECCE-R", "0.0229126", "0.02291", "match", ""],
        ["P-value", "1.2e-23", "0", "differs", "Rounding."],
    ]
    assert "Of 2 comparisons with the paper, 1 match and 1 differs." in text
    assert text.count("prints no number beside this figure") == 1


def test_differences_are_stated_with_reasons():
    text = render()
    for name in ("Genuine bins", "P-values below 1e-16", "Grey lines"):
        assert f"<dt>{name}</dt>" in text


def test_what_was_left_out_is_said():
    assert "Left out" not in render()
    assert "Left out of this run: Figures 2, 3." in render(left_out=[2, 3])


def test_other_pages_are_named():
    text = render(also={"imagenet.html": "Figures 11 to 34"})
    assert '<a href="imagenet.html">Figures 11 to 34</a>' in text


def test_text_is_escaped():
    evil = "<script>alert('&')</script>\""
    figure = PaperFigure(1, evil, evil, None)
    text = render(
        [figure],
        {1: [Comparison(evil, evil, evil, agrees=False, note=evil)]},
        version=evil,
        also={evil: evil},
    )
    assert "<script" not in text
    assert not tags(text, "script")
    assert text.count("&lt;script&gt;alert(&#x27;&amp;&#x27;)&lt;/script&gt;&quot;") == 10
