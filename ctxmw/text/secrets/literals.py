"""What a literal looks like: a secret, a name in code, or what stands in for one."""

from __future__ import annotations

import re

DIGIT = re.compile(r"[0-9]")
LETTER = re.compile(r"[^\W\d_]")


def lowered(text: str) -> str:
    """Return the text in lower case, every character where it was."""
    low = text.lower()
    return low if len(low) == len(text) else text.replace("İ", "I").lower()


def is_mixed(value: str) -> bool:
    """Say whether there are letters and digits in it."""
    return bool(DIGIT.search(value) and LETTER.search(value))


def is_name(value: str) -> bool:
    """Say whether it is a name as code has them: oauth2.grant.refresh_token, V1ObjectReference.

    That is made of words; what is random changes more often between cases and digits.
    """
    if not _NAME.fullmatch(value):
        return False
    parts = _HUMP.findall(value)
    letters = sum(map(len, parts))
    return len(parts) > 1 and letters >= 3.4 * len(parts) and len(_NUMBER.findall(value)) <= 2


def stands_for_something_else(value: str) -> bool:
    """Say whether it is what documentation puts where a secret would be, or a name of one."""
    return bool(" " in value or _NO_SECRET.fullmatch(value) or _ELIDED.search(value))


_NAME = re.compile(r"\.?[A-Za-z_][\w.:-]*", re.ASCII)
_HUMP = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_NUMBER = re.compile(r"\d+")
# Names of things, places of secrets, and what documentation puts there instead of a secret.
_NO_SECRET = re.compile(
    r"""\A(?: [<{\[].* | \*+ | [a-z]\w{0,15}://.*
      | \$(?:[{(].*|\d|(?-i:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*)) | %(?:[srd]|\(.*|\w+%)
      | (?:your|example|sample|dummy|change_?me|placeholder|redacted|todo)(?![a-z]).*
      | [a-z_.-]*(?:passw(?:or)?d|pass|secret|token|key|pwd)s?[\d_]{0,2}(?:\\[nrt])?
      | (?:~|\.{0,2})/[\w.-]+(?:/[\w.-]+)*+
      | (?:sha|md|base|utf|aes|[reh]s|argon|oauth|uuid|pbkdf)[-_]?\d{1,4}[-_]?[a-z]{0,6} )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_ELIDED = re.compile(r"\*\*\*|\.\.\.|…|xxxx|\[REDACTED:", re.IGNORECASE)
