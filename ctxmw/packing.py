"""Arrays as bytes, and back without reading them: each is a view of the bytes."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

_ALIGNED = 64
_LENGTH = 8


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


def unpacked(data: bytes) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Return what was packed; the arrays cannot be written to. Raise ValueError if it is broken."""
    at = _LENGTH + int.from_bytes(data[:_LENGTH], "little")
    head = json.loads(data[_LENGTH:at])
    if not isinstance(head, dict) or head.keys() != {"about", "arrays"}:
        raise ValueError(f"these {len(data)} bytes were packed by something else")
    arrays = {}
    for name, (kind, size) in head["arrays"].items():
        at += -at % _ALIGNED
        arrays[name] = np.frombuffer(data, kind, size, at)
        at += arrays[name].nbytes
    if at != len(data):
        raise ValueError(f"{len(data)} bytes where {at} were packed")
    return head["about"], arrays


def under(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays with a name before theirs."""
    return {f"{name}.{each}": array for each, array in arrays.items()}


def found_under(name: str, arrays: Mapping[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return the arrays that `under` put this name before."""
    start = f"{name}."
    return {
        each.removeprefix(start): array for each, array in arrays.items() if each.startswith(start)
    }
