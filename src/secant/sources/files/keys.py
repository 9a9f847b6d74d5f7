"""Numbers for the keys of groups, met batch by batch."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from secant._input.keys import key_order
from secant.errors import SecantError
from secant.sources.files.csv import typed

if TYPE_CHECKING:
    from collections.abc import Sequence

    from secant._base.types import IntArray

__all__ = ["KeyBook"]


class KeyBook:
    """The keys of groups, by how many were met before each: learnt in a first walk, known then.

    ``counts`` are the rows of each.
    """

    def __init__(self) -> None:
        self._code: dict[Any, int] = {}
        self.counts = np.zeros(0, np.int64)
        self._lock = threading.Lock()

    def learn(self, keys: Sequence[Any], codes: IntArray) -> IntArray:
        """Take in the keys of some rows, ``keys[codes[i]]`` being row i's, and count the rows.

        Returns
        -------
        array
            The number of each row's group.
        """
        met = self.met(keys)
        grown = np.zeros(len(self._code), np.int64)
        grown[: len(self.counts)] = self.counts
        np.add.at(grown, met, np.bincount(codes, minlength=len(keys)))
        self.counts = grown
        return met[codes]

    def met(self, keys: Sequence[Any]) -> IntArray:
        """Return how many keys were met before each of these, without counting rows."""
        with self._lock:  # rows are read ahead in a thread of their own
            for key in keys:
                self._code.setdefault(key, len(self._code))
            return self._codes(keys)

    def close(self, is_text: Sequence[bool]) -> tuple[list[Any], list[int]]:
        """Return every key in the order they were met, and the numbers in the order of keys.

        Parameters
        ----------
        is_text
            For every column of keys, whether its texts may stand for numbers.
        """
        keys = _typed(list(self._code), is_text)
        self.counts = np.append(self.counts, np.zeros(len(keys) - len(self.counts), np.int64))
        return keys, key_order(keys)

    def numbers(self, keys: Sequence[Any], codes: IntArray) -> IntArray:
        """Return the group of each row.

        Raises
        ------
        SecantError
            If a key was not there when keys were learnt.
        """
        try:
            known = self._codes(keys)
        except KeyError as error:
            msg = f"the files were changed while they were assessed: {error} is a new group"
            raise SecantError(msg) from error
        return known[codes]

    def _codes(self, keys: Sequence[Any]) -> IntArray:
        return np.array([self._code[key] for key in keys], np.int64)


def _typed(keys: list[Any], is_text: Sequence[bool]) -> list[Any]:
    """Return keys whose texts are numbers where a whole column of them is."""
    if not any(is_text):
        return keys
    several = len(is_text) > 1
    columns = list(zip(*keys, strict=True)) if several else [tuple(keys)]
    for place, texts in enumerate(is_text):
        if texts:
            distinct = list(dict.fromkeys(columns[place]))
            value = dict(zip(distinct, typed(distinct), strict=True))
            columns[place] = tuple(value[text] for text in columns[place])
    return list(zip(*columns, strict=True)) if several else list(columns[0])
