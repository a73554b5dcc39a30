"""The settings as text: a file to fill in, and rows for the reference; made from the code."""

from __future__ import annotations

import ast
import inspect
import json
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from itertools import pairwise
from typing import Any, get_args

from pydantic import BaseModel

from .settings import Settings

_TOP = """\
# Settings of ctxmw for this folder and those below it. Every line is a comment that shows the
# default: take the "# " away to change one. The environment wins over this file
# (CTXMW_MAX_TOKENS=2000, CTXMW_BUDGET__TURN=600), and arguments win over both. store, user, index,
# embedder, redaction, retention, catalog and servers hold once you say so: ctxmw trust.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Key:
    """One setting."""

    table: str
    """The table it stands in; "" for none."""
    name: str
    default: str
    """As it is written in a file; "" when there is none."""
    says: str


def keys() -> list[Key]:
    """Return every setting, in the order of the file."""
    return list(_keys(Settings))


def commented() -> str:
    """Return a file that says what can be set and sets nothing."""
    lines, table = [_TOP], ""
    for key in keys():
        if key.table != table:
            table = key.table
            # A plain table may stand there empty; an entry of a list may not.
            lines += ["", f"# {table}" if table.startswith("[[") or "." in table else table]
        lines += textwrap.wrap(key.says, 96, initial_indent="# ", subsequent_indent="# ")
        lines += [f"# {key.name} = {key.default or _EXAMPLES.get(key.name, '...')}", ""]
    return "\n".join(lines).rstrip("\n") + "\n"


_EXAMPLES = {
    "store": '"memory.db"',
    "project": '"shop"',
    "language": '"python"',
    "max_tokens": "4000",
    "max_context_tokens": "2800",
    "min_relevance": "0.5",
    "max_index_entries": "20",
    "model": '"gpt-5"',
    "window": "200000",
    "embedder": '"wordllama"',
    "index": '"numpy"',
    "deadline": "200",
    "strict": "false",
    "kind": '"rule"',
    "name": '"Error handling"',
    "include": '"agent"',
    **dict.fromkeys(("turns", "observations", "notes"), "90"),
    **dict.fromkeys(("summaries", "memories"), "365"),
}


def _keys(cls: Any, table: str = "") -> Iterator[Key]:
    told, nested = _docstrings(cls), []
    for name, default, annotation in _fields(cls):
        inner = _table(annotation)
        if inner is None:
            text = "" if default in (None, MISSING) else json.dumps(default)
            yield Key(table=table, name=name, default=text, says=told.get(name, ""))
        else:
            nested.append((_heading(name, annotation), inner))
    for heading, inner in nested:
        yield from _keys(inner, heading)


def _fields(cls: Any) -> Iterator[tuple[str, Any, Any]]:
    if is_dataclass(cls):
        for field in fields(cls):
            yield field.name, field.default, None
        return
    for name, field in cls.model_fields.items():
        yield name, (None if field.is_required() else field.default), field.annotation


def _table(annotation: Any) -> Any:
    """Return what is behind a table of the file; None for a plain value."""
    inside = [kind for kind in (annotation, *get_args(annotation)) if isinstance(kind, type)]
    made = [kind for kind in inside if is_dataclass(kind) or issubclass(kind, BaseModel)]
    return made[0] if made else None


def _heading(name: str, annotation: Any) -> str:
    kinds = get_args(annotation)
    if not kinds:
        return f"[{name}]"
    return f"[{name}.NAME]" if str in kinds else f"[[{name}]]"


def _docstrings(cls: Any) -> dict[str, str]:
    """Return the text below each field: Python itself keeps none of them."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(cls))).body
    told: dict[str, str] = {}
    statements = body.body if isinstance(body, ast.ClassDef) else []
    for field, text in pairwise(statements):
        match field, text:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(value=ast.Constant(value=said)):
                told[name] = " ".join(str(said).split())
    return told
