"""Secrets that their place tells: in headers, addresses, commands, and files of passwords."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from .kinds import HOOKED, Secret
from .literals import DIGIT, is_mixed, is_name, lowered, stands_for_something_else


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


_USER = re.compile(r"(?!\[REDACTED:)[^\s/@:\"'`\[\]]{0,256}:(?![{$<%*])([^\s/@\"'`\[\]]{3,256})@")
_PARAMETER = re.compile(
    r"[?&;](?:[\w-]{0,40}[_-])?(?i:sig|signature|key|apikey|token|secret|code|auth|sid|jwt|pwd)="
    r"([\w.~%+/=:-]{16,}+)(?![(\[{])",
    re.ASCII,
)
_AUTHORIZATION = re.compile(
    r"authorization\\?[\"']?\s{0,3}[:=]\s{0,3}\\?[\"']?(?:bearer|basic|token|apikey)\s{1,3}"
    r"([\w.~+/=-]{8,}+)|bearer\s{1,3}([\w.~+/=-]{20,}+)",
    re.IGNORECASE | re.ASCII,
)
_COOKIE = re.compile(r"[Cc](?i:ookie)s?[\"']?\]?\s{0,2}[:=]\s{0,2}", re.ASCII)
_PAIR = re.compile(r"(?<![\w.-])[\w.-]{1,64}=\"?([^;\s\"',\[\](){}]{12,}+)", re.ASCII)

_GIVEN = r"[\"']?([^\s\"'|;&]{3,}+)"
_USER_AND = r"(?:=|\s{0,3})[\"']?[^\s:\"'$]{1,64}:([^\s\"']{3,}+)"
_FLAGS: dict[str, re.Pattern[str]] = {
    command: re.compile(rf"(?<!\S){flag}")
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
_COMMAND = re.compile("|".join(_FLAGS))

_NETRC = re.compile(
    r"(?:machine\s{1,4}\S{1,255}|default)\s{1,8}(?:login|user)\s{1,4}\S{1,255}\s{1,8}"
    r"password\s{1,4}(?!\[REDACTED:)(\S{3,}+)"
)
_PORT = re.compile(r":(?:\d{4,5}|\*):[A-Za-z_*][^\s:]{0,62}:[A-Za-z_*][^\s:]{0,62}:([^\s:\[]{4,}+)")
_HOST = re.compile(r"(?<![\w/.*-])[\w.*-]{1,255}\Z", re.ASCII)
_CRYPT = re.compile(
    r"\$(?:[1567]|2[abxy]|y|gy|apr1|argon2(?:id|i|d)|scrypt|sha1|pbkdf2[\w-]{0,12})"
    r"\$[\w./,=$+-]{20,}+",
    re.ASCII,
)
_KIND = re.compile(r"kind:[ \t]{0,4}[\"']?Secret\b")
_DATA = re.compile(r"^(?:data|stringData):[ \t]*\n((?:[ \t]+[\w.-]+:[^\n]*\n?)+)", re.MULTILINE)
_DATUM = re.compile(r"^[ \t]+[\w.-]+:[ \t]*[\"']?([^\s\"'|>\[{][^\s\"']{5,})", re.MULTILINE)

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
