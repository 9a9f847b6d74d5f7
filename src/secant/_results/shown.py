"""How results look where nobody printed them: at a prompt, and in a notebook."""

from __future__ import annotations

__all__ = ["Shown"]


class Shown:
    r"""A result that is shown as it is printed; its first sentence stands out in a notebook.

    Examples
    --------
    >>> class Answer(Shown):
    ...     def __str__(self):
    ...         return "It is 3 < 4. Certainly.\nNote: always."
    >>> Answer()
    It is 3 < 4. Certainly.
    Note: always.
    >>> Answer()._repr_html_()
    '<div><b>It is 3 &lt; 4.</b> Certainly.<br>Note: always.</div>'
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        from html import escape  # noqa: PLC0415  (its tables cost more to load than all of this module)

        first, *others = str(self).split("\n")
        headline, end, rest = first.partition(". ")
        start = f"<b>{escape(headline + end.rstrip())}</b>{' ' if rest else ''}{escape(rest)}"
        return f"<div>{'<br>'.join([start, *map(escape, others)])}</div>"
