"""Arrays as bytes, and back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNED = 64
_LENGTH = 8
_PIECE = 1 << 19
_MOST = 2 << 30
"""No store takes half as many bytes at once; more were never packed."""
_ROOM = 64
"""One slot in so many is for what comes behind an array."""


def packed(about: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> bytes:
    """Return arrays of one dimension as bytes, with what JSON can say about them."""
    shapes = {name: (array.dtype.str, len(array)) for name, array in arrays.items()}
    head = json.dumps({"about": about, "arrays": shapes}).encode()
    parts = [len(head).to_bytes(_LENGTH, "little"), head]
    at = _LENGTH + len(head)
    for array in arrays.values():
        data = array.tobytes()
        parts += [b"\0" * (-at % _ALIGNED), data]
        at += -at % _ALIGNED + len(data)
    return b"".join(parts)


class Reads(Protocol):
    """What bytes are read from, one behind the other, such as a file."""

    def read(self, size: int, /) -> bytes: ...


class Unpacked(NamedTuple):
    """What was packed. The arrays are whoever's it is who unpacked them."""

    about: dict[str, Any]
    arrays: dict[str, NDArray[Any]]
    whole: dict[str, NDArray[Any]]
    """The same arrays with some room behind each, to be filled."""


def unpacked(file: Reads) -> Unpacked:
    """Return what was packed. Raise ValueError if it is broken."""
    length = _sane(int.from_bytes(_read(file, _LENGTH), "little"))
    head = json.loads(_read(file, length))
    if not isinstance(head, dict) or head.keys() != {"about", "arrays"}:
        raise ValueError("these bytes were packed by something else")
    whole, at = _laid_out(head["arrays"]), _LENGTH + length
    arrays = {name: whole[name][:size] for name, (_, size) in head["arrays"].items()}
    for array in arrays.values():
        _read(file, -at % _ALIGNED)
        _fill(array.view(np.uint8).data, file)
        at += -at % _ALIGNED + array.nbytes
    if file.read(1):
        raise ValueError(f"there is more than the {at} bytes that were packed")
    return Unpacked(head["about"], arrays, whole)


def _laid_out(shapes: Mapping[str, tuple[str, int]]) -> dict[str, NDArray[Any]]:
    """Return arrays of these kinds and sizes, and a little more, all in one piece of memory.

    Numpy gets one large piece in large pages; many small pages take longer to get than to fill.
    """
    places, end = {}, 0
    for name, (kind, size) in shapes.items():
        room = (_sane(size) + size // _ROOM) * np.dtype(kind).itemsize
        places[name] = slice(end, end + room)
        end += room + -room % _ALIGNED
    memory = np.empty(_sane(end), np.uint8)
    return {name: memory[places[name]].view(kind) for name, (kind, _) in shapes.items()}


def _sane(size: int) -> int:
    if not 0 <= size <= _MOST:
        raise ValueError(f"{size} of something cannot have been packed")
    return size


def _fill(target: memoryview, file: Reads) -> None:
    for at in range(0, len(target), _PIECE):
        piece = target[at : at + _PIECE]
        piece[:] = _read(file, len(piece))


def _read(file: Reads, size: int) -> bytes:
    data = file.read(size) if size else b""
    if len(data) != size:
        raise ValueError(f"{len(data)} bytes where {size} were packed")
    return data


def under(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays with a name before theirs."""
    return {f"{name}.{each}": array for each, array in arrays.items()}


def found_under(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays that `under` put this name before."""
    start = f"{name}."
    return {
        each.removeprefix(start): array for each, array in arrays.items() if each.startswith(start)
    }
