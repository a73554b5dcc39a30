"""Which words of a message are its speaker's own, and which were pasted in.

Nobody says who wrote what a person pastes, but pasted text has a structure that speech has not:
headers, tags, fences, quote marks, names and times before lines, prompts of shells and agents. What
has an end (a fence, a tag, a marked quote, code, a log) is left out up to there. What has none (a
mail, a chat, a page) is left out up to the end of the message: where its author stops and the
speaker goes on cannot be seen, and rather something is missed than a stranger believed.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from ..patterns.late import late_pattern
from .pasted import CLOCK, DAY, first_pasted
from .referred import GONE

SPOKEN = 20_000
"""Characters beyond which nobody says a message: whatever follows is pasted."""


def own_words(text: str) -> str:
    """Return a message without what is not its speaker's own; an empty line stands where it was."""
    lines = _without_enclosed(text[:SPOKEN]).split("\n")
    lines = lines[: first_pasted(lines)]
    lines = _without_machine_text(lines)
    own = [line.replace(GONE, " ") if line.strip(f"{GONE} \t") else "" for line in lines]
    return "\n".join(own) if own != text.split("\n") else text


def has_pasted(text: str) -> bool:
    """Say whether something in a message is not its speaker's own."""
    return own_words(text) != text


# -- what has a beginning and an end ----------------------------------------------------------


def _without_enclosed(text: str) -> str:
    for spans in (_fences, _tags, _comments, _marked, _quotations, _structures):
        text = _blanked(text, spans(text))
    return text


def _blanked(text: str, spans: Iterable[tuple[int, int]]) -> str:
    pieces, at = [], 0
    for start, end in spans:
        pieces += [text[at:start], _NO_BREAK.sub(GONE, text[start:end])]
        at = end
    return "".join([*pieces, text[at:]])


_NO_BREAK = late_pattern(r"[^\n]")


_FENCE = late_pattern(r"^[ \t]{0,3}(`{3,}|~{3,})([^\n`]*)$", re.MULTILINE)


def _fences(text: str) -> Iterator[tuple[int, int]]:
    opened: re.Match[str] | None = None
    for found in _FENCE.finditer(text):
        if opened is None:
            opened = found
        elif found[1].startswith(opened[1]) and not found[2].strip():
            yield opened.start(), found.end()
            opened = None
    if opened is not None:
        yield opened.start(), len(text)


_OPENING = late_pattern(r"<([A-Za-z][\w:.-]{0,40})(?:\s[^<>\n]{0,300})?(?<!/)>")
_CLOSING = late_pattern(r"</([A-Za-z][\w:.-]{0,40})\s{0,3}>")


def _tags(text: str) -> Iterator[tuple[int, int]]:
    # Up to the last one of its name: a document may hold what looks like its end.
    ends = {found[1].lower(): found.end() for found in _CLOSING.finditer(text)}
    over = 0
    for found in _OPENING.finditer(text):
        if found.start() < over:
            continue
        end = ends.get(found[1].lower(), 0)
        if end <= found.start() and _is_alone(text, found):
            end = len(text)
        if end > found.start():
            yield found.start(), end
            over = end


def _is_alone(text: str, found: re.Match[str]) -> bool:
    before = text[max(0, found.start() - 20) : found.start()].rpartition("\n")[2]
    return not before.strip() and _BREAK.match(text, found.end()) is not None


_BREAK = late_pattern(r"[ \t]{0,20}\n")


_COMMENT = late_pattern(
    r"\\begin\{(?P<name>[\w*]{1,30})\}(?s:.*?)(?:\\end\{(?P=name)\}|\Z)"
    r"|/\*(?s:.*?)(?:\*/|\Z)|<!--(?s:.*?)(?:-->|\Z)"
)


def _comments(text: str) -> Iterator[tuple[int, int]]:
    yield from (found.span() for found in _COMMENT.finditer(text))


_BEGIN = late_pattern(
    r"^[ \t]{0,40}(?:[-=#*_<>\[\]+~]{2,}[ \t]{0,40}(?:begin|start)(?:ning)?\b[^\n]{0,80}"
    r"|\[(?P<name>[A-Za-z][\w ]{0,30})\][ \t]{0,40})$",
    re.IGNORECASE | re.MULTILINE,
)
_END = late_pattern(r"^[ \t]{0,40}[-=#*_<>\[\]+~]{2,}[ \t]{0,40}end\b[^\n]{0,80}$", re.I | re.M)


_NAMED_END = late_pattern(r"\[/([A-Za-z][\w ]{0,30})\]")


def _marked(text: str) -> Iterator[tuple[int, int]]:
    named = {found[1]: found.end() for found in _NAMED_END.finditer(text)}
    last = max((found.end() for found in _END.finditer(text)), default=0)
    over = 0
    for found in _BEGIN.finditer(text):
        if found.start() < over:
            continue
        if found["name"] is None:
            end = last if last > found.start() else len(text)
        else:
            end = named.get(found["name"], 0)
        if end > found.start():
            yield found.start(), end
            over = end


_QUOTE = late_pattern(
    r"\u201c[^\u201c\u201d]*?\n[^\u201c]*?(?:\u201d|\Z)|\u201e[^\u201c\u201d]*?\n[^\u201e]*?(?:[\u201c\u201d]|\Z)"
    r"|«[^«»]*?\n[^«]*?(?:»|\Z)|^[ \t]{0,40}\"[ \t]{0,40}\n(?s:.*?)(?:^[^\n\"]*\"[ \t]{0,40}$|\Z)"
    r"|^[ \t]{0,40}\"\"\"(?s:.*?)(?:\"\"\"|\Z)",
    re.MULTILINE,
)


def _quotations(text: str) -> Iterator[tuple[int, int]]:
    """Yield quotes of several lines; those within one are left to whoever reads the sentence."""
    yield from (found.span() for found in _QUOTE.finditer(text))


_BRACKET = late_pattern(r"[\[\]{}]")
_STRUCTURE = late_pattern(r"^[ \t]{0,40}[\[{](?=[\s\[{]{0,20}(?:\"|\n))", re.MULTILINE)


_PAIR = late_pattern(r"\" ?:")


def _structures(text: str) -> Iterator[tuple[int, int]]:
    """Yield JSON, from its first bracket to the last that belongs to it."""
    over = 0
    for found in _STRUCTURE.finditer(text):
        if found.start() < over:
            continue
        depth = 0
        for bracket in _BRACKET.finditer(text, found.start()):
            depth += 1 if bracket[0] in "[{" else -1
            if not depth:
                over = bracket.end()
                break
        else:
            over = len(text)
        if _PAIR.search(text, found.start(), over):
            yield found.start(), over


# -- what machines print ----------------------------------------------------------------------

_PRINTED = late_pattern(
    r"[ ]{0,3}>|[-dlrwx]{10}[.+@]?[ \t]{1,40}\d|[ \t]{0,40}(?:at [\w.$<>]{1,120}\(|File \")|[ \t]{0,40}\|.{0,400}\|[ \t]{0,40}$"
)
_CODE = late_pattern(
    r"""\A(?:import[ ][\w.{*] | from[ ][\w.]{1,80}[ ]import[ ] | (?:async[ ])?def[ ]\w{1,60}\( | @\w{1,60} | \#include
      | class[ ]\w{1,60}\b.{0,200}[:{(] | package[ ][\w.]{1,80};?$ | using[ ][\w.]{1,80}; | return\b.{0,200}[;)]$
      | (?:(?:export|public|private|protected|static|final)[ ]){0,4}
        (?:function|const|let|var|interface|enum|struct|void|int|fn|func|impl|type)[ ]
        [\w$*<]{1,80}.{0,200}[=({;]
      | [\w.]{1,80}\(.{0,200}\);?$ | [)}\]]{1,20}[;,)]{0,20}$ | \w[\w.\[\]]{0,80}[ ]?[-+*/]?=[ ]?\S | .{0,400}[;{]$
      | elif[ ] | else:$ | (?:if|while|for|with|except)\b.{0,200}:$ | try:$ | // | --[ ])
    """,
    re.VERBOSE,
)
_LOGGED = late_pattern(rf"[ \t]{{0,40}}\[?{DAY}[T ]{CLOCK}")


_KEYED = late_pattern(r"[a-z_][\w-]{0,60}:[ \t]{0,40}$|\.\. [\w-]{1,60}::|.{0,400}::[ \t]{0,40}$")
_INSET = late_pattern(r"[ ]{2}|\t")


def _without_machine_text(lines: Sequence[str]) -> list[str]:
    """Return the lines without code and logs: these go on until a line after an empty one."""
    own: list[str] = []
    within = keyed = False
    for at, line in enumerate(lines):
        keyed = bool(_KEYED.match(line)) or (keyed and (not line.strip() or _is_inset(line)))
        indented = line.startswith(("    ", "\t")) or (keyed and _is_inset(line))
        if _PRINTED.match(line) or indented:
            own.append("")
            continue
        if _CODE.match(line) or _LOGGED.match(line):
            within = True
        elif within and line.strip() and (at == 0 or not lines[at - 1].strip()):
            within = False
        own.append("" if within else line)
    return own


def _is_inset(line: str) -> bool:
    return _INSET.match(line) is not None
