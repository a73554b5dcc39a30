"""JSON cut down to JSON: every key and the first elements stay, long values are shortened.

The room is shared out from the outside in. What is small is kept whole, and what it does not need
goes to what is large. Numbers are copied as they are written, and keys that come twice stay twice.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

REST = "..."
"""The key under which an object says what is left out of it."""
SHORTEST = 24
"""Characters that a value is given at least: less of it would tell nothing."""
_MARK = 24
"""Characters for the words about what is left out."""


def cut_json(text: str, most: int, rest: str) -> str | None:
    """Return JSON cut down to about so many characters, and JSON still; None: it is none.

    `rest` says how to get all of it.
    """
    begins = text.lstrip()[:1]
    if begins not in ("{", "["):
        return None
    try:
        value = json.loads(text, parse_float=_Number, parse_int=_Number, object_pairs_hook=_Object)
        return _Cutting().outermost(value, most, rest)
    except (ValueError, RecursionError):  # not JSON, or nested too deep to be read by anybody
        return None


class _Number(str):
    """A number as it is written."""

    __slots__ = ()


class _Object(list[tuple[str, Any]]):
    """An object: its keys and values in order."""


class _Cutting:
    """Cuts one value; the size of each part of it is measured once."""

    def __init__(self) -> None:
        self._sizes: dict[int, int] = {}

    def outermost(self, value: list[Any] | _Object, most: int, rest: str) -> str:
        """Return the value in so many characters; the last of it says how to get the rest."""
        if self._size(value) <= most:
            # Without its line breaks and blanks it fits: nothing is missing.
            return self._whole(value)
        if isinstance(value, _Object):
            entries, left_out = self._entries(value, most)
            told = f"{left_out} more keys left out. {rest}" if left_out else f"Shortened. {rest}"
            return _object([*entries, f"{_quoted(REST)}:{_quoted(told)}"])
        elements, left_out = self._elements(value, most)
        told = f"{left_out} more left out. {rest}" if left_out else f"Shortened. {rest}"
        return _list([*elements, _quoted(told)])

    def _cut(self, value: Any, room: int) -> str:
        if self._size(value) <= room:
            return self._whole(value)
        if isinstance(value, list) and room < 2 * SHORTEST:
            what = "keys" if isinstance(value, _Object) else "elements"
            return _quoted(f"... {len(value)} {what}")
        if isinstance(value, _Object):
            entries, left_out = self._entries(value, room)
            told = [f"{_quoted(REST)}:{_quoted(f'{left_out} more keys')}"] if left_out else []
            return _object([*entries, *told])
        if isinstance(value, list):
            elements, left_out = self._elements(value, room)
            return _list([*elements, *([_quoted(f"... {left_out} more")] if left_out else [])])
        if isinstance(value, str) and not isinstance(value, _Number):
            return _shortened(value, room)
        return self._whole(value)

    def _entries(self, pairs: _Object, room: int) -> tuple[list[str], int]:
        """Return the entries of an object, and how many are left out."""
        keys = [_quoted(key) for key, _ in pairs]
        kept = _fitting([len(key) + SHORTEST for key in keys], room)
        values = [value for _, value in pairs[:kept]]
        # A comma, a colon and the brackets.
        free = room - sum(len(key) + 2 for key in keys[:kept]) - 2
        rooms = shared_out([self._size(value) for value in values], free)
        entries = [
            f"{key}:{self._cut(value, share)}"
            for key, value, share in zip(keys, values, rooms, strict=False)
        ]
        return entries, len(pairs) - kept

    def _elements(self, values: Sequence[Any], room: int) -> tuple[list[str], int]:
        """Return the first elements of a list, whole as far as they fit, and how many are left."""
        room -= _MARK
        kept = _fitting([self._size(value) + 1 for value in values], room)
        elements = [self._whole(value) for value in values[:kept]]
        free = room - sum(map(len, elements)) - kept
        if kept < len(values) and (not kept or free >= 4 * SHORTEST):
            elements.append(self._cut(values[kept], max(SHORTEST, free)))
        return elements, len(values) - len(elements)

    def _size(self, value: Any) -> int:
        if isinstance(value, list):
            if id(value) not in self._sizes:
                self._sizes[id(value)] = self._measured(value)
            return self._sizes[id(value)]
        return len(self._whole(value))

    def _measured(self, value: list[Any]) -> int:
        if isinstance(value, _Object):
            return max(2, 1 + sum(len(_quoted(key)) + 2 + self._size(one) for key, one in value))
        return max(2, 1 + sum(1 + self._size(one) for one in value))

    def _whole(self, value: Any) -> str:
        if isinstance(value, _Object):
            return _object([f"{_quoted(key)}:{self._whole(one)}" for key, one in value])
        if isinstance(value, list):
            return _list([self._whole(one) for one in value])
        return value if isinstance(value, _Number) else _quoted(value)


def shared_out(sizes: Sequence[int], room: int) -> list[int]:
    """Return what each gets of a room: small ones all they need, large ones equal shares."""
    rooms = [0] * len(sizes)
    by_size = sorted(range(len(sizes)), key=lambda at: sizes[at])
    for done, at in enumerate(by_size):
        rooms[at] = max(0, min(sizes[at], room // (len(sizes) - done)))
        room -= rooms[at]
    return rooms


def _fitting(sizes: Sequence[int], room: int) -> int:
    """Return how many of the first fit."""
    kept = 0
    for size in sizes:
        room -= size
        if room < 0:
            break
        kept += 1
    return kept


def _shortened(text: str, room: int) -> str:
    # Quotes and line breaks take two characters each.
    said = int(max(SHORTEST, room - _MARK) * len(text) / len(_quoted(text)))
    gone = len(text) - said
    return _quoted(f"{text[:said]}... ({gone} more characters)" if gone > _MARK else text)


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _object(entries: Sequence[str]) -> str:
    return "{" + ",".join(entries) + "}"


def _list(elements: Sequence[str]) -> str:
    return "[" + ",".join(elements) + "]"
