"""Whether a tool's output tells of a failure, and of which: the line that names it.

Stricter than a search for the word "error": a file that is read may speak of errors, and a test
report may count none. What fails says so at its start, by an exit code or by an HTTP status.
"""

from __future__ import annotations

import re

from .cleaning import digest, one_line
from .patterns.late import late_pattern

LINE = 200
"""Characters of the line that names a failure."""
READ = 6000
"""Characters of an output that are read, half of them at its end."""

_STARTS = late_pattern(
    r"\s{0,40}+(?:(?!no\b|0\b|without\b)\w{1,40} )?"
    r"(?:(?:error|exception|failed|failure|fatal|panic|traceback)\b|usage:)"
    r"|\s{0,40}+[\w.]{0,120}(?:Error|Exception)\b"
    r"|\s{0,40}+(?:http(?:/[\d.]{1,6})? |status(?: code)?:? )[45]\d\d\b"
    r"|\s{0,40}+[45]\d\d(?=:| (?:bad|unauthori|forbidden|not |internal|service|too many|gateway|conflict"
    r"|client|server|method|request|unprocess))"
    r'|\s{0,40}+\{\s{0,40}+"(?:error|errors|exception)"\s{0,40}+:\s{0,40}+(?!null|false|""|\[\]|\{\})',
    re.IGNORECASE,
)
_SAYS = late_pattern(
    r"\bexit(?:ed)?(?: with)? (?:code|status):? ?[1-9]\d*"
    r"|\breturn(?: ?code|ed non-zero exit status):? ?[1-9]\d*"
    r'|"(?:exit_code|returncode|exitCode)": ?[1-9]\d*'
    r'|"(?:status|status_code|statusCode)": ?[45]\d\d\b'
    r"|\bHTTP(?:/[\d.]+)? [45]\d\d\b|\b[45]\d\d (?:client|server) error\b"
    r"|\bstatus code:? [45]\d\d\b"
    r"|^Traceback \(most recent call last\)",
    re.IGNORECASE | re.MULTILINE,
)
_SHORT_SAYS = late_pattern(
    r"\bcommand not found\b|\bno such (?:file|command|option)\b|\bpermission denied\b"
    r"|\b(?:password|login|authentication) is required\b|\baccess denied\b|\baborted\b"
    r"|\bnot recognized as\b|\bcould not (?:find|resolve|connect)\b|\bconnection refused\b",
    re.IGNORECASE,
)
_NAMED = late_pattern(r"\b[\w.]{0,80}[a-z](?:Error|Exception)\b:? ?[^\n]*")
_LINES = late_pattern(r"[^\n]+")
_CHANGES = (
    (late_pattern(r"0x[0-9a-f]+|\b[0-9a-f]{8,}\b"), "#"),
    (late_pattern(r"\d+"), "0"),
    (late_pattern(r"\s+"), " "),
)


def failure_in(output: str, *, failed: bool = False) -> str:
    """Return the line of an output that names its failure; "" when it tells of none.

    `failed` says that it is known to have failed, whatever it says.
    """
    text = output if len(output) <= READ else f"{output[: READ // 2]}\n{output[-READ // 2 :]}"
    lines = [found[0].strip() for found in _LINES.finditer(text) if found[0].strip()]
    if not lines:
        return "no output" if failed else ""
    starts = bool(_STARTS.match(text))
    short = len(lines) <= 3 and any(map(_SHORT_SAYS.search, lines))
    if not (failed or starts or short or _SAYS.search(text)):
        return ""
    named = [found[0] for found in _NAMED.finditer(text)]
    if named:
        return one_line(named[-1], LINE)
    telling = (line for line in lines if _SHORT_SAYS.search(line))
    plain = next(telling, lines[0])
    return one_line(plain, LINE)


def failures_named(text: str) -> list[str]:
    """Return the lines of a message that name a failure, as a person pastes or reports them."""
    named = [found[0] for found in _NAMED.finditer(text[:READ])]
    lines = [found[0].strip() for found in _LINES.finditer(text[:READ])]
    said = [line for line in lines if _STARTS.match(line) or _SHORT_SAYS.search(line)]
    return list(dict.fromkeys(one_line(line, LINE) for line in (*named, *said)))


def failure_key(line: str) -> str:
    """Return what is equal for two lines that name the same failure: numbers do not count."""
    text = line.lower().strip(" .!?'\"`")
    for pattern, instead in _CHANGES:
        text = pattern.sub(instead, text)
    return digest("failure", text)[:32]
