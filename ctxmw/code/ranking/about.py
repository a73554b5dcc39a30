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
from itertools import islice
from typing import TYPE_CHECKING

import numpy as np

from ...text.lexicon import EVERYDAY
from ...text.patterns.late import late_pattern
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
_TABLE = 2500
"""Words of a definition that is a table of data: it has nearly every word and tells nothing."""
_SHARED, _OWN, _RARE = 0.95, 1.1, 0.9
"""An everyday word of the project's language, another one of it, and one that it hardly has."""
_TOGETHER, _NAMED, _SHAPED, _CHANGE = 1.1, 1.2, 1.9, 4.7
"""Words in one definition, a symbol, what has the shape of code, a request for a change."""
_MORE_SHAPED, _MOST_SHAPED = 0.6, 3
"""What a further piece counts that has the shape of code, and how many are looked at."""
_LOCATES = 1.3
"""Whether it is asked where something is done, or how."""
_FORBIDS = 1.6
"""What is not to be done: said in small talk as well."""
_PATH, _EVERYDAY_PATH = 1.7, 0.8
"""A word of a file's name."""
_PERSONAL, _DOUBT, _VOCABULARY = 1.6, 3.0, 0.35
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
        held = places.get(term, _NOWHERE)
        held = held[view.lengths[held] <= _TABLE]
        if not len(held):
            continue
        together[held] += _EVERYDAY_TOGETHER if everyday else 1.0
        common = view.share(held) >= _COMMON
        shared += everyday and common
        own += not everyday and common
        rare += not everyday and not common
    best = float(together.max(initial=0.0))
    words = _SHARED * min(shared, _MOST) + _OWN * min(own, _MOST) + _RARE * min(rare, _MOST)
    named = bool(symbols_in(text)) if symbols is None else symbols
    shaped = sum(1 for _ in islice(_CODE_SHAPED.finditer(text[:1000]), _MOST_SHAPED))
    shapes = _SHAPED + _MORE_SHAPED * (shaped - 1) if shaped else 0.0
    begins = text.lstrip()[:200]
    change = _CHANGE * bool(_CHANGES.match(begins)) + _FORBIDS * bool(_FORBIDDEN.match(begins))
    personal = 0.5 * bool(_PERSON.search(text[:1000]))
    personal += 0.5 * bool(_PERSON.search(_ANYBODY.sub("", text[:1000])))
    locates = _LOCATES * (bool(_LOCATED.match(begins)) and not personal)
    asks = change + locates + _NAMED * named + in_path
    doubt = _DOUBT + _VOCABULARY * math.log1p(len(view.paths))
    against = doubt + _PERSONAL * personal
    return words + _TOGETHER * min(best, _MOST) + asks + shapes - against


_NOWHERE = np.zeros(0, np.intp)
_CODE_SHAPED = late_pattern(
    r"""
    (?<![\w-]) --?[a-z]                            # --config, -c
  | [a-z0-9]_ | [a-z][A-Z] | `[^`\s] | \w\(         # max_size, dstok_, isOpen, `x`, run(
  | \b[A-Z]{2,5}s?\b                              # API, URLs
  | (?<![\w/]) /[a-z-]                             # /login, /-/config
  | \w\.(?:py|js|ts|go|rs|json|html|css|md|toml|ya?ml)\b
    """,
    re.VERBOSE,
)
_PERSON = late_pattern(r"\b(?:i|i'm|me|mine|my|we|you|your)\b", re.IGNORECASE)
_ANYBODY = late_pattern(
    r"\b(?:how|where)\s{1,3}(?:can|do|should)\s{1,3}(?:i|we|you)\b", re.IGNORECASE
)
"""How is it done, and not how does this one do it."""
_LOCATED = late_pattern(r"(?:where|which|how\s{1,3}(?:is|are|does))\b", re.IGNORECASE)
_FORBIDDEN = late_pattern(r"(?:please\s{1,3})?do(?:n't|\s{1,3}not)\b", re.IGNORECASE)
_CHANGES = late_pattern(
    r"""
    (?: build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test )
    (?: \( [\w/.,@\ -]{1,40} \) )?+ !?+ : \s      # "fix: ...", "feat(router)!: ..."
  | (?: [\w/.()-]{1,40}: \s+ )?+                 # "config: ..."
    (?: (?: also|can|could|i|let's|lets|must|need|now|please|should|then|to|want|we|would|you)
        \s+ )*+
    (?: add(?:ed|ing|s)? | allow\w* | appl(?:y|ied) | avoid\w* | chang(?:e|ed|es) | clean\w*
      | convert\w* | correct(?:ed|s)? | deprecat\w+ | document(?:ed|s)?
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
