"""The errors secant raises on purpose.

::

    SecantError
    ├── InputError          (also a ValueError)   the data or an argument is unusable
    └── MissingExtraError   (also an ImportError) an optional dependency is not installed

What an error says is kept in fields as well as in words, and the words remember which of them are
names of arguments: whoever calls them something else, as the command line does, words them anew.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

__all__ = ["Argument", "InputError", "Message", "MissingExtraError", "SecantError"]


class Argument(str):
    """An argument as it stands in a message: ``by``, ``y_prob[3]``, ``pos_label='yes'``.

    Attributes
    ----------
    name : str
        What the argument is called.
    given : tuple
        The value that the message gives to it; empty where it gives none.
    """

    __slots__ = ("given", "name")
    name: str
    given: tuple[Any, ...]

    def __new__(cls, name: str, *given: Any, index: int | None = None) -> Self:
        """Return an argument, perhaps with a value given to it, or one of its values."""
        place = "" if index is None else f"[{index}]"
        self = super().__new__(cls, name + place + "".join(f"={value!r}" for value in given))
        self.name, self.given = name, given
        return self

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        return str, (str(self),)  # what leaves the process is read, and not worded anew


class Message(str):
    """Words some of which are arguments.

    Attributes
    ----------
    parts : tuple of str
        The words in pieces, those that are an :class:`Argument` among them.
    """

    __slots__ = ("parts",)
    parts: tuple[str, ...]

    def __new__(cls, *parts: str) -> Self:
        """Join pieces; a Message among them gives its own."""
        self = super().__new__(cls, "".join(parts))
        flat = (part.parts if isinstance(part, Message) else (part,) for part in parts)
        self.parts = tuple(piece for pieces in flat for piece in pieces if piece)
        return self

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """The arguments that the message names, in their order."""
        return tuple(part for part in self.parts if isinstance(part, Argument))

    def worded(self, word: Callable[[Argument], str]) -> Message:
        """Return the message with other words for its arguments."""
        return Message(*(word(part) if isinstance(part, Argument) else part for part in self.parts))

    def __reduce__(self) -> tuple[type[Message], tuple[str, ...]]:
        return Message, self.parts


class SecantError(Exception):
    """Base of every error that secant raises on purpose.

    Attributes
    ----------
    message : Message
        What it says.
    """

    __module__ = "secant"

    def __init__(self, *message: str) -> None:
        self.message = Message(*message)
        super().__init__(str(self.message))


class InputError(SecantError, ValueError):
    """The input cannot be assessed; the message names the argument, the value and its place.

    Attributes
    ----------
    complaint : Message
        What is wrong. Of a single value it goes on where "y_prob[3] is 1.5" ends.
    argument : str or None
        The argument that cannot be used; of several the first that the message names.
    value : str or None
        The value that cannot be used, as it is shown, where it is a single one.
    row : int or None
        Where that value stands: its index in an array, its row in a file.
    column : str or None
        The column it stands in, where it comes from a file.
    place : str
        The file, or the files, where it comes from one.
    hint : Message
        What probably helps, with which the message ends; empty where nothing is known to.
    """

    __module__ = "secant"

    def __init__(
        self,
        *complaint: str,
        argument: str | None = None,
        value: str | None = None,
        row: int | None = None,
        column: str | None = None,
        place: str = "",
        hint: str = "",
    ) -> None:
        self.complaint, self.hint = Message(*complaint), Message(hint)
        self.value, self.row, self.column, self.place = value, row, column, place
        self._about = argument
        super().__init__(*self._subject(), self.complaint, self.hint)
        named = self.message.arguments
        self.argument = argument or (named[0].name if named else None)

    def _subject(self) -> Iterator[str]:
        """Say what is complained about, where the complaint itself does not."""
        if self.column is not None and self.row is not None:
            yield f"{self.place}, row {self.row:,}, column {self.column!r}: "
        elif self.place:
            yield f"{self.place}: "
        if self._about is not None and self.value is not None:
            yield Argument(self._about, index=self.row if self.column is None else None)
            yield f" is {self.value}"

    def but(self, **fields: Any) -> InputError:
        """Return the same error with some fields changed."""
        same = {name: getattr(self, name) for name in ("value", "row", "column", "place", "hint")}
        known = {"complaint": self.complaint, "argument": self._about, **same, **fields}
        return InputError(known.pop("complaint"), **known)

    def renamed(self, names: Mapping[str, str]) -> InputError:
        """Return the same error about arguments that are called something else."""

        def called(part: Argument) -> Argument:
            return Argument(names.get(part.name, part.name), *part.given)

        return self.but(
            complaint=self.complaint.worded(called),
            hint=self.hint.worded(called),
            argument=None if self._about is None else names.get(self._about, self._about),
        )


class MissingExtraError(SecantError, ImportError):
    """An optional dependency is missing; the message names the extra to install."""

    __module__ = "secant"
