"""Names from data, written so that they stay what they are: names."""

from __future__ import annotations

import re

__all__ = ["visible"]

# What moves, colours or reorders the text around it, or is no character at all: control codes, ends
# of lines and paragraphs, directions of writing, marks of encodings, halves of surrogate pairs (as
# which bytes of file names arrive that are not UTF-8).
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff]"
)


def visible(name: str) -> str:
    r"""Write a name from data in one line: what would move or colour the output is spelt out.

    Examples
    --------
    >>> visible("two\nlines, \x1b[31mred")
    'two\\nlines, \\x1b[31mred'
    """
    return _HIDDEN.sub(lambda found: found[0].encode("unicode_escape").decode(), name)
