"""Looking at the data again, only where it matters: what a source answers, and when to ask."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    import numpy as np

    from secant._base.types import BoolArray, Forbidden
    from secant._blocks.key_sums import Ask, KeySums
    from secant._blocks.sorting import PathRows
    from secant._blocks.table import Blocks, Totals
    from secant._input.axis import Axis
    from secant._input.observations import Observations

__all__ = [
    "Groups",
    "Refine",
    "RowsInOrder",
    "ScoreSums",
    "Source",
    "resolve",
    "resolve_all",
]


class Source:
    """Where observations come from: arrays, a file, an engine.

    A source does two things: it sums rows in blocks, coarsely at first and again where it turns out
    to matter, and it hands out its rows in order. What else it may know has an answer here that
    stands for not knowing it, so that nobody has to ask what kind of source this is.

    Attributes
    ----------
    sampling
        Whether observations carry sampling weights.
    forbidden
        The rows whose score rules out what happened; known after the first look.
    axis
        The order along which blocks are, where it is not that of scores.
    at_hand
        Whether looking again takes no reading of files and no query.
    has_pairs
        Whether there are ``pairs``, the observations by place along the axis and score.
    lendable
        How many rows :meth:`observations` would return; None where they stay where they are.
    """

    axis: Axis | None = None
    has_pairs = False

    @property
    def lendable(self) -> int | None:
        return None

    @property
    def sampling(self) -> bool:
        raise NotImplementedError

    @property
    def forbidden(self) -> Forbidden:
        raise NotImplementedError

    @property
    def left_out(self) -> int:
        """How many rows lacked a score or an outcome; known after the first look."""
        return 0

    @property
    def at_hand(self) -> bool:
        return False

    @property
    def by_score(self) -> Source:
        """The same rows in the order of their scores."""
        return self

    def blocks(self, *, moments: bool = False) -> tuple[Blocks, Totals]:
        """Return blocks that hold every observation, and the sums over all of them."""
        raise NotImplementedError

    def refine(self, blocks: Blocks) -> Blocks:
        """Return the same observations in finer blocks, with moments if ``blocks`` has them."""
        raise NotImplementedError

    def in_order(self) -> RowsInOrder | None:
        """Return what walks over all rows in the order of the path; None if they cannot be had."""
        raise NotImplementedError

    def observations(self) -> Observations:
        """Return the rows themselves, read into memory where they are in files."""
        raise NotImplementedError

    def shuffled(self, rng: np.random.Generator) -> tuple[Blocks, Totals]:
        """Return one block for each row that can be lent, equal scores in random order."""
        raise NotImplementedError

    def sums(self, asks: Sequence[Ask]) -> Sequence[KeySums]:
        """Return what :meth:`Groups.sums` does, of these rows as the only group."""
        raise NotImplementedError

    def heights(self) -> tuple[float, float] | None:
        """Return the largest and the smallest cumulative difference; None if blocks must tell."""
        return None

    def steps(self) -> tuple[float, ...] | None:
        """Return the largest possible steps, where they are known better than from the sums."""
        return None

    def score_sums(self) -> ScoreSums | None:
        """Return the sums that proper scores need and blocks do not have; None if unknown."""
        return None

    def recheck(self) -> None:
        """Raise SecantError if the observations are seen to have changed since the first look."""

    def release(self) -> None:
        """Forget rows that were read into memory: they are read again if anything is asked."""


class ScoreSums(NamedTuple):
    """Sums of w|r - s| and of w times the log loss, which may be infinite."""

    residual: float
    log_loss: float


class Groups:
    """Observations in groups, all of which are looked at together.

    A look at many groups costs one pass over the data, not one for each. What groups there are may
    be known after the first look alone.

    Attributes
    ----------
    keys
        What the groups are called in the data.
    by
        The names of what they are grouped by.
    empty
        The keys of groups without weight, of which nothing else is known here.
    """

    keys: Sequence[Any] = ()
    by: tuple[str, ...] = ()
    empty: tuple[Any, ...] = ()

    @property
    def left_out(self) -> int:
        """How many rows of all groups lacked a score or an outcome."""
        raise NotImplementedError

    @property
    def families(self) -> Sequence[slice]:
        """The groups of each kind, which are tested together; known after the first look."""
        return [slice(0, len(self.keys))]

    def blocks(self) -> list[tuple[Blocks, Totals]]:
        """Return blocks and sums of every group, in the order of ``keys``."""
        raise NotImplementedError

    def refine(self, wanted: Mapping[int, Blocks]) -> dict[int, Blocks]:
        """Return finer blocks for the groups numbered, as :meth:`Source.refine` does for one."""
        raise NotImplementedError

    def source(self, number: int) -> Source:
        """Return one group by itself, for questions asked later."""
        raise NotImplementedError

    def in_order(self, numbers: Sequence[int]) -> Mapping[int, RowsInOrder]:
        """Return what walks over the rows of groups in order, without those that cannot be had."""
        raise NotImplementedError

    def sums(self, asks: Sequence[Ask]) -> Sequence[KeySums]:
        """Answer questions about groups, all of them in one more look at the data."""
        raise NotImplementedError

    def release(self) -> None:
        """Forget rows that were read into memory: they are read again if anything is asked."""


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
