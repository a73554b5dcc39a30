"""Definitions found by a name that they use, or have in another spelling: read when asked for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence

from .files import Definition, Entity


class LateNames:
    """The places of definitions by some of the names in them."""

    def __init__(
        self,
        definitions: Sequence[Definition | None],
        names_of: Callable[[Entity], Iterable[str]],
    ) -> None:
        """Read `definitions` later: more may be added to its end, and others be gone from it."""
        self._definitions = definitions
        self._names_of = names_of
        self._read = 0
        self._places: dict[str, list[int]] = defaultdict(list)

    def get(self, name: str) -> Sequence[int]:
        """Return the places of all that have the name, those of later gone ones too."""
        for place in range(self._read, len(self._definitions)):
            if (one := self._definitions[place]) is not None:
                for other in self._names_of(one.entity):
                    self._places[other].append(place)
        self._read = len(self._definitions)
        return self._places.get(name, ())


def called_by(entity: Entity) -> Iterable[str]:
    """Return what a definition calls, each without what it stands in."""
    return [called.rpartition(".")[2] for called in entity.calls]


def bases_of(entity: Entity) -> Iterable[str]:
    """Return what a class is derived from, each without what it stands in."""
    return [base.rpartition(".")[2] for base in entity.bases]


def spelling_of(entity: Entity) -> Iterable[str]:
    return (folded(entity.own_name),)


def folded(name: str) -> str:
    """Return a name without capitals and underscores, but for those that it begins with."""
    own = name.lstrip("_")
    # `_accept` is not what somebody means who writes Accept.
    return name[: len(name) - len(own)] + own.replace("_", "").lower()
