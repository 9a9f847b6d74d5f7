"""How results look where nobody printed them: at a prompt, and in a notebook."""

from __future__ import annotations

import shutil
import sys
import textwrap
from abc import ABC, abstractmethod

__all__ = ["Shown", "to_width"]


class Shown(ABC):
    r"""A result that is shown as it is printed; its first sentence stands out in a notebook.

    Examples
    --------
    >>> class Answer(Shown):
    ...     def _text(self):
    ...         return "It is 3 < 4. Certainly.\nNote: always."
    >>> Answer()
    It is 3 < 4. Certainly.
    Note: always.
    >>> Answer()._repr_html_()
    '<div><b>It is 3 &lt; 4.</b> Certainly.<br>Note: always.</div>'
    """

    __slots__ = ()

    @abstractmethod
    def _text(self) -> str:
        """Return what there is to say, a line a thought however long it is."""

    def __str__(self) -> str:
        return to_width(self._text())

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415  (its tables cost more to load than all of this module)

        first, *others = self._text().split("\n")
        headline, end, rest = first.partition(". ")
        start = f"<b>{escape(headline + end.rstrip())}</b>{' ' if rest else ''}{escape(rest)}"
        return f"<div>{'<br>'.join([start, *map(escape, others)])}</div>"


def to_width(text: str) -> str:
    """Return a text whose sentences end lines where the terminal does; elsewhere as it is.

    A terminal cuts words that do not fit its last column. Lines of a table stay: their columns are
    told by two spaces. What is written to a file or a pipe has no width.
    """
    if sys.stdout is None or not sys.stdout.isatty():
        return text
    width = max(shutil.get_terminal_size().columns, 20)
    wrap = textwrap.TextWrapper(width, break_long_words=False, break_on_hyphens=False)
    fits = (
        [line] if len(line) <= width or "  " in line else wrap.wrap(line)
        for line in text.split("\n")
    )
    return "\n".join(each for lines in fits for each in lines)
