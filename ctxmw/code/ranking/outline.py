"""The map of a project: what others use most comes first."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from ...text.patterns.late import late_pattern
from ..files import Definition
from .search import FoundFile

if TYPE_CHECKING:
    from ..index import ProjectCode

_ASKED_IN = 200
"""Characters of a message that may ask for an outline: a longer one asks for something else."""
_DEFINITIONS = 12
_CALLED, _IMPORTED = 0.2, 1.0
"""What a definition that is called counts for its file, and what a file that imports it does."""


def asks_for_outline(text: str) -> bool:
    """Say whether a message asks what a project is, and for nothing in particular."""
    said = text.strip()
    return len(said) <= _ASKED_IN and bool(_ASKS.search(said))


def most_used(code: ProjectCode, most: int) -> list[FoundFile]:
    """Return the files that are used most, with their outer definitions, the most used first."""
    view = code.columns
    aside = dict(zip(view.paths, view.aside, strict=True))
    used: dict[str, list[tuple[Definition, float]]] = {}
    scores: dict[str, float] = {}
    for path in view.paths:
        if aside[path]:
            continue
        outer = [one for one in code.in_file(path) if _is_outer(one)]
        ranked = sorted(((one, _uses(code, one)) for one in outer), key=lambda pair: -pair[1])
        used[path] = ranked[:_DEFINITIONS]
        importers = sum(not aside.get(other, True) for other in code.graph.importers(path))
        scores[path] = _IMPORTED * importers + _CALLED * sum(uses for _, uses in used[path])
    # A package's own file only passes on what is defined elsewhere.
    ranked_files = sorted(scores.items(), key=lambda pair: -pair[1])
    first = [(path, score) for path, score in ranked_files if used[path]][:most]
    top = first[0][1] or 1.0 if first else 1.0
    return [FoundFile(path, score / top, tuple(used[path])) for path, score in first]


def _is_outer(one: Definition) -> bool:
    return one.entity.kind in ("class", "function") and "." not in one.entity.name


def _uses(code: ProjectCode, one: Definition) -> float:
    name = one.entity.own_name
    private = name.startswith("_")
    users = {*code.callers_of(name), *code.derived_from(name)}
    elsewhere = {user.path for user in users if not user.in_test and user.path != one.path}
    return len(elsewhere) + (0.0 if private else 0.5)


_WHAT = r"(?:code ?base|project|repo(?:sitory)?|package|library|code|app(?:lication)?)"
_THIS = rf"(?:this|the|our|my)\s+(?:\w+\s+)?{_WHAT}"
_ASKS = late_pattern(
    rf"""
    \bwhat(?:'s|\s+is|\s+are|\s+does)\s+(?:in\s+|inside\s+)?{_THIS}(?:\s+(?:do|about|for))?\s*[?.!]*$
  | \b(?:overview|outline|map|summary|structure|layout|architecture|tour)
    \s+(?:of|for|through)\s+{_THIS}
  | \bhow\s+is\s+{_THIS}\s+(?:organi[sz]ed|structured|laid\s+out|built|set\s+up)
  | \b(?:describe|explain|outline|summari[sz]e|map)\s+(?:me\s+)?{_THIS}\s*[?.!]*$
  | \bwhat\s+(?:files|modules|packages|parts|components)\s+(?:are|does)\b.{{0,20}}{_THIS}
    """,
    re.IGNORECASE | re.VERBOSE,
)
