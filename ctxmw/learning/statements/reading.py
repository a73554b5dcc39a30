"""What a sentence states that is worth remembering: by rules that rather miss than store noise.

A user states preferences, corrections, decisions and facts to keep; both sides state where the
work stands. Questions, suppositions, jokes, other people's words and what holds only for now are
none of it. The rules themselves are in `rules`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache

from ...text.prose import Sentence, sentences
from ...values.records import MEMORY_KINDS
from ..everyday.about_self import statement_span, told_of_self
from ..everyday.languages import told_elsewhere
from ..everyday.requests import standing_request
from ..lasting.judging import lasting_kind
from ..subjects.endings import plain_words, says_it_changed
from .at_hand import asks_for_work, is_at_hand, is_prompted, urges
from .coordination import parts_of
from .cutting import Statement, capital, cut_out, said_from, whole_sentence
from .framing import meant_sentences
from .rules import OF_ASSISTANT, OF_USER, TRIED
from .standing_alone import apart, standing_alone
from .stating_nothing import ASKS, FOR_NOW, SUPPOSED, UNREAL, is_no_statement, is_supposed
from .wording import Rule, Stated

OPENING = 3
"""Sentences in which an assistant without tools tells what it has done."""


def statements(
    text: str, role: str, *, answers: bool = False, working: bool = False
) -> list[Statement]:
    """Return what a message of a user or an assistant states; each statement once.

    `answers` says that it was said to a question: then "no" puts nothing right. `working` says
    that the assistant has used tools; one that only advises has done nothing, and its next steps
    are somebody else's.
    """
    if role not in ("user", "assistant"):
        return []
    said = sentences(_unwrapped(text))
    if role == "user":
        said = meant_sentences(text, said)
    if role == "assistant" and not working:
        # What comes later is a draft or an example more often than a report.
        said = said[:OPENING]
    reports = role == "user" or working or any(_OWN_WORK.match(one.plain) for one in said)
    rules = [
        rule
        for rule in (OF_USER if role == "user" else OF_ASSISTANT)
        if not (answers and rule.contradicts) and (reports or not rule.report)
    ]
    found: list[Statement] = []
    before = ""
    sure = _sure_among(said)
    for one in said:
        for stated in _stated(one, rules, role if reports else "adviser", sure):
            found += _alone(stated, before) if role == "user" else [stated]
        before = one.text
    return list({(one.kind, one.text.casefold()): one for one in found}.values())


OWN = re.compile(r"\b(?:i|i'm|i've|my|me|we|we're|we've|our|us)\b", re.IGNORECASE)
"""What a sentence has that speaks of its speaker."""


def untold(text: str) -> Iterator[Statement]:
    """Yield the sentences of a person's message that state nothing by themselves.

    "I traded the Skoda in for a Kia." tells something to whoever knows of the Skoda.
    """
    for one in meant_sentences(text, sentences(_unwrapped(text))):
        plain = one.plain
        if one.joking or plain.rstrip(" \"')*").endswith("?") or ASKS.match(plain):
            continue
        changes = says_it_changed(plain_words(plain))
        if asks_for_work(plain) or is_prompted(one.text) or (urges(plain) and not changes):
            continue
        if UNREAL.search(plain) or is_supposed(plain) or _OF_OTHERS.match(plain):
            continue
        if not any(found.kind in MEMORY_KINDS for found in _stated(one, OF_USER, "user")):
            yield Statement("fact", whole_sentence(one.text), one.text)


def _sure_among(said: Sequence[Sentence]) -> float:
    """Return how sure one must be of a sentence among these; of most of many nothing is kept."""
    told = sum(len(one.words) > 3 for one in said)
    return SURE_AMONG_MANY if told > MANY else SURE_AMONG_SOME if told > SOME else 0.0


SOME, MANY = 4, 8
"""Sentences of a message in which few are worth keeping, and next to none."""
SURE_AMONG_SOME, SURE_AMONG_MANY = 0.95, 0.98
SURE_OF_PART = 0.9
"""How sure one must be of a part of a sentence: it is one of several that are tried."""


# "They moved me to another team" is told of the speaker.
_OF_OTHERS = re.compile(
    r"(?:and |but |so )?(?:(?:it|you|this|that|these|those|there)\b"
    r"|(?:she|he|they)\b(?! [a-z]{1,20} (?:me|us)\b))"
)


def _alone(stated: Statement, before: str) -> Iterator[Statement]:
    """Yield what is stated in words that stand alone; nothing when they do not."""
    if stated.kind not in _LASTING:
        yield stated
        return
    whole = standing_alone(stated.text, before)
    values = list(apart(whole)) if whole else []
    if len(values) != 1:
        for text in values:
            yield Statement(stated.kind, text, stated.said)
        return
    parts = parts_of(stated.kind, values[0])
    for part in parts:
        yield Statement(part.kind, part.text, stated.said, part.said if len(parts) > 1 else "")


_LASTING = ("preference", "correction", "fact")


def _unwrapped(text: str) -> str:
    """Return a message without quotes around all of it: then they are not somebody else's."""
    inner = text.strip()
    whole = len(inner) > 2 and inner[0] == inner[-1] == '"' and inner.count('"') == 2
    return inner[1:-1] if whole and "\n" not in inner else text


_OWN_WORK = re.compile(
    r"(?:(?:done|ok|okay|sure|alright)[,.!:]? )?i(?:'ve| have)? (?:just |now )?\w+ed "
)


def _stated(
    sentence: Sentence, rules: Sequence[Rule], role: str, sure: float = 0.0
) -> Iterator[Statement]:
    if _is_title(sentence.text):
        return
    if sentence.heading and role != "adviser" and (kind := _listed(sentence, role)):
        yield Statement(kind, capital(sentence.text), sentence.text)
        return
    if sentence.joking:
        return
    words = sentence.words
    stated = None if is_no_statement(sentence.plain, words) else _by_rule(sentence, rules, words)
    if role == "user" and stated and stated.kind == "done" and (moved := _everyday(sentence)):
        # "I switched to Linux" tells of the person: a note on the work would only say it again.
        yield moved
        return
    if role == "user":
        stated = _of_a_person(sentence, stated, sure)
        if stated and stated.kind in MEMORY_KINDS and _is_at_hand(sentence, stated):
            return
    if stated:
        yield stated
    elif role == "user" and not FOR_NOW.search(sentence.plain):
        for kind, text in told_elsewhere(sentence.text, sentence.plain):
            yield Statement(kind, capital(text), sentence.text)


def _is_at_hand(sentence: Sentence, stated: Statement) -> bool:
    return is_at_hand(stated.kind, stated.text, sentence.plain)


def _of_a_person(sentence: Sentence, stated: Statement | None, sure: float) -> Statement | None:
    """Return what a person states, where a rule has found `stated` in it, or nothing."""
    if stated is None or stated.kind in ("preference", "correction"):
        everyday = _everyday(sentence)
        # A rule may have found the end of what a whole sentence says.
        if everyday and (stated is None or len(everyday.text) > len(stated.text)):
            return everyday
    return stated or _judged(sentence, sure) or _told_first(sentence)


def _told_first(sentence: Sentence) -> Statement | None:
    """Return a sentence whose beginning tells something, and the rest only more of it.

    "I'm allergic to peanuts, it was found when I was six."
    """
    plain = sentence.plain
    more = _TELLS_MORE.search(plain)
    if not more or plain.rstrip().endswith("?") or _IS_HALF.match(plain):
        return None
    first = Sentence(sentence.text[: more.start()], plain[: more.start()])
    if is_no_statement(first.plain, first.words) or UNREAL.search(plain):
        return None
    told = _everyday(first) or _judged(first)
    return Statement(told.kind, capital(sentence.text), sentence.text) if told else None


_TELLS_MORE = re.compile(
    r", (?:it|that|this|they|she|he|up|mostly|mainly|which|ever since|not)\b"
    r"| that (?:my|our|i|we)\b| and (?:happy|fine|good|content)\b"
)
_IS_HALF = re.compile(r"\A(?:if|when|unless|although|though|while|because|as)\b")


# A person's sentence is read twice: for what it states, and for what it may change.
@lru_cache(maxsize=256)
def _everyday(sentence: Sentence) -> Statement | None:
    """Return what somebody tells of themselves, or asks for once and for all."""
    plain = sentence.plain
    found: tuple[Stated, int, int] | None = told_of_self(sentence.text, plain)
    if found is None and not FOR_NOW.search(plain):
        found = standing_request(plain)
    if found is None or ASKS.match(plain, found[1], found[2]):
        return None
    return cut_out(sentence, found)


@lru_cache(maxsize=256)
def _judged(sentence: Sentence, sure: float = 0.0) -> Statement | None:
    """Return what no rule knows, where its marks tell that it lasts: all of it, or a part."""
    plain = sentence.plain
    if _THANKS.match(plain) or ASKS.match(plain) or _ASKS_SHORT.match(plain):
        return None
    written = _written(sentence)
    for start, end in _spans(plain):
        if sure and not OWN.search(plain, start, end):
            continue
        before = plain[:end]
        if is_no_statement(before, sentence.words) or SUPPOSED.search(before):
            continue
        least = sure if (start, end) == (0, len(plain)) else max(sure, SURE_OF_PART)
        if FOR_NOW.search(plain, start, end) or ASKS.match(plain, start, end):
            continue
        if kind := lasting_kind(written[start:end], sure=least):
            return Statement(kind, whole_sentence(sentence.text[start:end]), sentence.text)
    return None


def _spans(plain: str) -> Iterator[tuple[int, int]]:
    """Yield from where to where a sentence may state something: all of it first, then parts."""
    span = statement_span(plain)
    if span is None:
        return
    start, end = span
    # "Metric only, please." asks by its last word.
    if not plain.rstrip().endswith("?"):
        yield start, len(plain)
    yield start, end
    joints = list(_JOINT.finditer(plain, start))[:MOST_JOINTS]
    # "When I am at home" tells nothing without what follows.
    for joint in reversed(joints if not _LEADS_UP.match(plain, start) else ()):
        if not _ALTERNATIVE.match(plain, joint.end()):
            yield start, joint.start()
    for joint in joints:
        if not plain.rstrip().endswith("?") and _OWN_CLAUSE.match(plain, joint.end()):
            yield joint.end(), len(plain)


def _written(sentence: Sentence) -> str:
    """Return a sentence in its own letters, without what it quotes."""
    pairs = zip(sentence.text, sentence.plain, strict=True)
    return "".join(plain if plain == "\u00a4" else own for own, plain in pairs)


_JOINT = re.compile(r"[,;] | [-\u2013\u2014] |,? (?:so|but|and) (?=\w)")
_OWN_CLAUSE = re.compile(
    r"(?:(?:and|but|so|because) )*(?:i|i'm|i've|i'd|we|we're|we've|my|our|the|every|all|no|nobody"
    r"|everything|everyone|it's|there's|always|never|please)\b"
)
"""What begins a part that may stand alone: "and respected by all" does not."""
_LEADS_UP = re.compile(r"(?:when|if|as|since|although|though|because|while|after|before|once)\b")
_ALTERNATIVE = re.compile(r"(?:or|nor|and) (?!(?:i|we|my|our)\b)")
MOST_JOINTS = 4
"""Joints of a sentence at which it is taken apart."""
_ASKS_SHORT = re.compile(r"(?:so |and |but |ok |hey )*(?:what|how|who|where|when|why)'?s\b")
_THANKS = re.compile(r"(?:many )?(?:thanks|thank you|great|good|nice|no time)\b")


def _by_rule(sentence: Sentence, rules: Sequence[Rule], words: frozenset[str]) -> Statement | None:
    if words.isdisjoint(TRIED):
        return None
    for rule in rules:
        if rule.kind == "done" and not words.isdisjoint(_NOTHING):
            continue
        if words.isdisjoint(rule.words) or (rule.standing and FOR_NOW.search(sentence.plain)):
            continue
        found = rule.pattern.search(sentence.plain)
        if found and (text := said_from(sentence, found)) and not _POINTS_BACK.search(text):
            return Statement(rule.kind, text, sentence.text)
    return None


# What only this conversation can tell: it would not stand alone.
_POINTS_BACK = re.compile(
    r"""\bthe[ ](?:first|second|third|other|last|previous|latter|former)[ ](?:one|file|version
        |option
        |answer|picture|line|part|paragraph|column|function|test)s?\b | \bfor[ ]this[ ]\w+\b
      | \brather[ ]\w+[ ](?:it|that|this)\b
      | ^i[ ](?:\w+[ ])?(?:hate|like|love|dislike|can't[ ]stand|prefer)[ ](?:it|them|this
      |that)\b(?![ ](?:when|if))
      | \b(?:right[ ]away|immediately|now)[.!]*$
      | ^(?:please[ ])?(?:don't|do[ ]not|never|stop|use|do)[ ](?:\w+[ ])?(?:it|them|that|this
      |those|these|that[ ]one)[.!]*$
    """,
    re.VERBOSE | re.IGNORECASE,
)


_NOTHING = frozenset("nothing none nobody neither".split())


def _is_title(text: str) -> bool:
    """Say whether a line is the title of something: ends in a colon, or Has Capitals Like This."""
    words = [word for word in text.split()[1:] if len(word) > 3]
    capitals = sum(word[0].isupper() for word in words)
    capitalised = len(words) > 1 and capitals == len(words)
    return text.endswith(":") or (capitalised and not text.endswith((".", "!")))


_LISTS: tuple[tuple[Stated, re.Pattern[str]], ...] = (
    ("next", re.compile(r"next (?:steps?|up)|to[- ]?dos?|remaining|still (?:to do|open|missing)|"
                        r"left to do|follow[- ]ups?|open (?:items|points)")),
    ("blocked", re.compile(r"blockers?|blocked(?: by| on)?")),
    ("done", re.compile(r"done|completed|finished|(?:summary of (?:the )?)?changes(?: made)?|"
                        r"what (?:i|we) (?:did|changed)(?: so far)?|(?:i|we)(?:'ve| have)? "
                        r"(?:made|did)(?: the following)? (?:changes)?")),
    ("decision", re.compile(r"decisions?|decided|agreed|we(?:'ve| have)? (?:decided|agreed)"
                            r"(?: on| to)?(?: the following)?")),
)  # fmt: skip


def _listed(sentence: Sentence, role: str) -> Stated | None:
    """Return what the entry of a list states, told by the list's heading."""
    if len(sentence.words) < 2 or is_no_statement(sentence.plain, sentence.words):
        return None
    heading = sentence.heading.strip(" *_:")
    kind = next((kind for kind, pattern in _LISTS if pattern.fullmatch(heading)), None)
    return "decided" if kind == "decision" and role == "assistant" else kind
