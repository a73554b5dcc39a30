"""Neighbours in the code of a project: who calls, inherits, imports and tests what.

Whom a name means is told from the names alone, so a neighbour is named only where few things share
its name, or where it is imported or stands in the same class.
"""

from __future__ import annotations

from collections.abc import Iterator
from io import TextIOWrapper
from itertools import chain
from typing import Literal

from .files import Definition, module_name
from .index import ProjectCode

Relation = Literal["inherits", "inherited by", "calls", "called by", "tested by"]
_OF_EVERY_TYPE = frozenset(
    name
    for kind in (list, dict, set, str, bytes, int, float, Exception, TextIOWrapper)
    for name in dir(kind)
) | frozenset(
    """
    add addEventListener apply bind call catch concat contains containsKey delete each emit entries
    equals every filter find finally flat flatMap forEach get has hasNext includes indexOf is_empty
    isEmpty iter join keys lastIndexOf len length map match new next on once push push_str put
    putAll reduce remove reverse set shift size slice some sort splice split stop stream test then
    to_string toArray toList toString trim unshift unwrap values
    """.split()
)
"""Methods of what the languages bring: a variable that has one may be anything."""


def related(code: ProjectCode, to: Definition, most: int) -> list[tuple[Relation, Definition]]:
    """Return neighbours of a definition: who uses it, what it builds on, what tests it."""
    found: dict[str, tuple[Relation, Definition]] = {}
    for relation, one in chain(_users(code, to), _bases(code, to), _callees(code, to)):
        if one.full_name != to.full_name and one.entity.kind != "module":
            found.setdefault(one.full_name, (relation, one))
    return list(found.values())[:most]


def _users(code: ProjectCode, to: Definition) -> Iterator[tuple[Relation, Definition]]:
    name = to.entity.own_name
    if to.entity.kind == "class":
        for one in code.derived_from(name):
            yield ("tested by" if one.in_test else "inherited by"), one
    rivals = len(code.named(name))
    users = code.callers_of(name)
    meant = [one for one in users if _calls(code, one, to, rivals)]
    for one in sorted(meant, key=lambda user: (user.in_test, user.path != to.path)):
        yield ("tested by" if one.in_test else "called by"), one


def _bases(code: ProjectCode, of: Definition) -> Iterator[tuple[Relation, Definition]]:
    for base in of.entity.bases:
        found = [one for one, _ in code.symbol(base, (of.path,)) if one.entity.kind == "class"]
        yield from (("inherits", one) for one in found[:1])


def _callees(code: ProjectCode, of: Definition) -> Iterator[tuple[Relation, Definition]]:
    for called in of.entity.calls:
        name = called.rpartition(".")[2]
        found = code.named(name)
        meant = [one for one in found if _calls(code, of, one, len(found))]
        yield from (("calls", one) for one in meant[:1] if not one.in_test or of.in_test)


def _calls(code: ProjectCode, user: Definition, used: Definition, rivals: int) -> bool:
    """Say whether a call in one definition means the other, as far as names tell."""
    name = used.entity.own_name
    spelled = [called for called in user.entity.calls if called.rpartition(".")[2] == name]
    return any(_means(code, user, one.rpartition(".")[0], used, rivals) for one in spelled)


def _means(code: ProjectCode, user: Definition, before: str, used: Definition, rivals: int) -> bool:
    container = used.entity.name.rpartition(".")[0]
    if before in ("self", "cls", "this", "super"):
        return user.path == used.path and user.entity.name.startswith(f"{container}.")
    last = before.rpartition(".")[2]
    if last:
        if last in (container, module_name(used.path).rpartition(".")[2]):
            return True
        # "model.invoke": a variable, whose class is not known; but only one class has that method.
        return bool(container) and rivals == 1 and used.entity.own_name not in _OF_EVERY_TYPE
    if container:
        return False
    taken = code.files[user.path].imports
    return (
        user.path == used.path
        or any(text.endswith(f":{used.entity.own_name}") for text in taken)
        or (rivals == 1 and not any(":" in text for text in taken))
    )
