"""What somebody says in their own words: sentences, without code, quotes, logs and pasted text.

Whatever stands in quotes or backticks is kept in a sentence, but hidden from whoever reads its
meaning: words that are quoted are not meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .patterns.late import late_pattern

LOOKED_AT = 4_000
"""Characters of a message that are looked at: of a longer one its beginning and its end."""
LONGEST = 400
"""Characters beyond which a line between two stops is no sentence."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence of a message, or one entry of a list."""

    text: str
    plain: str
    """In lower case, what is quoted made unreadable; character by character as long as `text`."""
    heading: str = ""
    """What a list is about: the line before it, in lower case."""
    joking: bool = False
    """Whether it, or what was said right before or after it, tells that it is not meant."""

    @property
    def words(self) -> frozenset[str]:
        return frozenset(_WORD.findall(self.plain))


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a message that are its author's own words."""
    found = [sentence for line in _own_lines(_ends(text)) for sentence in _split(*line)]
    jokes = [bool(_JOKE.search(sentence.plain)) for sentence in found] + [False]
    return [
        Sentence(one.text, one.plain, one.heading, joking=any(jokes[max(0, at - 1) : at + 2]))
        for at, one in enumerate(found)
    ]


def _ends(text: str) -> str:
    if len(text) <= LOOKED_AT:
        return text
    half = LOOKED_AT // 2
    head, tail = text[:half], text[-half:]
    # Between lines, where there are lines.
    return "\n\n".join([head.rpartition("\n")[0] or head, tail.partition("\n")[2] or tail])


_FENCE = late_pattern(r"[ \t]{0,3}(?:```|~~~)")
# Quotes, code, shell, tables, differences, traces and logs: nobody says such a line.
_NOT_SAID = late_pattern(
    r"""\A(?: [ ]{0,3}> | [ ]{4} | \t | [+-]{2} | Traceback | \[?\d{4}-\d\d-\d\d | \[?\d\d:\d\d
      | \s*+(?: [$|<{}@] | >>>|\.\.\.|//|/\*|\*/|-- | \#(?!\#|[ ][A-Z]) | File[ ]" | at[ ]\S+\(
        | (?:import|from|def|class|function|const|let|var|return|SELECT)[ ].*[;:({=]
        | import[ ][\w.]{1,80}(?:[ ]as[ ]\w{1,40})?$ | from[ ][\w.]{1,80}[ ]import[ ] ))
    """,
    re.VERBOSE,
)
_BULLET = late_pattern(r"\A\s*+(?:[-*•+]|\d{1,2}[.)])\s++(?:\[[ xX]\]\s++)?")
_HEADING = late_pattern(
    r"\A\s*+(?:#{1,6}+\s++(?P<title>[^.!?\s][^.!?]{1,59}?):?"
    r"|(?:\*\*)?(?P<lead>[^.!?*\s][^.!?*]{1,59}):(?:\*\*)?)\s*+$"
)
# After such an announcement somebody else speaks.
_ANNOUNCES = late_pattern(
    r"""\b(?: this|following|below|here(?:'s|[ ]is|[ ]are)|says?|said|reads?|wrote|writes|told
        |text|e-?mail|message|errors?|output|logs?|quote|excerpt|example|snippet|transcript|article
        |complains?|warns?|grammar|spelling|sentence|paragraph|code|file|docs|documentation|prompt
        |translate|rephrase|rewrite|proofread|paraphrase|summari[sz]e )\b
        (?:[^:\n]{0,80}):(?=\s|$)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_OWN_ANNOUNCEMENT = late_pattern(r"\b(?:remember|note|decided|decision|next|todo|keep in mind)\b")


def _own_lines(text: str) -> Iterator[tuple[str, str]]:
    """Yield the lines that are said, each with the heading of the list it belongs to."""
    fenced = foreign = quoted = False
    heading = ""
    for line in text.replace("\u2019", "'").split("\n"):
        if _FENCE.match(line) or _NOT_SAID.match(line):
            fenced ^= bool(_FENCE.match(line))
            # What was announced has come.
            foreign = False
        elif _opens_quote(line, quoted):
            quoted = not quoted
        elif fenced or foreign or quoted or not line.strip():
            continue
        elif (announced := _announced(line)) is not None:
            foreign = True
            yield line[:announced], ""
        elif bullet := _BULLET.match(line):
            yield line[bullet.end() :], heading
        elif title := _HEADING.match(line):
            heading = (title["title"] or title["lead"] or "").lower()
        else:
            heading = ""
            yield line, ""


def _opens_quote(line: str, quoted: bool) -> bool:
    """Say whether a quote begins here that ends on another line, or one that began before ends."""
    odd = line.count('"') % 2 == 1
    return odd and (
        line.rstrip().rstrip(".,").endswith('"') if quoted else line.lstrip()[:1] == '"'
    )


def _announced(line: str) -> int | None:
    """Return where the sentence begins that announces somebody else's words."""
    found = _ANNOUNCES.search(line)
    if not found or _OWN_ANNOUNCEMENT.search(line[: found.end()].lower()):
        return None
    return max((stop.end() for stop in _STOP.finditer(line, 0, found.start())), default=0)


_STOP = late_pattern(r"(?<![.!?…])[.!?…]++[\"')\]*]*+(?=\s|$)")
_NO_STOP = late_pattern(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|cf|dr|mr|mrs|ms|no|st|[a-z])|^\d+)$", re.I
)
_GERMAN_DATE = late_pattern(
    r"\d\. (?:januar|februar|m\u00e4rz|april|mai|juni|juli|august|september|oktober|november|"
    r"dezember)\b"
)
_HIDDEN = late_pattern(
    r"""`[^`\n]{1,200}` | "[^"\n]{1,300}" | \u201c[^\u201d\n]{1,300}\u201d | «[^»\n]{1,300}»
      | \u201e[^\u201c\u201d\n]{1,300}[\u201c\u201d]
      | (?<![\w'])'[^'\n]{2,300}'(?![\w']) | \[REDACTED:\w+\] | \bhttps?://\S+""",
    re.VERBOSE,
)
_JOKE = late_pattern(
    r"""\b(?: (?:just[ ])?kidding|jk|joking|just[ ]a[ ]joke|lol|lmao|rofl|ha(?:ha)+h?|hehe
        |yeah[ ]right|sarcas[mt]\w*|as[ ]if|what[ ]could[ ](?:possibly[ ])?go[ ]wrong )\b
      | /s\b | [\U0001f602\U0001f923\U0001f61c\U0001f61d\U0001f609\U0001f643] | ;-?\)""",
    re.VERBOSE,
)
_WORD = late_pattern(r"[a-z][a-z']*")
# Something private that stands between two sentences belongs to neither.
_PRIVATE_ASIDE = late_pattern(r"(?:\[REDACTED:private\] )+(?=[A-Z])")


def _split(line: str, heading: str) -> Iterator[Sentence]:
    line = " ".join(line.replace("**", "").replace("__", "").split())
    plain = _lowered(_HIDDEN.sub(lambda hidden: "\u00a4" * len(hidden[0]), line))
    start = 0
    for stop in _STOP.finditer(plain):
        if stop[0] == "." and (
            _NO_STOP.search(plain, start, stop.start())
            or _GERMAN_DATE.match(plain, stop.start() - 1)
        ):
            continue
        yield from _sentence(line, plain, start, stop.end(), heading)
        start = stop.end()
    yield from _sentence(line, plain, start, len(plain), heading)


def _sentence(line: str, plain: str, start: int, end: int, heading: str) -> Iterator[Sentence]:
    while start < end and line[start] == " ":
        start += 1
    if aside := _PRIVATE_ASIDE.match(line, start, end):
        start = aside.end()
    if 3 < end - start <= LONGEST and "[REDACTED" not in line[start:end]:
        yield Sentence(line[start:end], plain[start:end], heading)


def _lowered(text: str) -> str:
    """Return the text in lower case, as long as it was: "İ" would become two characters."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else "".join(c.lower()[0] for c in text)
