"""Whether a message is about the code of a project at all.

Any word of small talk stands in some file. What tells the two apart is whether a message speaks the
language that the project is written in, whether its words come together in one definition, and
whether it asks for a change as developers do. What each counts was fitted to commit messages and
ordinary chat over five projects (`benchmarks.code_requests`).
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from ...text.lexicon import EVERYDAY
from ...text.terms import stem
from ...workspace.mentions import symbols_in
from .columns import Columns
from .words import asked_terms

if TYPE_CHECKING:
    from numpy.typing import NDArray

_JUDGED = 16
"""Words that are looked at."""
_COMMON = 0.05
"""The share of files from which on a word is one that the project is written in."""
_MOST = 4
"""Words of a kind that count."""
_EVERYDAY_TOGETHER = 0.4
"""What an everyday word counts among those that stand together in one definition."""
_SHARED, _OWN, _RARE = 0.95, 1.05, 0.5
"""An everyday word of the project's language, another one of it, and one that it hardly has."""
_TOGETHER, _NAMED, _CHANGE = 1.25, 1.8, 3.5
"""Words in one definition, a symbol, a request for a change."""
_PATH, _EVERYDAY_PATH = 1.8, 0.9
"""A word of a file's name."""
_PERSONAL, _DOUBT, _VOCABULARY = 1.3, 3.75, 0.2
"""What speaks against it: somebody speaks of himself. What there must be at least, and how much
more in a large project, which has nearly every word."""


def about_code(
    view: Columns, text: str, places: Mapping[str, NDArray[np.intp]], *, symbols: bool | None = None
) -> float:
    """Return how surely a message is about the code: above 0 it is.

    `places` are the definitions that hold each of its words; `symbols` says whether it names any,
    where that is known.
    """
    judged = list(asked_terms(text))[:_JUDGED]
    shared = own = rare = 0
    together = np.zeros(view.size)
    in_path = 0.0
    for term in judged:
        everyday = term in _everyday()
        if term in view.named:
            in_path = max(in_path, _EVERYDAY_PATH if everyday else _PATH)
        held = places.get(term)
        if held is None or not len(held):
            continue
        together[held] += _EVERYDAY_TOGETHER if everyday else 1.0
        common = view.share(held) >= _COMMON
        shared += everyday and common
        own += not everyday and common
        rare += not everyday and not common
    best = float(together.max(initial=0.0))
    words = _SHARED * min(shared, _MOST) + _OWN * min(own, _MOST) + _RARE * min(rare, _MOST)
    named = bool(symbols_in(text)) if symbols is None else symbols
    asks = _CHANGE * bool(_CHANGES.match(text.lstrip()[:200])) + _NAMED * named + in_path
    doubt = _DOUBT + _VOCABULARY * math.log1p(len(view.paths))
    against = doubt + _PERSONAL * bool(_PERSON.search(text[:1000]))
    return words + _TOGETHER * min(best, _MOST) + asks - against


_PERSON = re.compile(r"\b(?:i|i'm|me|mine|my|we|you|your)\b", re.IGNORECASE)
_CHANGES = re.compile(
    r"""
    (?: [\w/.()-]{1,40}: \s+ )?+                 # "config: ...", "fix(router): ..."
    (?: (?: also|can|could|i|let's|lets|must|need|now|please|should|then|to|want|we|would|you)
        \s+ )*+
    (?: add(?:ed|ing|s)? | allow\w* | appl(?:y|ied) | avoid\w* | chang(?:e|ed|es) | clean\w*
      | convert\w* | correct(?:ed|s)? | deprecat\w+ | do(?:n't|\s+not) | document(?:ed|s)?
      | drop(?:ped|s)?
      | enabl\w+ | ensur\w+ | expos\w+ | extend\w* | fix\w* | handl\w+ | implement\w* | improv\w+
      | introduc\w+ | mov(?:e|ed|es) | optimi[sz]\w+ | prevent\w* | refactor\w* | remov\w+
      | renam\w+ | replac\w+ | restor\w+ | revert\w* | simplif\w+ | support\w* | tweak\w* | undo
      | updat\w+ | us(?:e|ed|es) | validat\w+ )\b
    """,
    re.IGNORECASE | re.VERBOSE,
)


@cache
def _everyday() -> frozenset[str]:
    return frozenset(map(stem, EVERYDAY))
