"""Names that are nearly ours, in a table that applications and frameworks fill with their own.

A misspelt name would be passed over in silence, and a call would go on without its user. An error
for an application's own name would be worse. So one slip of the fingers counts, where it makes no
word of its own and what is given could be meant for us; everything else is somebody else's.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from uuid import UUID

from ..errors import InvalidValue

OURS = "ctxmw"
"""Names that begin so are nobody else's."""
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W_]+")
_LONG, _MIDDLING = 6, 4
"""Letters of words in which any slip counts, and of those in which only some do."""
_OTHER_WORDS = frozenset(
    # One letter away from thread, session, project, user and learn, and words of their own, in the
    # languages of those who write applications.
    "threads threat tread thead dread sessions cession projects projekt projet protect prefect"
    " users uses use used ser lean earn lear learns learnt yearn".split()
)


def check_names(
    given: Mapping[Any, Any], names: Collection[str], where: str, *, said: Collection[str] = ()
) -> None:
    """Raise for a name that is one of ours but for its spelling, or begins as ours and is none.

    `where` is what the table is called. What is `said` elsewhere is not meant by another name here.
    """
    for key, value in given.items():
        if not isinstance(key, str) or key in names or value is None:
            continue
        meant = _meant(key, value, names)
        if meant is not None and given.get(meant) is None and meant not in said:
            raise InvalidValue(
                f"{where} has {key!r}, which says nothing here: did you mean {meant!r}?"
            )
        if _is_one_slip((_WORD.findall(key.lower()) or [""])[0], OURS):
            rest = key.lower().removeprefix(OURS).strip("_")
            near = get_close_matches(rest, names, n=1, cutoff=0.5)
            hint = f"did you mean {near[0]!r}?" if near else f"it takes {', '.join(names)}."
            raise InvalidValue(f"{where} has {key!r}, which the memory does not know: {hint}")


def _meant(key: str, value: Any, names: Collection[str]) -> str | None:
    plain = "".join(_words(key))
    spelt = next((name for name in names if "".join(_words(name)) == plain), None)
    # What begins with an underscore is a framework's own; a name is no list.
    if spelt is not None or key.startswith("_") or not isinstance(value, str | int | UUID | Path):
        return spelt
    return next((name for name in names if _is_near(key, name)), None)


def _is_near(key: str, name: str) -> bool:
    """Say whether two names differ by one slip, in one of their words."""
    given, wanted = _words(key), _words(name)
    if len(given) == 1 < len(wanted):
        return _is_transposed(given[0], "".join(wanted))
    if len(given) != len(wanted):
        return False
    differ = [pair for pair in zip(given, wanted, strict=True) if pair[0] != pair[1]]
    return len(differ) == 1 and _is_one_slip(*differ[0])


def _is_one_slip(given: str, wanted: str) -> bool:
    """Say whether a word may be another one, mistyped.

    Two letters that changed places; in all but short words one that is missing or stands twice; in
    long ones another letter, or one too many.
    """
    if given == wanted or given in _OTHER_WORDS or _is_transposed(given, wanted):
        return given not in _OTHER_WORDS
    if len(wanted) < _MIDDLING:
        return False
    longer, shorter = sorted((given, wanted), key=len, reverse=True)
    if len(longer) == len(shorter):
        apart = sum(one != other for one, other in zip(given, wanted, strict=True))
        return apart == 1 and len(wanted) >= _LONG
    cuts = [at for at in range(len(longer)) if longer[:at] + longer[at + 1 :] == shorter]
    twice = any(longer[at] == longer[at - 1] for at in cuts if at)
    return bool(cuts) and (longer == wanted or twice or len(wanted) >= _LONG)


def _is_transposed(given: str, wanted: str) -> bool:
    swapped = (
        wanted[:at] + wanted[at + 1] + wanted[at] + wanted[at + 2 :]
        for at in range(len(wanted) - 1)
        if wanted[at] != wanted[at + 1]
    )
    return given in swapped


def _words(name: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(name)]
