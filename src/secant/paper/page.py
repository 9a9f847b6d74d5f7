"""The page that shows every figure, with our numbers beside the paper's."""

from __future__ import annotations

from html import escape
from types import MappingProxyType
from typing import TYPE_CHECKING

from secant.report._html import Markup, join, row, table, tag

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from secant.paper.figures import PaperFigure
    from secant.paper.reference import Comparison

__all__ = ["DIFFERENCES", "STYLE", "caption", "document", "image", "render", "spaced"]

_S = "\N{RIGHT SINGLE QUOTATION MARK}s"

DIFFERENCES = {
    "Genuine bins": (
        "Equispaced bins are closed on the right, and a row goes into the bin its score lies in. "
        f"The paper{_S} code moves on by at most one bin from one row to the next, so that after "
        "an empty bin it puts rows in a wrong one. With n = 32,768 this happens to square-rooted "
        "scores from 512 bins on."
    ),
    "P-values below 1e-16": (
        "The paper subtracts a distribution function from one, which leaves 0 (or less) where the "
        "P-value is below the rounding error of 1. We add up the tail itself, so a small P-value "
        "keeps its digits."
    ),
    "Grey lines": (
        "The lines of resampled data in the reliability diagrams are random. We draw ours with a "
        "fixed seed of our own; they mean the same and are not the same."
    ),
}
"""Where our results are not the paper's, and why: short names and explanations."""

_TITLE = "Metrics of calibration for probabilistic predictions, reproduced"
_PAPER = (
    "I. Arrieta-Ibarra, P. Gujral, J. Tannen, M. Tygert, C. Xu (2022). "
    "\N{LEFT DOUBLE QUOTATION MARK}Metrics of calibration for probabilistic predictions."
    "\N{RIGHT DOUBLE QUOTATION MARK} Journal of Machine Learning Research 23(351)."
)
_DOI = "https://doi.org/10.48550/arXiv.2205.09680"
STYLE = """
:root { color-scheme: light; --ink: #1f2328; --muted: #59636e; --line: #d8dde3; }
body { margin: 2.5rem auto 4rem; padding: 0 1.25rem; max-width: 56rem; color: var(--ink);
  font: 1rem/1.55 system-ui, sans-serif; }
h1 { font-size: 1.7rem; line-height: 1.25; margin: 0 0 .75rem; }
h2 { font-size: 1.15rem; margin: 0 0 .5rem; }
p, dl { max-width: 44rem; }
nav a { display: inline-block; padding: 0 .45rem; }
nav a:first-of-type { padding-left: 0; }
a { color: #0a5aa0; }
dt { font-weight: 600; }
dd { margin: 0 0 .6rem; }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: 1.5rem; }
figure { margin: 0; }
img { display: block; max-width: 100%; height: auto; margin: 0 0 .75rem; }
figcaption { max-width: 44rem; }
.muted { color: var(--muted); font-size: .9rem; }
.table { overflow-x: auto; }
table { border-collapse: collapse; margin-top: 1rem; font-size: .9rem; }
th, td { text-align: left; vertical-align: top; padding: .3rem .9rem .3rem 0;
  border-bottom: 1px solid var(--line); }
td:first-child { min-width: 9rem; }
td:last-child { min-width: 16rem; }
td.number { font-variant-numeric: tabular-nums; white-space: nowrap; }
td.differs { color: #a33e00; font-weight: 600; }
@media print { section { break-inside: avoid; } nav { display: none; } }
"""
"""How the pages look."""

_NOTHING_PRINTED = "The paper prints no number beside this figure that we could compare with."


def render(
    figures: Sequence[PaperFigure],
    compared: Mapping[int, Sequence[Comparison]],
    *,
    formats: Sequence[str],
    version: str,
    left_out: Iterable[int] = (),
    also: Mapping[str, str] = MappingProxyType({}),
) -> str:
    """Return the page.

    Parameters
    ----------
    figures : sequence of PaperFigure
        What was drawn, in the order to show.
    compared : mapping from int to sequence of Comparison
        Our numbers beside the paper's, by number of figure.
    formats : sequence of str
        The formats the figures were written in.
    version : str
        Version of secant.
    left_out : iterable of int
        Figures that were left out of this run.
    also : mapping from str to str
        Other pages beside this one: names of files, and what they show.

    Returns
    -------
    str
        HTML that needs no other file than the figures beside it.
    """
    numbers = [figure.number for figure in figures]
    rest = ", ".join(map(str, left_out))
    return document(
        _TITLE,
        STYLE,
        [
            tag("h1", _TITLE),
            tag("p", f"{_PAPER} ", tag("a", _DOI, href=_DOI), class_="muted"),
            tag("p", _summary([row for number in numbers for row in compared.get(number, ())])),
            *([tag("p", f"Left out of this run: Figures {rest}.")] if rest else []),
            tag(
                "nav",
                "Figures ",
                spaced(tag("a", number, href=f"#figure{number}") for number in numbers),
                aria_label="Figures",
            ),
            *(tag("p", tag("a", what, href=file)) for file, what in also.items()),
            _differences(),
            *(_section(figure, compared.get(figure.number, ()), formats) for figure in figures),
            _footer(version),
        ],
    )


def document(title: str, style: str, body: Iterable[str]) -> str:
    """Return a page: its head, and the lines of its body, which are HTML."""
    head = [
        '<!DOCTYPE html>\n<html lang="en">\n<head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        tag("title", title),
        f"{tag('style', Markup(style))}</head>\n<body>",
    ]
    return "\n".join([*head, *body, "</body></html>\n"])


def image(figure: PaperFigure, formats: Sequence[str], alt: str) -> Markup:
    """Show a figure that was written as PNG; without, nothing."""
    shown = f'<img src="{figure.stem}.png" alt="{escape(alt)}">' if "png" in formats else ""
    return Markup(shown)


def caption(figure: PaperFigure, formats: Sequence[str], *words: object) -> Markup:
    """Say what to see in a figure after some words, with links to its files."""
    files = spaced(tag("a", each.upper(), href=f"{figure.stem}.{each}") for each in formats)
    return tag("figcaption", *words, f"{figure.caption} ", tag("span", files, class_="muted"))


def spaced(pieces: Iterable[Markup]) -> Markup:
    """Put pieces of HTML side by side."""
    return Markup(" ".join(pieces))


def _footer(version: str) -> Markup:
    words = f"Made by secant {version}. Every number of the synthetic experiments is in "
    link = tag("a", "statistics.json", href="statistics.json")
    return tag("section", tag("p", words, link, "."), class_="muted")


def _summary(rows: Sequence[Comparison]) -> str:
    """Say how many comparisons agree."""
    if not rows:
        return "The paper prints no numbers beside these figures."
    differ = sum(not row.agrees for row in rows)
    text = (
        f"Of {len(rows)} comparisons with the paper, {len(rows) - differ} match "
        f"and {differ} {'differs' if differ == 1 else 'differ'}."
    )
    text += " The reasons stand beside those that differ, and below." if differ else ""
    return (
        f"{text} A printed number matches when ours rounds to it; a value of the paper{_S} "
        "code when it is ours to a relative 1e-12."
    )


def _differences() -> Markup:
    items = [join(tag("dt", name), tag("dd", text)) for name, text in DIFFERENCES.items()]
    return tag(
        "section",
        tag("h2", "Where we differ from the paper, and why"),
        "\n",
        tag("dl", Markup("\n".join(["", *items, ""]))),
    )


def _section(figure: PaperFigure, rows: Sequence[Comparison], formats: Sequence[str]) -> str:
    """Show one figure with its caption and its numbers."""
    name = f"Figure {figure.number}"
    return "\n".join(
        [
            f'<section id="figure{figure.number}"><figure>',
            tag("h2", f"{name}. {figure.title}"),
            image(figure, formats, f"{name}: {figure.title}"),
            caption(figure, formats),
            "</figure>",
            _compared(rows) if rows else tag("p", _NOTHING_PRINTED, class_="muted"),
            "</section>",
        ]
    )


def _compared(rows: Sequence[Comparison]) -> Markup:
    """Put our numbers beside the paper's."""
    names = ("Number", "Here", "Paper", "Verdict", "Note")
    return table([(name, "") for name in names], map(_line, rows))


def _line(found: Comparison) -> Markup:
    verdict = "match" if found.agrees else "differs"
    cells = (found.what, found.ours, found.theirs, verdict, found.note)
    return row(cells, ("", "number", "number", verdict, ""))
