"""Definitions of a project: where each stands and what it is called."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from .files import Entity, module_name, search_terms


@dataclass(frozen=True, slots=True)
class Definition:
    """An entity, in its file."""

    entity: Entity
    path: str

    @property
    def full_name(self) -> str:
        """The name with the module it is defined in."""
        if self.entity.kind == "module":
            return self.entity.name
        return f"{module_name(self.path)}.{self.entity.name}"

    @property
    def place(self) -> str:
        return f"{self.path}:{self.entity.line}"

    @property
    def in_test(self) -> bool:
        return is_test(self.path)


def is_test(path: str) -> bool:
    """Say whether a file holds tests, by its name or folder."""
    *folders, name = path.lower().split("/")
    stem_ = name.split(".")[0]
    if stem_.startswith("test_") or stem_.endswith(("_test", "_tests")) or stem_ == "conftest":
        return True
    return ".test." in name or ".spec." in name or bool({"test", "tests"} & set(folders))


@lru_cache(maxsize=65_536)
def name_terms(entity: Entity) -> frozenset[str]:
    """Return the terms of an entity's name."""
    return frozenset(search_terms(entity.name))
