"""Refs: short names for records, cheap to show in a prompt.

A prefix and six base32 characters cost about five tokens where a UUID costs twenty-two. They are
unique per user: the store is asked before one is given out.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

from ..protocols import Store
from ..text.cleaning import digest

_LETTERS = "abcdefghijklmnopqrstuvwxyz234567"
_SHORT, _LONG = 6, 16

MakeRef = Callable[[str], str]
"""Takes a prefix and returns a new ref."""


def short_refs(store: Store, user: str, random: Random) -> MakeRef:
    """Return a maker of refs that the user has not got yet; use it inside `store.atomic`."""
    given: set[str] = set()

    def make(prefix: str) -> str:
        while True:
            ref = prefix + _letters(random, _SHORT)
            if ref not in given and not store.get(user, [ref]):
                given.add(ref)
                return ref

    return make


def long_ref(prefix: str, random: Random) -> str:
    """Return a ref that needs no asking; for records that no prompt shows."""
    return prefix + _letters(random, _LONG)


def code_ref(*parts: str) -> str:
    """Return the ref of a piece of code or of a file: another one when what it shows changed."""
    number = int(digest(*parts)[:12], 16)
    return "x" + "".join([_LETTERS[number >> 5 * at & 31] for at in range(7)])


def names_stored(ref: str) -> bool:
    """Say whether a ref is one that `short_refs` makes: of something that is kept in the store.

    What sources find elsewhere, such as code, is called otherwise.
    """
    return bool(_STORED.fullmatch(ref))


_STORED = re.compile(rf"[emnorst][{_LETTERS}]{{{_SHORT}}}")


def _letters(random: Random, n: int) -> str:
    # One draw: the system's randomness takes its time for each.
    bits = random.getrandbits(5 * n)
    return "".join([_LETTERS[bits >> 5 * at & 31] for at in range(n)])
