"""Neighbours in the code of a project: who calls, inherits, imports and tests what.

A neighbour is named only where it is known whom a name means: it is imported, it stands in the same
class, file or package, or nothing else in the project has its name. What is not known is not told.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from datetime import datetime
from io import StringIO, TextIOWrapper
from itertools import chain
from logging import Logger
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Literal

from .files import Definition

if TYPE_CHECKING:
    from .index import ProjectCode

Relation = Literal["inherits", "inherited by", "calls", "called by", "tested by"]
_OF_EVERY_TYPE = frozenset(
    name
    for kind in (
        list,
        dict,
        set,
        str,
        bytes,
        int,
        float,
        Exception,
        TextIOWrapper,
        StringIO,
        Logger,
        Path,
        Thread,
        re.Match,
        re.Pattern,
        os,
        sys,
        datetime,
    )
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
_OWN = frozenset(("self", "cls", "this", "Self"))
_HANDED_ON = 5
"""How often a name may be handed on from file to file."""
_BASES = 20
"""Classes that are looked at for what one inherits."""


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
            if to in _classes_meant(code, one, name):
                yield ("tested by" if one.in_test else "inherited by"), one
    meant = [one for one in code.callers_of(name) if _calls(code, one, to)]
    for one in sorted(meant, key=lambda user: (user.in_test, user.path != to.path)):
        yield ("tested by" if one.in_test else "called by"), one


def _bases(code: ProjectCode, of: Definition) -> Iterator[tuple[Relation, Definition]]:
    for one in _base_classes(code, of):
        yield "inherits", one


def _callees(code: ProjectCode, of: Definition) -> Iterator[tuple[Relation, Definition]]:
    for called in of.entity.calls:
        name = called.rpartition(".")[2]
        meant = [one for one in code.named(name) if _calls(code, of, one)]
        yield from (("calls", one) for one in meant[:1] if not one.in_test or of.in_test)


def _base_classes(code: ProjectCode, of: Definition) -> list[Definition]:
    found = (_classes_meant(code, of, base.rpartition(".")[2]) for base in of.entity.bases)
    return [meant[0] for meant in found if meant]


def _classes_meant(code: ProjectCode, user: Definition, name: str) -> list[Definition]:
    """Return the class that a name in a definition means; none when that is not known."""
    classes = [one for one in code.named(name) if one.entity.kind == "class"]
    near = [one for one in classes if _is_visible(code, user, one)]
    if near:
        return near[:1]
    # Java and Go see what stands in the same package; elsewhere a name is imported, or it is "a.B".
    return classes if len(classes) == 1 and name not in _imported_names(code, user.path) else []


def _calls(code: ProjectCode, user: Definition, used: Definition) -> bool:
    """Say whether a call in one definition means the other, as far as that is known."""
    name = used.entity.own_name
    spelled = (called for called in user.entity.calls if called.rpartition(".")[2] == name)
    return any(_means(code, user, one.rpartition(".")[0], used) for one in spelled)


def _means(code: ProjectCode, user: Definition, before: str, used: Definition) -> bool:
    container = used.entity.name.rpartition(".")[0]
    if not before:
        return _is_bare(code, user, used)
    if before in _OWN:
        return bool(container) and _is_inherited(code, user, used)
    last = before.rpartition(".")[2]
    if container and last == container.rpartition(".")[2]:
        owners = [one for one in code.named(last) if one.entity.kind == "class"]
        return len(owners) == 1 or any(
            one.path == used.path and _is_visible(code, user, one) for one in owners
        )
    if not container:
        return last in _module_names(used.path) and used.path in code.graph.imported(user.path)
    # "model.invoke": a variable, whose class is not known; but only one class has that method.
    name = used.entity.own_name
    return len(code.named(name)) == 1 and name not in _OF_EVERY_TYPE


def _is_bare(code: ProjectCode, user: Definition, used: Definition) -> bool:
    """Say whether a name without anything before it means this definition."""
    container = used.entity.name.rpartition(".")[0]
    if container:
        # Java's own methods are called so.
        own = user.entity.name.startswith(f"{container}.") and user.path == used.path
        return own and code.files[user.path].language == "java"
    return _is_visible(code, user, used)


def _is_visible(code: ProjectCode, user: Definition, used: Definition) -> bool:
    """Say whether the name of a definition is known in another one's file, and means it there."""
    name, path = used.entity.own_name, user.path
    if path == used.path:
        return True
    if code.files[path].language in ("go", "java") and _folder(path) == _folder(used.path):
        return not (used.path.endswith("_test.go") and not path.endswith("_test.go"))
    return used.path in _sources(code, path, name)


def _sources(code: ProjectCode, path: str, name: str) -> set[str]:
    """Return the files that a name in a file may come from, also by way of others."""
    found: set[str] = set()
    waiting = [path]
    for _ in range(_HANDED_ON):
        new = {
            source
            for one in waiting
            for source in code.graph.taken_from(one, name)
            if source not in found
        }
        found |= new
        # A file that defines it hands nothing on.
        waiting = [one for one in new if not any(d.path == one for d in code.named(name))]
    return found


def _is_inherited(code: ProjectCode, user: Definition, used: Definition) -> bool:
    """Say whether `self.x` in one method is the other: of its class, or of one it builds on."""
    container = used.entity.name.rpartition(".")[0]
    waiting = _class_of(code, user)
    seen: set[str] = set()
    while waiting and len(seen) < _BASES:
        one = waiting.pop(0)
        if one.full_name in seen:
            continue
        seen.add(one.full_name)
        if one.entity.name == container and one.path == used.path:
            return True
        if any(member.entity.own_name == used.entity.own_name for member in code.members(one)):
            return False  # it has its own
        waiting += _base_classes(code, one)
    # Rust writes the methods of a type wherever it likes.
    outer = user.entity.name.rpartition(".")[0]
    return not seen and outer == container and _folder(user.path) == _folder(used.path)


def _class_of(code: ProjectCode, method: Definition) -> list[Definition]:
    outer = method.entity.name.rpartition(".")[0]
    named = code.named(outer.rpartition(".")[2]) if outer else []
    return [one for one in named if one.path == method.path and one.entity.name == outer]


def _imported_names(code: ProjectCode, path: str) -> set[str]:
    return {text.rpartition(":")[2] for text in code.files[path].imports if ":" in text}


def _module_names(path: str) -> tuple[str, ...]:
    """Return what a module is called where it is used: by its file, or by its folder."""
    *folders, file = path.split("/")
    stem = file.partition(".")[0]
    by_folder = stem in ("__init__", "index", "mod", "lib") or file.endswith(".go")
    return tuple(folders[-1:]) if by_folder else (stem,)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]
