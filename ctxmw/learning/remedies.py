"""What failed and then worked: a call that failed, and the one that did what it was to do.

Two calls belong together when the later one is the earlier one mended: the same tool with arguments
that were changed and not exchanged, or another tool with the same arguments. Where the same call
works the next time, what was done in between is the remedy, if that was one thing. Looking at
something mends nothing, and whatever else is called after a failure is no remedy for it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

AHEAD = 6
"""How many calls after a failure may be its remedy."""
_ALIKE, _LONG = 0.82, 5
_SHARED = 0.5
_COMPARED = 400
"""Characters of two values that are compared."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallOutcome:
    """One call of a tool, as far as it tells what mends what."""

    name: str
    args: Mapping[str, Any]
    failure: str
    """The line that names its failure; "" when it has worked."""
    works: bool
    """Whether nothing in its output looks like a failure."""
    looks: bool = False
    """Whether it only looks at something."""
    changes: bool = False
    """Whether it changes a file: what mends one piece of code is no remedy for another."""


@dataclass(frozen=True, slots=True)
class Remedy:
    """Where what failed stands, all tries of it, where what helped, and what shows that it did."""

    tries: tuple[int, ...]
    worked: int
    shown: int


def remedies(calls: Sequence[CallOutcome]) -> Iterator[Remedy]:
    """Yield what mended which calls, one remedy for all tries of the same."""
    mended: set[int] = set()
    for at, failed in enumerate(calls):
        if not failed.failure or at in mended:
            continue
        worked, shown = _worked(calls, at)
        if worked is None:
            continue
        # Tries in between failed for the same remedy.
        between = (one for one in range(at + 1, worked) if calls[one].failure)
        related = (one for one in between if _are_tries(failed, calls[one], calls[worked]))
        tries = (at, *related)
        mended.update(tries)
        yield Remedy(tries, worked, shown)


def _are_tries(failed: CallOutcome, other: CallOutcome, worked: CallOutcome) -> bool:
    return _is_same(failed, other) or _mends(other, worked) or _mends(failed, other)


def _worked(calls: Sequence[CallOutcome], at: int) -> tuple[int | None, int]:
    """Return where the remedy of a failed call stands, and what shows it; None: there is none."""
    failed = calls[at]
    for later in range(at + 1, min(len(calls), at + 1 + AHEAD)):
        if not calls[later].works:
            continue
        if _is_same(failed, calls[later]):
            # It was not the call: something else has helped, or nothing had to.
            done = [one for one in range(at + 1, later) if _does_something(calls[one])]
            return (done[0] if len(done) == 1 and _helps(failed, calls[done[0]]) else None), later
        if _mends(failed, calls[later]):
            return later, later
    return None, at


def _helps(failed: CallOutcome, done: CallOutcome) -> bool:
    """Say whether what was done in between is why the same call works now."""
    if done.changes:
        return False
    # What fails by itself, works by itself the next time: then another tool had no part in it.
    return done.name == failed.name or bool(_LACKS.search(failed.failure))


_LACKS = re.compile(
    r"\b(?:no module named|not installed|cannot find module|unauthori[sz]ed|401|expired"
    r"|not logged in|log ?in|authenticat\w+|permission|denied|locked"
    r"|not (?:running|started|connected|initiali[sz]ed)"
    r"|missing|required|uncommitted|outdated|out of date)\b",
    re.IGNORECASE,
)


def _does_something(call: CallOutcome) -> bool:
    return call.works and not call.looks


def _is_same(one: CallOutcome, other: CallOutcome) -> bool:
    return one.name == other.name and _plain(one.args) == _plain(other.args)


def _mends(failed: CallOutcome, worked: CallOutcome) -> bool:
    if worked.looks and not failed.looks:
        return False
    if failed.name != worked.name:
        return _same_values(failed.args, worked.args)
    if not failed.args or not worked.args:
        return bool(_ABOUT_ARGUMENTS.search(failed.failure))
    kept = failed.args.keys() & worked.args.keys()
    changed = [key for key in kept if failed.args[key] != worked.args[key]]
    if _ABOUT_ARGUMENTS.search(failed.failure):
        # The form was wrong: with the same names, another value is the right form.
        return bool(kept) and not any(_is_exchanged(failed, worked, key) for key in changed)
    if not kept or (len(kept) == len(failed.args) == len(worked.args) and not changed):
        return False
    taken = bool(_TAKEN.search(failed.failure))
    return all(_is_mended(failed.args[key], worked.args[key], taken=taken) for key in changed)


_TAKEN = re.compile(
    r"\b(?:in use|already (?:exists?|taken|used|booked)|occupied|not available)\b", re.IGNORECASE
)
"""Where another number helps."""
_ABOUT_ARGUMENTS = re.compile(
    r"\b(?:invalid|expect(?:s|ed)?|must (?:be|have)|requires?d?|missing|unexpected|unrecognized"
    r"|unknown (?:argument|option|flag|field|parameter|column)|validation|TypeError|ValueError"
    r"|400|422|bad request|usage|malformed|syntax|not allowed|cannot parse|could not parse)\b",
    re.IGNORECASE,
)
_FREE = frozenset("command cmd code script query sql input text prompt expression".split())
"""Arguments that hold anything: two of them belong together only where they share words."""
_WORD = re.compile(r"\w{3,}")


def _is_exchanged(failed: CallOutcome, worked: CallOutcome, key: str) -> bool:
    if key.lower() not in _FREE:
        return False
    return not _is_mended(failed.args[key], worked.args[key])


def _is_mended(before: object, after: object, *, taken: bool = False) -> bool:
    """Say whether a value is another one put right, and not just another one.

    `taken` says that the first one was taken: then the next of a series puts it right.
    """
    one, other = (_plain(value)[:_COMPARED].lower() for value in (before, after))
    if one == other:
        return True
    numbers = [len(re.findall(r"\d+", text)) for text in (one, other)]
    if re.sub(r"\d+", "", one) == re.sub(r"\d+", "", other) and numbers[0] == numbers[1]:
        return taken  # the next of a series
    short, long = sorted((one, other), key=len)
    if len(short) >= 3 and short in long:
        return True
    if "/" in long and not re.search(r"\s", long):
        return _is_same_place(one.rstrip("/").split("/"), other.rstrip("/").split("/"))
    words, others = set(_WORD.findall(one)), set(_WORD.findall(other))
    if not words or not others or words == others:
        return False
    if len(words) == len(others) == 1:
        return _are_alike(one, other)
    if not _begin_alike(one.split(), other.split()):
        return False  # another command for the same files, or another page of the same site
    shared = words & others
    # A file's ending, or what every call begins with, is not what two calls have in common.
    return len(shared) > 1 and len(shared) / min(len(words), len(others)) >= _SHARED


def _begin_alike(before: Sequence[str], after: Sequence[str]) -> bool:
    """Say whether two texts begin with the same word, or the first one's is in the other."""
    return bool(before and after) and (before[0] in after or _are_alike(before[0], after[0]))


def _are_alike(one: str, other: str) -> bool:
    """Say whether a word is another one with a typo."""
    long = min(len(one), len(other)) >= _LONG
    return long and SequenceMatcher(None, one, other).ratio() >= _ALIKE


def _is_same_place(one: Sequence[str], other: Sequence[str]) -> bool:
    """Say whether two paths or addresses name the same: found elsewhere, or with a typo put right.

    That the beginning is the same says nothing: so it is for all pages of a site.
    """
    if len(one[-1]) > 3 and one[-1] == other[-1]:
        return True
    differ = [pair for pair in zip(one, other, strict=False) if pair[0] != pair[1]]
    return len(one) == len(other) and len(differ) == 1 and _are_alike(*differ[0])


def _same_values(failed: Mapping[str, Any], worked: Mapping[str, Any]) -> bool:
    """Say whether another tool was given all that the first one was: a path, an address."""
    wanted = {_plain(value) for value in failed.values()}
    given = {_plain(value) for value in worked.values()}
    return any(len(value) >= _LONG for value in wanted) and wanted <= given


def _plain(value: object) -> str:
    if isinstance(value, str):
        return value.strip()
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (TypeError, ValueError):
        return str(value)
