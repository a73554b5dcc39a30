"""Refs of what is shown of code: a symbol, what a search found, a file, a line about a file."""

from __future__ import annotations

from ..values.items import code_ref
from .files import CodeFile, Entity


def symbol_ref(path: str, entity: Entity) -> str:
    """Return the ref of a definition: another one when what is shown of it has changed."""
    return code_ref(path, entity.kind, entity.name, entity.signature, entity.doc)


def found_ref(path: str, entity: Entity) -> str:
    """Return the ref of a file that was found by what one of its definitions does."""
    return code_ref(path, "found", entity.kind, entity.name, entity.signature, entity.mark)


def file_ref(file: CodeFile) -> str:
    """Return the ref of a file's outline."""
    return code_ref(file.path, *(f"{one.name} {one.signature} {one.doc}" for one in file.entities))


def line_ref(path: str) -> str:
    """Return the ref of the line that tells of a file."""
    return code_ref(path, "line")


def refs_in_file(file: CodeFile) -> set[str]:
    """Return the refs of all that may be shown of a file."""
    return {
        file_ref(file),
        line_ref(file.path),
        *(symbol_ref(file.path, entity) for entity in file.entities),
        *(found_ref(file.path, entity) for entity in file.entities),
    }
