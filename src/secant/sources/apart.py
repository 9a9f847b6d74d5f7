"""Groups that lie apart from each other, a source each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from secant._blocks.looking import Clustered, Frugal, Grinder
from secant.sources.small import blocks_of

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from secant._blocks.cluster_sums import ClusterSums
    from secant._blocks.grains import Grains, Ties
    from secant._blocks.looking import Source
    from secant._blocks.table import Blocks, Totals

__all__ = ["Apart"]


class Apart:
    """Groups that lie apart from each other, a source each.

    Parameters
    ----------
    keys, sources
        What the groups are called in the data, and where they are.
    by
        The names of what the data are grouped by.
    empty
        The keys of groups without weight, which have no source.
    """

    def __init__(
        self,
        keys: Sequence[Any],
        sources: Sequence[Source],
        by: tuple[str, ...] = (),
        empty: tuple[Any, ...] = (),
    ) -> None:
        self.keys, self.by, self.empty = keys, by, empty
        self._sources = sources

    def blocks(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group."""
        return blocks_of(self._sources)

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered."""
        return {number: self._sources[number].refine(blocks) for number, blocks in wanted.items()}

    def source(self, number: int) -> Source:
        """Return one group by itself."""
        return self._sources[number]

    def release(self) -> None:
        """Let sources forget the rows that they hold."""
        for source in self._sources:
            if hasattr(source, "release"):  # which asks less of each than whether it is a Holder
                source.release()

    def cluster_sums(self, tables: Sequence[Blocks], limit: int) -> list[ClusterSums]:
        """Return the sums by cluster and cell of every group."""
        found: list[ClusterSums] = []
        for source, blocks in zip(self._sources, tables, strict=True):
            assert isinstance(source, Clustered)  # noqa: S101
            found += source.cluster_sums([blocks], limit)
        return found

    def grinds(self, number: int) -> bool:
        """Tell whether the ties of a group can be had pooled into grains."""
        source = self._sources[number]
        return isinstance(source, Grinder) and source.grinds(0)

    def grains(self, sizes: Mapping[int, float]) -> dict[int, Ties | Grains]:
        """Return the grains of the groups numbered."""
        found: dict[int, Ties | Grains] = {}
        for number, size in sizes.items():
            source = self._sources[number]
            assert isinstance(source, Grinder)  # noqa: S101
            found[number] = source.grains({0: size})[0]
        return found

    def affords(self, number: int, blocks: Blocks) -> bool:
        """Tell whether all distinct scores in blocks can be had."""
        source = self._sources[number]
        return not isinstance(source, Frugal) or source.affords(number, blocks)

    def steps(self, number: int) -> tuple[float, ...] | None:
        """Return the largest possible steps where fetched rows tell."""
        source = self._sources[number]
        return source.steps(number) if isinstance(source, Frugal) else None

    def fetch(self, numbers: Sequence[int]) -> Collection[int]:
        """Return the groups whose rows can be had."""
        sources = {number: self._sources[number] for number in numbers}
        return [i for i, it in sources.items() if not isinstance(it, Frugal) or it.fetch([i])]
