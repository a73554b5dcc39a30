"""Takes secrets out of a text before the first byte of it is written.

What is stored is shown to models later, so a key pasted once would come back for ever. The
patterns name the well-known forms of keys and the places where secrets stand (`password = ...`,
`Authorization: ...`, the user part of an address); nothing is guessed from randomness alone, so
hashes, ids and encoded images stay as they are. Every pattern is linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from .text import storable


@dataclass(frozen=True, slots=True, kw_only=True)
class Redacted:
    """A text that may be stored."""

    text: str
    """Every secret in it is replaced by "[REDACTED:type]"."""
    found: tuple[str, ...] = ()
    """The type of each secret that was replaced."""


def redact(text: str) -> Redacted:
    """Replace secrets, and whatever stands between <private> and </private>.

    An unclosed <private> reaches to the end. Redacting twice changes nothing more. What comes out
    can be stored: halves of surrogate pairs are replaced.
    """
    found: list[str] = []
    text = storable(text)
    for find in _FINDERS:
        if secrets := list(find(text)):
            text = _without(text, secrets)
            found += (secret.type for secret in secrets)
    return Redacted(text=text, found=tuple(found))


class _Secret(NamedTuple):
    start: int
    end: int
    type: str


def _without(text: str, secrets: list[_Secret]) -> str:
    pieces, kept_from = [], 0
    for secret in secrets:
        pieces += [text[kept_from : secret.start], f"[REDACTED:{secret.type}]"]
        kept_from = secret.end
    return "".join([*pieces, text[kept_from:]])


_PRIVATE = re.compile(r"<\s{0,3}(/?)\s{0,3}private\s{0,3}>", re.IGNORECASE)


def _private_regions(text: str) -> Iterator[_Secret]:
    depth = start = 0
    for tag in _PRIVATE.finditer(text):
        if not tag[1]:
            start = start if depth else tag.start()
            depth += 1
        elif depth:
            depth -= 1
            if not depth:
                yield _Secret(start, tag.end(), "private")
    if depth:
        yield _Secret(start, len(text), "private")


# A key runs to the next five dashes, be they its own end or not, or to what was redacted before.
_PEM = re.compile(
    r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(?:[^-\[]|-(?!----)|\[(?!REDACTED:))*+"
    r"(-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----)?"
)
_BASE64 = re.compile(r"[A-Za-z0-9+/=]{32}")


def _private_keys(text: str) -> Iterator[_Secret]:
    for key in _PEM.finditer(text):
        if key[1] or _BASE64.search(key[0]):
            yield _Secret(*key.span(), "private_key")


_TOKENS = re.compile(
    r"""(?<![A-Za-z0-9])(?=[AESadeghlnprstwxy])(?:
    (?P<anthropic_key>sk-ant-[\w-]{20,}+)
  | (?P<openai_key>sk-[\w-]{20,}+)
  | (?P<stripe_key>(?:[sr]k_(?:live|test)|whsec)_[A-Za-z0-9]{16,}+)
  | (?P<aws_key>(?:AKIA|ASIA)[A-Z0-9]{16}(?![A-Za-z0-9]))
  | (?P<github_token>gh[pousr]_[A-Za-z0-9]{30,}+|github_pat_\w{22,}+)
  | (?P<gitlab_token>gl(?:pat|ptt|dt|rt|soat|cbt|ft|imt)-[\w-]{20,}+)
  | (?P<slack_token>xox[abceoprs](?:\.xox[bp])?-[\w-]{10,}+|xapp-[\w-]{10,}+)
  | (?P<google_key>AIza[\w-]{35,}+|ya29\.[\w-]{20,}+)
  | (?P<huggingface_token>hf_[A-Za-z0-9]{30,}+)
  | (?P<npm_token>npm_[A-Za-z0-9]{36,}+)
  | (?P<pypi_token>pypi-[\w-]{50,}+)
  | (?P<sendgrid_key>SG\.[\w-]{16,}+\.[\w-]{16,}+)
  | (?P<digitalocean_token>do[opr]_v1_[a-f0-9]{64,}+)
  | (?P<langsmith_key>lsv2_(?:pt|sk)_\w{32,}+)
  | (?P<model_key>(?:gsk_|xai-|tvly-|pplx-|r8_|nvapi-)[\w-]{24,}+)
  | (?P<jwt>(?<![\w-])eyJ[\w-]{8,}+\.[\w-]{8,}+\.[\w-]*+)
    )""",
    re.VERBOSE | re.ASCII,
)
_DIGIT = re.compile(r"[0-9]")


def _tokens(text: str) -> Iterator[_Secret]:
    for token in _TOKENS.finditer(text):
        # "sk-fading-circle-container" is a class of a style sheet.
        if _DIGIT.search(token[0]):
            yield _Secret(*token.span(), str(token.lastgroup))


_USER_OF_ADDRESS = re.compile(
    r"(?<=://)(?!\[REDACTED:)[^\s/@:\"'`]{0,256}:(?![{$<%*])[^\s/@\"'`]{1,256}@"
)


def _address_credentials(text: str) -> Iterator[_Secret]:
    for user in _USER_OF_ADDRESS.finditer(text):
        yield _Secret(user.start(), user.end() - 1, "url_credentials")


_AUTHORIZATION = re.compile(
    r"authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:bearer|basic|token)\s{1,3}"
    r"([\w.~+/=-]{8,}+)|bearer\s{1,3}([\w.~+/=-]{20,}+)",
    re.IGNORECASE | re.ASCII,
)


def _authorizations(text: str) -> Iterator[_Secret]:
    for header in _AUTHORIZATION.finditer(text):
        if header[1] or _DIGIT.search(header[2]):
            yield _Secret(*header.span(header.lastindex or 0), "authorization")


# What a value is called, up to where it begins. The name may stand in quotes, brackets or
# Markdown; a flag (`--token x`) needs no sign, and a password may be told ("the password is x").
_NAME = re.compile(
    r"""(?<!\[REDACTED:)(?P<flag>(?<![\w-])--(?:[a-z]{1,12}-){0,3})?
    (?: (?P<password>passw(?:or)?d|passphrase|pwd|(?<=[_.-])pass|(?<![a-z])pass(?==))
      | (?P<secret>secret)
      | (?P<token>token)
      | (?P<key>(?:api|access|account|auth|encryption|master|private|signing)[_-]?key)
    )
    (?:[_.-][\w.-]{1,24}|\d{1,3}|(?-i:[A-Z])\w{0,24})?
    (?: [\\"'`*\]]{0,4}[ \t]{0,4}(?::[ ]?(?:str|string|SecretStr)[ ]{0,2}=|=>|:=|={1,2}|:)
        [\\*]{0,2}[ \t]{0,4}
      | (?(flag)[ ]|(?!))
      | (?(password)[ ]is:?[ ]|(?!))
    )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_VALUE = re.compile(
    r"""[bru]{0,2}(?P<quote>\\?["'`])(?P<quoted>(?:(?!(?P=quote))[^\n])++)
      | (?P<bare>(?:[^\s"'`,;&]++|&(?!\w{1,30}=))++)""",
    re.VERBOSE | re.ASCII,
)
_NAMES_ONE = re.compile(r"pass|pwd|secret|token|key", re.IGNORECASE | re.ASCII)
_LONG = 512  # so much of a value decides; without a limit, "token:token:..." is quadratic


def _assigned_values(text: str) -> Iterator[_Secret]:
    if not _NAMES_ONE.search(text):  # most texts: this is ten times as quick
        return
    end = 0
    for name in _NAME.finditer(text):
        value = _VALUE.match(text, name.end(), name.end() + _LONG)
        if name.start() < end or not value:
            continue
        start, end_of_value = value.span(value.lastgroup or 0)
        secret = text[start:end_of_value]
        if value["bare"]:
            secret = secret.rstrip(").]}>:!?\\")
        if _is_secret(secret, name, quoted=not value["bare"]):
            cut = end_of_value == name.end() + _LONG
            end = _end_of_run(text, end_of_value) if cut else start + len(secret)
            yield _Secret(start, end, str(name.lastgroup))


_RUN = re.compile(r"[^\s\"'`]*+")


def _end_of_run(text: str, start: int) -> int:
    run = _RUN.match(text, start)
    return run.end() if run else start


_CODE = re.compile(r"[()\[\]{}<>|]")
# Names of things, places of secrets, and what documentation puts there instead of a secret.
_NO_SECRET = re.compile(
    r"""\A(?: [<{$%*].* | [a-z]\w{0,15}://.*
      | (?:your|example|sample|dummy|change_?me|placeholder|redacted|todo)(?![a-z]).*
      | [a-z_.-]*(?:passw(?:or)?d|secret|token|key|pwd)s?[\d_]{0,2}
      | (?:~|\.{0,2})/[\w.-]+(?:/[\w.-]+)*+
      | (?:sha|md|base|utf|aes|[reh]s|argon|oauth|uuid|pbkdf)[-_]?\d{1,4}[-_]?[a-z]{0,6} )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_ELIDED = re.compile(r"\*\*\*|\.\.\.|…|xxxx|\[REDACTED:", re.IGNORECASE)
_LETTER = re.compile(r"[^\W\d_]")
_SIGN = re.compile(r"[^\w.:/-]")


def _is_secret(value: str, name: re.Match[str], *, quoted: bool) -> bool:
    """Tell a secret from code that reads one, from a count, a word or a placeholder.

    Without quotes it needs letters and digits, since `password = default_password_of` and
    "password: required" look the same; in a line like DB_PASSWORD=x the quotes are not needed.
    """
    mixed = bool(_DIGIT.search(value) and _LETTER.search(value))
    literal = quoted or (name[0].isupper() and name[0].endswith("="))
    if name["password"] or name["secret"]:
        odd = literal and (len(value) >= 10 or bool(_SIGN.search(value)))
        looks_secret = len(value) >= 6 and (mixed or odd or _is_number_code(value, name))
    else:
        odd = literal and len(value) >= 20 and not (value.islower() or value.isupper())
        looks_secret = len(value) >= 12 and (mixed or odd)
    return looks_secret and not _stands_for_something_else(value, quoted=quoted)


def _stands_for_something_else(value: str, *, quoted: bool) -> bool:
    code = not quoted and _CODE.search(value)
    return bool(code or " " in value or _NO_SECRET.fullmatch(value) or _ELIDED.search(value))


def _is_number_code(value: str, name: re.Match[str]) -> bool:
    """`password: 482913` is one; `password_iterations = 600000` is not."""
    return value.isdigit() and name.string[name.end(str(name.lastgroup))] not in "_.-"


_FINDERS: tuple[Callable[[str], Iterator[_Secret]], ...] = (
    _private_regions,
    _private_keys,
    _tokens,
    _address_credentials,
    _authorizations,
    _assigned_values,
)
