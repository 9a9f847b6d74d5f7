"""Names from data: what would act is spelt out, what is a character stays."""

import sys
import unicodedata

import pytest

from secant._base.visible import visible


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("plain", "plain"),
        ("a\nb", r"a\nb"),
        ("\x1b[31m", r"\x1b[31m"),
        ("\x9b", r"\x9b"),
        ("\u202e", r"\u202e"),
        ("\udcff", r"\udcff"),
        (r"C:\new", r"C:\new"),
        ("漢字 e\u0301 👩\u200d🚀", "漢字 e\u0301 👩\u200d🚀"),
    ],
)
def test_what_is_shown(name, shown):
    assert visible(name) == shown
    assert visible(shown) == shown


def test_every_character_there_is():
    """Letters, marks, numbers, signs and spaces stay; codes, surrogates and directions do not."""
    directions = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
    for each in map(chr, range(sys.maxunicode + 1)):
        kind = unicodedata.category(each)
        acts = kind in {"Cc", "Cs", "Zl", "Zp"} or unicodedata.bidirectional(each) in directions
        if acts:
            assert visible(each) != each
            assert visible(each).isascii()
        elif kind[0] in "LMNPS" or kind == "Zs":
            assert visible(each) == each
