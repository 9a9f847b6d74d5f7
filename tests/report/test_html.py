"""Text from data is text, never markup."""

import json
import re

from hypothesis import given
from hypothesis import strategies as st

from pages import Outline
from secant.report._html import Markup, data_block, join, tag


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


def test_attributes():
    made = tag("td", data_row=3, class_="a b", hidden=True, title=None, open=False)
    assert made == '<td data-row="3" class="a b" hidden></td>'
    assert tag("input", "lost", value='"') == '<input value="&quot;">'  # it holds nothing


def test_side_by_side():
    assert join("<", None, tag("br"), 3) == "&lt;<br>3"
    assert isinstance(join("<"), Markup)
