"""Frames with one place to fill: what names are to start, or to end, with."""

from __future__ import annotations

import re

from ...text.terms import content_terms
from .forms import NOT_ABOUT

_NAMING = re.compile(
    r"\b(?:nam(?:e|ing)|writing|declaring|defining|creating|for|of) (?:your |all |our |the |any |"
    r"new )*(?P<after>(?:[a-z]+ ){0,2}[a-z]+s)\b"
    r"|(?P<before>(?:[a-z]{1,30} ){1,3})names?\b|\b(?:pre|suf)fix (?:for|in|on|"
    r"to) (?P<at>(?:[a-z]{1,30} )?[a-z]{1,30})\b"
)
_ENDS = re.compile(r"(?<!that )(?<!the )(?<!this )\b(?:end|ends|ending|suffix)\b")
_STARTS = re.compile(r"\b(?:start|starts|starting|begin|begins|beginning|prefix|preceded)\b")
_NO_ENTITY = NOT_ABOUT | frozenset(
    content_terms(
        "start end begin starting ending beginning name names naming with prefix suffix string"
        " consistently"
        " declaring defining creating writing"
        " convention conventions new rule standard coding when for that are maintain consistency"
        " include use"
    )
)


def frame_of(plain: str) -> str:
    """Return what is to start or to end with what is quoted; another value takes that place.

    Other quoted values (modules, decorators) are added to those there are.
    """
    place = "end" if _ENDS.search(plain) else "start" if _STARTS.search(plain) else ""
    if not place:
        return ""
    last: list[str] = []
    # "..., and start variable names with" is about what follows the "and".
    nearest = plain.partition("\u00a4")[0].rpartition(", and ")[2]
    after = plain if ", and " not in plain else f"{nearest} {plain.partition(chr(0xA4))[2]}"
    # The name that stands nearest to the value is the one that gets it.
    for found in [*reversed(list(_NAMING.finditer(nearest))), *_NAMING.finditer(after)]:
        named = content_terms(found["before"] or found["after"] or found["at"] or "")
        terms = sorted({term for term in named if term not in _NO_ENTITY})
        own = [term for term in terms if term not in _TAIL]
        if own:
            return f"{place} of {' '.join(own)}"
        last = terms or last
    return f"{place} of {' '.join(last)}" if last else ""


_TAIL = frozenset(content_terms("variables identifiers"))
"""Says no more than "names" behind another noun."""
