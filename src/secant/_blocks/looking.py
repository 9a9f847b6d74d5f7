"""Looking at the data again, only where it matters: what a source answers, and when to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence

    from secant._base.types import BoolArray, FloatArray, Forbidden, IntArray
    from secant._blocks.cluster_sums import ClusterSums
    from secant._blocks.grains import Grains, Ties
    from secant._blocks.table import Blocks, Totals
    from secant._input.observations import Chunk

__all__ = [
    "Clustered",
    "Direct",
    "Families",
    "Frugal",
    "Grinder",
    "Groups",
    "Holder",
    "Orderly",
    "Refine",
    "Source",
    "resolve",
    "resolve_all",
]


class Source(Protocol):
    """Where observations come from: an array, a file, an engine.

    A source can look twice: once at everything, coarsely, and again at the few ranges of
    scores that turn out to matter.
    """

    @property
    def sampling(self) -> bool:
        """Whether observations carry sampling weights."""
        ...

    @property
    def forbidden(self) -> Forbidden:
        """The rows whose score rules out what happened; known after the first look."""
        ...

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, and the sums over all of them."""
        ...

    def refine(self, blocks: Blocks) -> Blocks:
        """Return the same observations in finer blocks, with moments if ``blocks`` has them."""
        ...

    def sorted_rows(self) -> tuple[FloatArray, IntArray, FloatArray | None]:
        """Return every score, response and weight in the order of scores, then of weights."""
        ...

    def recheck(self) -> None:
        """Raise SecantError if the observations are seen to have changed since the first look."""
        ...


@runtime_checkable
class Direct(Protocol):
    """A source that can find the extremes of the path without cutting blocks finer."""

    def heights(self) -> tuple[float, float] | None:
        """Return the largest and the smallest cumulative difference; None if blocks must tell."""
        ...


@runtime_checkable
class Orderly(Protocol):
    """A source that can walk over its rows in order, in bounded memory if they are not there."""

    def in_order(self) -> Iterator[Chunk]:
        """Return all rows in the order of scores, then of weights, some ties at a time."""
        ...


class Groups(Protocol):
    """Observations in groups, all of which are looked at together.

    A look at many groups costs one pass over the data, not one for each. ``keys`` are the groups'
    names in the data, ``by`` the names of what they are grouped by, and ``empty`` the keys of
    groups without weight, of which nothing else is known here.
    """

    @property
    def keys(self) -> Sequence[Any]: ...
    @property
    def by(self) -> tuple[str, ...]: ...
    @property
    def empty(self) -> tuple[Any, ...]: ...

    def blocks(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group, in the order of ``keys``."""
        ...

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered, as :meth:`Source.refine` does for one."""
        ...

    def source(self, number: int) -> Source:
        """Return one group by itself, for questions asked later."""
        ...


@runtime_checkable
class Frugal(Protocol):
    """Groups of which not every row can be had, since few leave the place where they are."""

    def affords(self, number: int, blocks: Blocks) -> bool:
        """Tell whether all distinct scores can be had of blocks of a group that are not ties."""
        ...

    def fetch(self, numbers: Sequence[int]) -> Collection[int]:
        """Make ready the rows of groups, to be asked for once, and return whose can be had."""
        ...

    def steps(self, number: int) -> tuple[float, ...] | None:
        """Return the largest possible steps where fetched rows tell, better than their bounds."""
        ...


@runtime_checkable
class Clustered(Protocol):
    """Groups whose rows belong together in clusters."""

    def cluster_sums(self, tables: Sequence[Blocks], limit: int) -> Sequence[ClusterSums]:
        """Return the sums by cluster and cell of every group, in one more look at all of them.

        Parameters
        ----------
        tables
            The blocks of each group, as finely as they are known.
        limit
            How many pairs of a cluster and a cell a group may have before its cells are made fewer.
        """
        ...


@runtime_checkable
class Families(Protocol):
    """Groups of several kinds side by side; those of one kind are tested together."""

    @property
    def families(self) -> Sequence[slice]:
        """The numbers of the groups of each kind, known after the first look."""
        ...

    def sums_of_families(
        self, tables: Sequence[Blocks], limits: Sequence[int]
    ) -> Sequence[ClusterSums]:
        """Return what :class:`Clustered` does, with a limit for each kind."""
        ...


@runtime_checkable
class Grinder(Protocol):
    """Groups whose ties can be had pooled into grains, at the cost of one sort."""

    def grinds(self, number: int) -> bool:
        """Tell whether those of a group can."""
        ...

    def grains(self, sizes: Mapping[int, float]) -> Mapping[int, Ties | Grains]:
        """Return grains of these sizes of the groups numbered, in one more look at them."""
        ...


@runtime_checkable
class Holder(Protocol):
    """Groups, or a source, that hold rows in memory while they are assessed."""

    def release(self) -> None:
        """Forget the rows: they are read again if anything is asked later."""
        ...


if TYPE_CHECKING:
    Refine = Callable[[Blocks], Blocks]
else:
    Refine = object


def resolve(
    blocks: Blocks, matters: Callable[[Blocks], BoolArray], refine: Refine | None
) -> Blocks:
    """Refine the blocks that matter until they are ties; without ``refine``, leave them."""
    if refine is None or not blocks.open.any():
        return blocks
    while (coarse := matters(blocks) & blocks.open).any():
        blocks = blocks.replace(coarse, refine(blocks.select(coarse)))
    return blocks


def resolve_all(
    tables: Sequence[Blocks],
    matters: Callable[[int, Blocks], BoolArray],
    refine: Callable[[Mapping[int, Blocks]], Mapping[int, Blocks]],
) -> list[Blocks]:
    """Refine the blocks that matter of every group together until they are ties."""
    tables = list(tables)
    undecided = [number for number, blocks in enumerate(tables) if blocks.open.any()]
    while undecided:
        coarse = {i: matters(i, tables[i]) & tables[i].open for i in undecided}
        undecided = [i for i in undecided if coarse[i].any()]
        if not undecided:
            break
        finer = refine({i: tables[i].select(coarse[i]) for i in undecided})
        for i in undecided:
            tables[i] = tables[i].replace(coarse[i], finer[i])
    return tables
