"""Words that stay inside a figure which nobody lays out.

A layout engine moves axes until their labels have room. Without one, as in ``plt.subplots()``, axes
stay where they are, and what is written beside them must do with the margins they have. The axes
and the figure are not ours to change; the words are.
"""

from __future__ import annotations

import math
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, cast

from secant._drawing import style

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Text
    from matplotlib.transforms import Bbox, BboxBase

__all__ = ["Captions", "make_room", "room_below", "write_title"]

# Points between what is written and what it belongs to, where every point counts.
_PAD = 2
# Steps of the ordinate when its numbers must be short.
_FEW_STEPS = 3
# Size of the smallest numbers, relative to the size of text.
_SMALLEST = 0.7
# Pixels by which what is written may touch something else.
_TOUCH = 0.5
# The name of an ordinate may be longer than the axes are high by this factor.
_LONGEST = 1.1


class Captions(NamedTuple):
    """What a display writes beside axes, and how it says that in fewer words."""

    title: str
    short_title: str
    ordinate: str
    short_ordinate: str
    short_abscissa: str = ""


def write_title(ax: Axes, name: str | None, words: Captions, title: str | None = None) -> None:
    """Give axes a title, after the name of a model, unless they have one that is not ours.

    A title that somebody sets later, anywhere above the axes, takes ours away.
    """
    if title is not None:
        ax.set_title(title, loc="left")
        return
    if any(ax.get_title(side) for side in ("center", "right")):
        return
    if (before := _our_title(ax, words)) is None:
        return
    fits = style.text_width(words.title, float(ax.title.get_fontsize())) < (
        style.inches(ax)[0] + 0.5
    )
    said = words.title if fits else words.short_title
    if before.said == words.short_ordinate:  # an earlier display had no other place for it
        said = before.said
    ours = ax.set_title(f"{name}\n{said}" if name else said, loc="left")

    def give_way(theirs: Any) -> None:
        if theirs.get_text() and _our_title(ax, words) is not None:
            ours.set_text("")

    for place in (ax.title, ax.set_title("", loc="right")):
        place.add_callback(give_way)


def make_room(ax: Axes, words: Captions, upper: Axes | None = None) -> None:
    """Write smaller and then less beside axes, until it fits, unless a layout engine makes room.

    Parameters
    ----------
    ax : Axes
        The axes, drawn.
    words : Captions
        How the display can say it.
    upper : Axes, optional
        The upper axis.
    """
    if ax.figure.get_layout_engine() is not None:
        return
    taken = [box for other in _others(ax) for box in (*_boxes(other), _window(other))]

    def clear(*boxes: Bbox | None) -> bool:
        return all(_clear(box, taken, ax.figure.bbox) for box in boxes if box is not None)

    _until(
        lambda: clear(ax.yaxis.get_tightbbox()) and _beside(ax),
        lambda: _smaller_ordinate(ax),
        lambda: _fewer_steps(ax),
        lambda: _ordinate_as_title(ax, words),
        lambda: ax.set_ylabel(""),
        lambda: _bare_steps(ax),
        lambda: ax.tick_params(axis="y", labelleft=False),
    )
    _until(
        lambda: clear(*_below(ax, upper)),
        lambda: _smaller_abscissa(ax, words),
        lambda: _ends_inside(ax, *_rows(ax, upper)),
        lambda: ax.set_xlabel(""),
        lambda: _smallest_scores(ax),
    )
    _until(
        lambda: clear(*_above(ax, upper)),
        lambda: _closer_title(ax, words, upper),
        lambda: _one_line(ax, words),
        lambda: _unnamed(upper),
        lambda: _hidden(upper),
        lambda: _smaller_title(ax, words),
        lambda: _no_title(ax, words),
    )
    _within_width(ax, words)
    _give_way_later(ax, words, upper)


def _give_way_later(ax: Axes, words: Captions, upper: Axes | None) -> None:
    """Write less when somebody gives these axes, or those below, a title later on."""

    def own(title: Text) -> None:
        others = _nearest(ax, above=True)
        taken = [box for other in others for box in (*_boxes(other), _window(other))]
        _until(
            lambda: _clear(title.get_window_extent(), taken, ax.figure.bbox),
            lambda: _unnamed(upper),
            lambda: _hidden(upper),
            lambda: _close_to(ax, title),
        )

    def of_other(other: Axes, title: Text) -> None:
        def apart() -> bool:
            other.get_tightbbox()  # as in _above
            box = title.get_window_extent()
            return not any(part is not None and _touch(part, box) for part in _below(ax, upper))

        _until(
            apart,
            lambda: _close_to(other, title),
            lambda: _smaller_abscissa(ax, words),
            lambda: _ends_inside(ax, *_rows(ax, upper)),
            lambda: ax.set_xlabel(""),
            lambda: _smallest_scores(ax),
            lambda: ax.tick_params(axis="x", labelbottom=False),
        )

    _when_titled(ax, words, own)
    for other in _nearest(ax, above=False):
        _when_titled(other, words, partial(of_other, other))


def _when_titled(ax: Axes, words: Captions, then: Callable[[Text], None]) -> None:
    """Have something done when axes get a title that is not ours, and nobody lays them out."""
    busy = False

    def changed(title: Any) -> None:
        nonlocal busy
        left = title.get_text() == ax.get_title("left")  # where ours stand
        ours = left and (not words.title or _our_title(ax, words) is not None)
        laid_out = ax.figure.get_layout_engine() is not None
        if busy or ours or laid_out or not title.get_text():
            return
        busy = True
        try:
            ax.get_tightbbox()  # as in _above
            then(title)
        finally:
            busy = False

    for place in _titles(ax):
        place.add_callback(changed)


def _nearest(ax: Axes, *, above: bool) -> list[Axes]:
    """Return the axes right above or below others."""
    here = _window(ax)
    gaps = []
    for other in _others(ax):
        box = _window(other)
        gap = box.y0 - here.y1 if above else here.y0 - box.y1
        if gap >= -_TOUCH and box.x0 < here.x1 and here.x0 < box.x1:
            gaps.append((gap, other))
    least = min((gap for gap, _ in gaps), default=0.0)
    return [other for gap, other in gaps if gap <= least + _TOUCH]


def room_below(ax: Axes) -> float:
    """Return how many inches there are below axes; with a layout engine, as many as it takes."""
    if ax.figure.get_layout_engine() is not None:
        return math.inf
    inside = ax.get_window_extent()
    edges = [
        box.y1
        for box in map(_window, _others(ax))
        if box.y1 <= inside.y0 and box.x0 < inside.x1 and inside.x0 < box.x1
    ]
    return float(inside.y0 - max(edges, default=ax.figure.bbox.y0)) / ax.figure.dpi


def _until(fits: Callable[[], bool], *steps: Callable[[], object]) -> None:
    for step in steps:
        if fits():
            return
        step()


# --- whether it fits ------------------------------------------------------------------------------


def _clear(box: Bbox, taken: Sequence[Bbox], paper: BboxBase) -> bool:
    """Tell whether something is on the paper and touches nothing of other axes."""
    if not (box.width > 0 and box.height > 0):
        return True
    inside = min(box.x0 - paper.x0, box.y0 - paper.y0, paper.x1 - box.x1, paper.y1 - box.y1)
    return inside >= 0 and not any(_touch(box, other) for other in taken)


def _touch(a: Bbox, b: Bbox) -> bool:
    return bool(min(a.x1 - b.x0, b.x1 - a.x0, a.y1 - b.y0, b.y1 - a.y0) > _TOUCH)


def _boxes(ax: Axes) -> list[Bbox]:
    """Return the places of what is written beside axes."""
    parts = [ax.yaxis.get_tightbbox(), *_below(ax, None), *_above(ax, None)]
    return [part for part in parts if part is not None]


def _beside(ax: Axes) -> bool:
    """Tell whether the name of the ordinate is hardly longer than the axes are high."""
    label = ax.yaxis.label.get_window_extent() if ax.get_ylabel() else None
    return label is None or label.height <= _LONGEST * _window(ax).height


def _below(ax: Axes, upper: Axes | None) -> list[Bbox | None]:
    markers = [line.get_window_extent() for line in ax.artists]
    return [ax.xaxis.get_tightbbox(), *(row.get_tightbbox() for row in _rows(ax, upper)), *markers]


def _rows(ax: Axes, upper: Axes | None) -> list[Axes]:
    children = cast("list[Axes]", ax.child_axes)
    return [child for child in children if child is not upper and child.get_visible()]


def _above(ax: Axes, upper: Axes | None) -> list[Bbox | None]:
    ax.get_tightbbox()  # which moves titles to where they will be
    ours = [None if upper is None or not upper.get_visible() else upper.get_tightbbox()]
    return ours + [text.get_window_extent() for text in _titles(ax) if text.get_text()]


def _titles(ax: Axes) -> list[Text]:
    """Return the titles at the left, in the middle and at the right."""
    from matplotlib.text import Text  # noqa: PLC0415  (imported only when drawing)

    texts = [child for child in ax.get_children() if isinstance(child, Text)]
    return [text for text in texts if text not in ax.texts]


def _others(ax: Axes) -> list[Axes]:
    return [other for other in ax.figure.axes if other is not ax and other.get_visible()]


def _window(ax: Axes) -> Bbox:
    return ax.get_window_extent()


# --- what can be done -----------------------------------------------------------------------------


def _smaller_ordinate(ax: Axes) -> None:
    small = style.SMALL * float(ax.xaxis.label.get_fontsize())
    ax.tick_params(axis="y", labelsize=small, pad=_PAD)
    ax.yaxis.label.set_fontsize(small)
    ax.yaxis.labelpad = 1


def _smaller_abscissa(ax: Axes, words: Captions) -> None:
    """Write the abscissa smaller, close to the axes and with a short name."""
    small = style.SMALL * float(ax.yaxis.label.get_fontsize())
    ax.tick_params(axis="x", labelsize=small, pad=min(_PAD, ax.xaxis.get_tick_padding()))
    ax.xaxis.label.set_fontsize(small)
    ax.xaxis.labelpad = min(ax.xaxis.labelpad, 1)
    if words.short_abscissa and ax.get_xlabel().startswith(words.short_abscissa):
        ax.set_xlabel(words.short_abscissa)


def _smallest_scores(ax: Axes) -> None:
    """Write the numbers of the abscissa as small as can be read, right below their ticks."""
    size = _SMALLEST * float(ax.yaxis.label.get_fontsize())
    ax.tick_params(axis="x", labelsize=size, pad=min(1, ax.xaxis.get_tick_padding()))
    for which in ("major", "minor"):
        ax.tick_params(axis="x", which=which, length=_PAD)


def _close_to(ax: Axes, title: Text) -> None:
    """Move a title close to axes that have nothing else above."""
    from matplotlib.transforms import offset_copy  # noqa: PLC0415  (imported only when drawing)

    figure = cast("Figure", ax.figure)
    title.set_transform(offset_copy(ax.transAxes, fig=figure, y=_PAD, units="points"))


def _ends_inside(*rows: Axes) -> None:
    """Let the first and the last number of rows of scores end where the axes do."""
    for labels in (row.get_xticklabels() for row in rows):
        if len(labels) < 2:
            continue
        labels[0].set_horizontalalignment("left")
        labels[-1].set_horizontalalignment("right")
        # What stood beside them makes way.
        for end, others in ((labels[0], labels[1:-1]), (labels[-1], labels[-2:0:-1])):
            for other in others:
                if not _touch(other.get_window_extent(), end.get_window_extent()):
                    break
                other.set_visible(False)


def _fewer_steps(ax: Axes) -> None:
    """Let the ordinate have few round values, and write them as shortly as can be."""
    from matplotlib.ticker import MaxNLocator  # noqa: PLC0415  (imported only when drawing)

    steps = max(1, min(_FEW_STEPS, ax.yaxis.get_tick_space()))  # counts below have room for one
    ax.yaxis.set_major_locator(MaxNLocator(steps, steps=[1, 2, 5, 10]))
    ax.yaxis.set_major_formatter(lambda value, _: _shortest(value))


def _shortest(value: float) -> str:
    """Write a round number plainly, or with a power of ten where that is shorter.

    Examples
    --------
    >>> [_shortest(each) for each in (0.0, 0.5, 0.02, 0.002, 0.0015)]
    ['0', '0.5', '0.02', '2e-3', '0.0015']
    """
    digits, power = f"{value:.1e}".split("e")
    plain, scientific = f"{value:g}", f"{digits.removesuffix('.0')}e{int(power)}"
    return min(plain, scientific, key=len).replace("-", "\N{MINUS SIGN}", 1 if value < 0 else 0)


def _bare_steps(ax: Axes) -> None:
    """Write the values of the ordinate without the nought before the point, and small."""
    ax.yaxis.set_major_formatter(lambda value, _: _shortest(value).replace("0.", ".", 1))
    ax.tick_params(axis="y", labelsize=0.75 * float(ax.xaxis.label.get_fontsize()), pad=1, length=2)


def _ordinate_as_title(ax: Axes, words: Captions) -> None:
    """Name the ordinate above the axes, in place of our title."""
    if (ours := _our_title(ax, words)) is not None and ours.said:
        said = words.short_ordinate
        ax.set_title(f"{ours.name}\n{said}" if ours.name else said, loc="left")
        ax.set_ylabel("")


def _within_width(ax: Axes, words: Captions) -> None:
    """Write the name of the ordinate no wider than the axes above which it stands."""
    if (
        (ours := _our_title(ax, words)) is not None
        and ours.said
        and ours.said == words.short_ordinate
    ):
        title = next(text for text in _titles(ax) if text.get_text() == ax.get_title("left"))
        room = _window(ax).width / title.get_window_extent().width
        title.set_fontsize(min(room, 1) * float(title.get_fontsize()))


def _closer_title(ax: Axes, words: Captions, upper: Axes | None) -> None:
    """Write the upper axis smaller, and our title close to it."""
    if upper is not None:
        small = style.SMALL * float(ax.xaxis.label.get_fontsize())
        upper.tick_params(axis="x", labelsize=small, pad=_PAD, length=_PAD)
        upper.xaxis.label.set_fontsize(small)
        upper.xaxis.labelpad = _PAD + 1
    if _our_title(ax, words) not in (None, _Title("", "")):
        ax.set_title(ax.get_title("left"), loc="left", pad=_PAD)


def _one_line(ax: Axes, words: Captions) -> None:
    """Write the name of a model and what to look for in one line."""
    ours = _our_title(ax, words)
    if ours is not None and ours.name:
        said = words.short_title if ours.said == words.title else ours.said
        ax.set_title(f"{ours.name}: {_uncapitalized(said)}", loc="left", pad=_PAD)


def _unnamed(upper: Axes | None) -> None:
    if upper is not None:
        upper.set_xlabel("")


def _hidden(upper: Axes | None) -> None:
    if upper is not None:
        upper.set_visible(False)
        # Titles keep above its ticks even so.
        upper.tick_params(axis="x", which="both", length=0, labeltop=False)


def _smaller_title(ax: Axes, words: Captions) -> None:
    """Write a title of ours no larger than the rest."""
    if (ours := _our_title(ax, words)) is not None and any(ours):
        size = style.SMALL * float(ax.yaxis.label.get_fontsize())
        ax.set_title(ax.get_title("left"), loc="left", pad=_PAD, fontsize=size)


def _no_title(ax: Axes, words: Captions) -> None:
    """Take away a title of ours, but for the name of a model."""
    if (ours := _our_title(ax, words)) is not None and ours.said:
        size = float(ax.yaxis.label.get_fontsize())
        ax.set_title(ours.name, loc="left", pad=_PAD, fontsize=style.SMALL * size)


# --- titles ---------------------------------------------------------------------------------------


class _Title(NamedTuple):
    """The name of a model and what is said of it, either of which can be empty."""

    name: str
    said: str


def _our_title(ax: Axes, words: Captions) -> _Title | None:
    """Return the parts of a title as we write it, in two lines or in one; None of another title."""
    title = ax.get_title("left")
    name, _, last = title.rpartition("\n")
    sayings = (words.title, words.short_title, words.short_ordinate)
    if last in ("", *sayings):
        return _Title(name, last)
    for said in sayings:
        if title.endswith(one_line := f": {_uncapitalized(said)}"):
            return _Title(title.removesuffix(one_line), said)
    return None


def _uncapitalized(words: str) -> str:
    return words[:1].lower() + words[1:]
