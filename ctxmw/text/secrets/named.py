"""Secrets that a name tells: what is assigned to a password, a token, a vendor's key.

The name alone is not enough: code reads secrets, documentation puts something else in their place,
and a count of tokens is none. What is taken for a secret is a literal that looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from .kinds import NAMED_LENGTHS, Secret, named_patterns
from .literals import is_mixed, is_name, lowered, stands_for_something_else

_LONG = 512  # so much of a value decides; without a limit, "token:token:..." is quadratic


def assigned_values(text: str) -> Iterator[Secret]:
    """Find what is assigned to a name that says it is secret: `DB_PASSWORD=...`, "token": "..."."""
    end = 0
    low = lowered(text)
    for word in _WORD.finditer(low):
        if word.start() < end or _is_mark(text, word.start()):
            continue
        name = _name(text, low, word)
        value = name and _VALUE.match(text, name.end, name.end + _LONG)
        if not name or not value:
            continue
        start, end_of_value = value.span(value.lastgroup or 0)
        secret = text[start:end_of_value]
        if value["bare"]:
            secret = secret.rstrip(").]}>:!?\\")
        if _is_secret(secret, name, quoted=not value["bare"]):
            cut = end_of_value == name.end + _LONG
            end = _end_of_run(text, end_of_value) if cut else start + len(secret)
            yield Secret(start, end, name.kind)


def vendor_values(text: str) -> Iterator[Secret]:
    """Find what stands beside a vendor's name and is made as its keys are."""
    for value in _LONG_VALUE.finditer(text):
        if len(value[1]) not in NAMED_LENGTHS or not is_mixed(value[1]):
            continue
        vendor = _vendor_before(text, value.start())
        if vendor and _VENDORS[vendor].fullmatch(value[1]):
            yield Secret(*value.span(1), "key")


_VENDORS = named_patterns()
_LONG_VALUE = re.compile(r"[=:]>?[\"'` \t]{0,5}([\w.+/%:-]{15,160}+={0,3})", re.ASCII)


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of these names, grouped by their first letter: most are passed over."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        groups.setdefault(name[0], []).append(re.escape(name[1:]))
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items())


_VENDOR = re.compile(_any_of(_VENDORS))
_UP_TO_SIGN = re.compile(r"([ \t\w.-]{0,20})[:=\"'\s]{0,4}\Z", re.ASCII)
_CHECKSUM = re.compile(r"sha|md5|hash|digest|commit|integrity|checksum|rev|version|id\b|url|uri")


def _vendor_before(text: str, sign: int) -> str:
    """Return the vendor whose name stands before a sign, unless a checksum is what is told."""
    before = text[max(0, sign - 44) : sign].lower()
    for vendor in _VENDOR.finditer(before):
        gap = _UP_TO_SIGN.match(before, vendor.end())
        if gap and not _CHECKSUM.search(gap[1]):
            return vendor[0]
    return ""


_WORD = re.compile("pass|pwd|secret|token|key")
_PASS = re.compile(r"pass(?:w(?:or)?d|phrase)|(?<=[_.-])pass|(?<![a-z])pass(?==)")
_KEY = re.compile(r"(?:api|access|account|auth|encryption|master|private|signing|shared)[_-]?\Z")
_FLAG = re.compile(r"(?<![\w-])--(?:[a-z]{1,12}-){0,3}\Z")
# What a value is called goes on, up to where the value begins. The name may stand in quotes,
# brackets or Markdown; a flag (`--token x`) needs no sign, and a password may be told.
_SIGN = r"""(?P<more>[_.-][\w.-]{1,24}|\d{1,3}|[A-Z]\w{0,24})?
    (?: [\\"'`*\]]{0,4}[ \t]{0,4}(?::[ ]?(?:str|string|SecretStr)[ ]{0,2}=|=>|:=|={1,2}|:)
        [\\*]{0,2}[ \t]{0,4}
      | ["']\s{1,3}value=
"""
_AFTER = re.compile(_SIGN + ")", re.VERBOSE | re.ASCII)
_AFTER_FLAG = re.compile(_SIGN + "| [ ])", re.VERBOSE | re.ASCII)
_AFTER_PASSWORD = re.compile(_SIGN + "| [ ](?:is|was):?[ ])", re.VERBOSE | re.ASCII)
_VALUE = re.compile(
    r"""[bru]{0,2}(?P<quote>\\?["'`])(?P<quoted>(?:(?!(?P=quote))[^\n])++)
      | (?P<bare>(?:[^\s"'`,;&]++|&(?!\w{1,30}=))++)""",
    re.VERBOSE | re.ASCII,
)


class _Name(NamedTuple):
    kind: str
    end: int
    """Where the value begins."""
    in_capitals: bool
    """As in an environment: DB_PASSWORD=x needs no quotes."""
    goes_on: bool
    """The word is only the beginning of the name: password_iterations."""


def _name(text: str, low: str, word: re.Match[str]) -> _Name | None:
    """Return the name of a secret that this word stands in, if something is assigned to it."""
    kind, start, end = word[0], word.start(), word.end()
    if kind == "key" and not _KEY.search(low, max(0, start - 12), start):
        return None
    if kind in ("pass", "pwd"):
        kind = "password"
        if word[0] == "pass":
            whole = _PASS.match(low, start)
            if not whole:
                return None
            end = whole.end()
    flag = low[start - 1 : start] == "-" and _FLAG.search(low, max(0, start - 42), start)
    after = _AFTER_FLAG if flag else _AFTER_PASSWORD if kind == "password" else _AFTER
    sign = after.match(text, end)
    if not sign:
        return None
    called = text[start : sign.end()]
    return _Name(
        kind=kind,
        end=sign.end(),
        in_capitals=called.isupper() and called.endswith("="),
        goes_on=text[end] in "_.-",
    )


def _is_mark(text: str, start: int) -> bool:
    """Say whether the word is the kind in a mark of ours, "[REDACTED:github_token]"."""
    opened = text.rfind("[REDACTED:", max(0, start - 40), start)
    return opened >= 0 and "]" not in text[opened:start]


_RUN = re.compile(r"[^\s\"'`]*+")


def _end_of_run(text: str, start: int) -> int:
    run = _RUN.match(text, start)
    return run.end() if run else start


_JOINT = re.compile(r"[_.]")
_CODE = re.compile(r"[()\[\]{}<>|]")
_ODD = re.compile(r"[^\w.:/-]")


def _is_secret(value: str, name: _Name, *, quoted: bool) -> bool:
    """Tell a secret from code that reads one, from a count, a word or a placeholder.

    Without quotes it needs letters and digits, since `password = default_password_of` and
    "password: required" look the same; in a line like DB_PASSWORD=x the quotes are not needed.
    """
    mixed = is_mixed(value)
    literal = quoted or name.in_capitals
    if name.kind in ("password", "secret"):
        odd = literal and (len(value) >= 10 or bool(_ODD.search(value)))
        number = value.isdigit() and not name.goes_on
        looks_secret = len(value) >= 6 and (mixed or odd or number)
    else:
        odd = literal and len(value) >= 20 and not (value.islower() or value.isupper())
        looks_secret = len(value) >= 12 and (mixed or odd)
    if not looks_secret or (not quoted and _CODE.search(value)):
        return False
    if name.kind == "password" and (literal or not _JOINT.search(value)):
        return not stands_for_something_else(value)
    return not stands_for_something_else(value) and not is_name(value)
