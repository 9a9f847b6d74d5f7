"""Looking at the data again, only where it matters: what a source answers, and when to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from secant._base.types import BoolArray, Forbidden
    from secant._blocks.cluster_sums import ClusterSums
    from secant._blocks.sorting import PathRows
    from secant._blocks.table import Blocks, Totals

__all__ = [
    "Clustered",
    "Direct",
    "Families",
    "Groups",
    "Holder",
    "Refine",
    "RowsInOrder",
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

    def in_order(self) -> RowsInOrder | None:
        """Return what walks over all rows in the order of the path; None if they cannot be had."""
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

    def in_order(self, numbers: Sequence[int]) -> Mapping[int, RowsInOrder]:
        """Return what walks over the rows of groups in order, without those that cannot be had."""
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
class Holder(Protocol):
    """Groups, or a source, that hold rows in memory while they are assessed."""

    def release(self) -> None:
        """Forget the rows: they are read again if anything is asked later."""
        ...


if TYPE_CHECKING:
    Refine = Callable[[Blocks], Blocks]
    # Walks over rows in the order of the path, some ties at a time, as often as it is called.
    RowsInOrder = Callable[[], Iterable[PathRows]]
else:
    Refine = RowsInOrder = object


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
