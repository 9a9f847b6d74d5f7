"""Where predictions are off: every range of scores that stands out by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from secant._blocks.looking import resolve_all
from secant._blocks.table import concatenate
from secant._metrics.ecce import could_hold_an_extreme, extremes, limits

if TYPE_CHECKING:
    from collections.abc import Mapping

    from secant._base.types import BoolArray
    from secant._blocks.looking import Refine
    from secant._blocks.table import Blocks

__all__ = ["standing_out"]


def standing_out(
    blocks: Blocks, weight: float, threshold: float, refine: Refine | None
) -> list[Blocks]:
    """Return disjoint ranges of scores whose total deviation exceeds a threshold.

    The first is the one that attains ECCE-R. The same question is then asked of the scores left of
    it and right of it, and so on. All that is asked in one round shares its looks at the data.

    Parameters
    ----------
    blocks, weight
        The observations and their whole weight.
    threshold
        What a range must exceed: a share of ``weight``.
    refine
        How to look into a block; without it the ends of blocks are all that is known.

    Returns
    -------
    list of Blocks
        The blocks of each range, the largest deviation first.
    """

    def matters(_: int, part: Blocks) -> BoolArray:
        if limits(part, weight)[0][1] <= threshold:
            return np.zeros(len(part), bool)
        return could_hold_an_extreme(part, weight)

    def refine_all(wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        assert refine is not None  # noqa: S101
        finer = refine(concatenate(list(wanted.values())))
        return {
            number: finer.select((finer.low >= old.low[0]) & (finer.high <= old.high[-1]))
            for number, old in wanted.items()
        }

    found: list[tuple[float, Blocks]] = []
    parts = [blocks]
    while parts:
        if refine is not None:
            parts = resolve_all(parts, matters, refine_all)
        rest = []
        for part in parts:
            _, ends = extremes(part, weight)
            if ends.ecce_r <= threshold:
                continue
            first, last = sorted((ends.argmin, ends.argmax))
            found.append((ends.ecce_r, part.select(slice(first, last))))
            sides = part.select(slice(first)), part.select(slice(last, None))
            rest += [side for side in sides if len(side)]
        parts = rest
    found.sort(key=lambda each: -each[0])
    return [blocks for _, blocks in found]
