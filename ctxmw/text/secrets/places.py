"""Secrets that what stands around them tells: headers, addresses, commands, names of values.

A name alone is not enough: code reads secrets, documentation puts something else in their place,
and a count of tokens is none. What is taken for a secret is a literal that looks like one.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from ..patterns.late import late_pattern
from .kinds import HOOKED, NAMED_LENGTHS, Secret, named_patterns


def in_addresses(text: str) -> Iterator[Secret]:
    """Find what stands before the host: `postgresql://app:secret@db`."""
    start = text.find("://")
    while start >= 0:
        user = _USER.match(text, start + 3)
        if user and not stands_for_something_else(user[1]):
            yield Secret(user.start(), user.end() - 1, "url_credentials")
        start = text.find("://", user.end() if user else start + 3)


def in_hooks(text: str) -> Iterator[Secret]:
    """Find addresses that let whoever knows them post."""
    for host, pattern in HOOKED:
        if host in text:
            yield from (Secret(*hook.span(1), "webhook") for hook in pattern.finditer(text))


def in_queries(text: str) -> Iterator[Secret]:
    """Find keys and signatures among the parameters of an address."""
    if "=" not in text or not ("?" in text or "&" in text or ";" in text):
        return
    for parameter in _PARAMETER.finditer(text):
        value = parameter[1]
        if is_mixed(value) and not stands_for_something_else(value) and not is_name(value):
            yield Secret(*parameter.span(1), "url_key")


def in_headers(text: str) -> Iterator[Secret]:
    """Find what stands in an Authorization header, or after "bearer"."""
    low = lowered(text)
    if "authorization" in low or "bearer" in low:
        for header in _AUTHORIZATION.finditer(text):
            secret = header[1] or (header[2] if DIGIT.search(header[2]) else "")
            if secret and not stands_for_something_else(secret):
                yield Secret(*header.span(header.lastindex or 0), "authorization")


def in_cookies(text: str) -> Iterator[Secret]:
    """Find the values of cookies that look like keys: not `theme=dark`."""
    if "ookie" not in text and "OOKIE" not in text:
        return
    end = 0
    for header in _COOKIE.finditer(text):
        if header.start() < end:
            continue
        end = _end_of_line(text, header.end(), 4096)
        for pair in _PAIR.finditer(text, header.end(), end):
            if is_mixed(pair[1]) and not stands_for_something_else(pair[1]):
                yield Secret(*pair.span(1), "cookie")


def in_commands(text: str) -> Iterator[Secret]:
    """Find passwords given to commands: `curl -u ann:secret`, `mysql -psecret`."""
    if not (" -" in text or "\t-" in text or "\n-" in text):
        return
    end = 0
    for command in _COMMAND.finditer(text):
        flags = _FLAGS[command[0]]
        for flag in flags.finditer(text, command.end(), _end_of_line(text, command.end(), 400)):
            start, stop = flag.span(1)
            if start >= end and not stands_for_something_else(flag[1]):
                end = stop
                yield Secret(start, stop, "password")


def in_netrc(text: str) -> Iterator[Secret]:
    """Find the password of `machine x login y password z`."""
    if "password" in text and ("machine" in text or "default" in text):
        yield from (Secret(*line.span(1), "password") for line in _NETRC.finditer(text))


def in_pgpass(text: str) -> Iterator[Secret]:
    """Find the last field of `host:port:database:user:password`."""
    for port in _PORT.finditer(text):
        if _HOST.search(text, max(0, port.start() - 255), port.start()) and len(port[1]) >= 4:
            yield Secret(*port.span(1), "password")


def in_shadow(text: str) -> Iterator[Secret]:
    """Find hashes of passwords, from which weak ones are found out."""
    if "$" in text:
        yield from (Secret(*line.span(), "password_hash") for line in _CRYPT.finditer(text))


def in_manifests(text: str) -> Iterator[Secret]:
    """Find the values in the manifest of a Kubernetes Secret."""
    if "ecret" not in text or "ata:" not in text:
        return
    kinds = [kind.start() for kind in _KIND.finditer(text)]
    if not kinds:
        return
    for data in _DATA.finditer(text):
        if any(abs(data.start() - kind) < 4000 for kind in kinds[:64]):
            for value in _DATUM.finditer(text, data.start(1), data.end(1)):
                if not stands_for_something_else(value[1]):
                    yield Secret(*value.span(1), "secret")


def _end_of_line(text: str, start: int, most: int) -> int:
    """Return where a line ends that may go on after a backslash, so many characters on at most."""
    end = text.find("\n", start, start + most)
    while end > 0 and text[end - 1] == "\\":
        end = text.find("\n", end + 1, start + most)
    return end if end >= 0 else min(start + most, len(text))


_USER = late_pattern(r"(?!\[REDACTED:)[^\s/@:\"'`\[\]]{0,256}:(?![{$<%*])([^\s/@\"'`\[\]]{3,256})@")
_PARAMETER = late_pattern(
    r"[?&;](?:[\w-]{0,40}[_-])?(?i:sig|signature|key|apikey|token|secret|code|auth|sid|jwt|pwd)="
    r"([\w.~%+/=:-]{16,}+)(?![(\[{])",
    re.ASCII,
)
_AUTHORIZATION = late_pattern(
    r"authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:bearer|basic|token|apikey)\s{1,3}"
    r"([\w.~+/=-]{8,}+)|bearer\s{1,3}([\w.~+/=-]{20,}+)",
    re.IGNORECASE | re.ASCII,
)
_COOKIE = late_pattern(r"[Cc](?i:ookie)s?[\"']?\]?\s{0,2}[:=]\s{0,2}", re.ASCII)
_PAIR = late_pattern(r"(?<![\w.-])[\w.-]{1,64}=\"?([^;\s\"',\[\](){}]{12,}+)", re.ASCII)

_GIVEN = r"[\"']?([^\s\"'|;&]{3,}+)"
_USER_AND = r"(?:=|\s{0,3})[\"']?[^\s:\"'$]{1,64}:([^\s\"']{3,}+)"
_FLAGS: dict[str, re.Pattern[str]] = {
    command: late_pattern(rf"(?<!\S){flag}")
    for commands, flag in (
        (("curl", "wget"), rf"(?:-u|--user|-U|--proxy-user){_USER_AND}"),
        (("mysql", "mariadb"), rf"-p{_GIVEN}"),
        (("sshpass", "mongo"), rf"-p\s{{0,3}}{_GIVEN}"),
        (("docker login", "podman login", "helm registry"), rf"-p\s{{1,3}}{_GIVEN}"),
        (("redis-cli",), rf"-a\s{{1,3}}{_GIVEN}"),
        (("ldapsearch",), rf"-w\s{{1,3}}{_GIVEN}"),
        (("smbclient",), r"-U\s{0,3}[\"']?[^\s%\"']{1,64}%([^\s\"']{3,}+)"),
    )
    for command in commands
}
_COMMAND = late_pattern("|".join(_FLAGS))

_NETRC = late_pattern(
    r"(?:machine\s{1,4}\S{1,255}|default)\s{1,8}(?:login|user)\s{1,4}\S{1,255}\s{1,8}"
    r"password\s{1,4}(?!\[REDACTED:)(\S{3,}+)"
)
_PORT = late_pattern(
    r":(?:\d{4,5}|\*):[A-Za-z_*][^\s:]{0,62}:[A-Za-z_*][^\s:]{0,62}:([^\s:\[]{4,}+)"
)
_HOST = late_pattern(r"(?<![\w/.*-])[\w.*-]{1,255}\Z", re.ASCII)
_CRYPT = late_pattern(
    r"\$(?:[1567]|2[abxy]|y|gy|apr1|argon2(?:id|i|d)|scrypt|sha1|pbkdf2[\w-]{0,12})"
    r"\$[\w./,=$+-]{20,}+",
    re.ASCII,
)
_KIND = late_pattern(r"kind:[ \t]{0,4}[\"']?Secret\b")
_DATA = late_pattern(r"^(?:data|stringData):[ \t]*\n((?:[ \t]+[\w.-]+:[^\n]*\n?)+)", re.MULTILINE)
_DATUM = late_pattern(r"^[ \t]+[\w.-]+:[ \t]*[\"']?([^\s\"'|>\[{][^\s\"']{5,})", re.MULTILINE)

PLACES: tuple[Callable[[str], Iterator[Secret]], ...] = (
    in_addresses,
    in_hooks,
    in_queries,
    in_headers,
    in_cookies,
    in_commands,
    in_netrc,
    in_pgpass,
    in_shadow,
    in_manifests,
)


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
    if "=" not in text and ":" not in text:
        return
    for value in _LONG_VALUE.finditer(text):
        if len(value[1]) not in NAMED_LENGTHS or not is_mixed(value[1]):
            continue
        vendor = _vendor_before(text, value.start())
        if vendor and _VENDORS[vendor].fullmatch(value[1]):
            yield Secret(*value.span(1), "key")


_VENDORS = named_patterns()
_LONG_VALUE = late_pattern(r"[=:]>?[\"'` \t]{0,5}([\w.+/%:-]{15,160}+={0,3})", re.ASCII)


def _any_of(names: Iterable[str]) -> str:
    """Return a pattern of these names, grouped by their first letter: most are passed over."""
    groups: dict[str, list[str]] = {}
    for name in sorted(names, key=len, reverse=True):
        groups.setdefault(name[0], []).append(re.escape(name[1:]))
    return "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in groups.items())


_VENDOR = late_pattern(_any_of(_VENDORS))
_UP_TO_SIGN = late_pattern(r"([ \t\w.-]{0,20})[:=\"'\s]{0,4}\Z", re.ASCII)
_CHECKSUM = late_pattern(r"sha|md5|hash|digest|commit|integrity|checksum|rev|version|id\b|url|uri")


def _vendor_before(text: str, sign: int) -> str:
    """Return the vendor whose name stands before a sign, unless a checksum is what is told."""
    before = text[max(0, sign - 44) : sign].lower()
    for vendor in _VENDOR.finditer(before):
        gap = _UP_TO_SIGN.match(before, vendor.end())
        if gap and not _CHECKSUM.search(gap[1]):
            return vendor[0]
    return ""


_WORD = late_pattern("pass|pwd|secret|token|key")
_PASS = late_pattern(r"pass(?:w(?:or)?d|phrase)|(?<=[_.-])pass|(?<![a-z])pass(?==)")
_KEY = late_pattern(r"(?:api|access|account|auth|encryption|master|private|signing|shared)[_-]?\Z")
_FLAG = late_pattern(r"(?<![\w-])--(?:[a-z]{1,12}-){0,3}\Z")
# What a value is called goes on, up to where the value begins. The name may stand in quotes,
# brackets or Markdown; a flag (`--token x`) needs no sign, and a password may be told.
_SIGN = r"""(?P<more>[_.-][\w.-]{1,24}|\d{1,3}|[A-Z]\w{0,24})?
    (?: [\\"'`*\]]{0,4}[ \t]{0,4}(?::[ ]?(?:str|string|SecretStr)[ ]{0,2}=|=>|:=|={1,2}|:)
        [\\*]{0,2}[ \t]{0,4}
      | ["']\s{1,3}value=
"""
_AFTER = late_pattern(_SIGN + ")", re.VERBOSE | re.ASCII)
_AFTER_FLAG = late_pattern(_SIGN + "| [ ])", re.VERBOSE | re.ASCII)
_AFTER_PASSWORD = late_pattern(_SIGN + "| [ ](?:is|was):?[ ])", re.VERBOSE | re.ASCII)
_VALUE = late_pattern(
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


_RUN = late_pattern(r"[^\s\"'`]*+")


def _end_of_run(text: str, start: int) -> int:
    run = _RUN.match(text, start)
    return run.end() if run else start


_JOINT = late_pattern(r"[_.]")
_CODE = late_pattern(r"[()\[\]{}<>|]")
_ODD = late_pattern(r"[^\w.:/-]")


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


DIGIT = late_pattern(r"[0-9]")
LETTER = late_pattern(r"[^\W\d_]")


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


_NAME = late_pattern(r"\.?[A-Za-z_][\w.:-]*", re.ASCII)
_HUMP = late_pattern(r"[A-Z]?[a-z]+|[A-Z]+")
_NUMBER = late_pattern(r"\d+")
# Names of things, places of secrets, and what documentation puts there instead of a secret.
_NO_SECRET = late_pattern(
    r"""\A(?: [<{\[].* | \*+ | [a-z]\w{0,15}://.*
      | \$(?:[{(].*|\d|(?-i:[A-Z_][A-Z0-9_]*|[a-z_][a-z0-9_]*)) | %(?:[srd]|\(.*|\w+%)
      | (?:your|example|sample|dummy|change_?me|placeholder|redacted|todo)(?![a-z]).*
      | [a-z_.-]*(?:passw(?:or)?d|pass|secret|token|key|pwd)s?[\d_]{0,2}(?:\\[nrt])?
      | (?:~|\.{0,2})/[\w.-]+(?:/[\w.-]+)*+
      | (?:sha|md|base|utf|aes|[reh]s|argon|oauth|uuid|pbkdf)[-_]?\d{1,4}[-_]?[a-z]{0,6} )""",
    re.VERBOSE | re.IGNORECASE | re.ASCII,
)
_ELIDED = late_pattern(r"\*\*\*|\.\.\.|…|xxxx|\[REDACTED:", re.IGNORECASE)
