"""What a conversation was about, in its own words: asked first, done, decided and left open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from operator import attrgetter

from ..protocols import Find
from ..recall.surroundings import is_small_talk
from ..store.journal import Journal
from ..text.cleaning import one_line
from ..text.lexicon import MONTHS, WEEKDAYS
from ..text.names import names_in, paths_in
from ..text.patterns.late import late_pattern
from ..text.prose import sentences
from ..text.secrets.sensitive import discreet
from ..text.speech.own_words import own_words
from ..text.terms import content_terms
from ..values.records import Memory, Note, Observation, Record, SessionSummary, Turn

TURNS = 200
"""How many turns of a conversation are looked at: its last."""
SENTENCE = 160
TOLD = 200
"""Characters of what the user said: five summaries fit into their lane."""
DECISIONS, CONCEPTS, FILES = 5, 6, 6


def summary_of(journal: Journal, user: str, session: str) -> SessionSummary | None:
    """Return what a conversation was about, in its own words; None when nothing was said.

    Greetings and thanks say nothing. It is dated when the conversation was, not when it was ended.
    """
    asked = Find(types=("turn",), sessions=(session,), limit=TURNS)
    turns = journal.read(journal.store.query(user, asked), Turn)
    turns.sort(key=attrgetter("sequence"))
    said = [turn for turn in turns if _may_be_told(turn)]
    noted = journal.read(journal.store.query(user, _of(session, "note")), Note)
    notes = [note for note in noted if note.trust == "trusted"]
    learned = replace(_of(session, "memory"), live=None)
    memories = journal.read(journal.store.query(user, learned), Memory)
    text = _told(said, notes[::-1], [one.text for one in memories])
    if not text:
        return None
    found = journal.store.query(user, _of(session, "observation"))
    seen = [one for one in journal.read(found, Observation) if one.trust == "trusted"]
    # Notes first: of a conversation in which something was said, the last turn tells the scope.
    told_by: Sequence[Record] = [*noted[::-1], *turns]
    words = "\n".join(_own(turn) for turn in said)
    return journal.new(
        SessionSummary,
        user,
        session=session,
        scope=told_by[-1].scope,
        at=told_by[-1].at,
        source="conversation",
        derived_from=tuple(one.ref for one in told_by),
        text=text,
        decisions=_decisions(memories, notes),
        concepts=_most_named([*(_own(turn) for turn in said), *(one.title for one in seen)]),
        files=_most((file for one in seen for file in one.files), _files_in(words), FILES),
    )


def _may_be_told(turn: Turn) -> bool:
    """Say whether a turn may be told of where only what is trusted may stand.

    What an assistant says after a stranger may be the stranger's. A person's own words are theirs.
    """
    if turn.trust != "trusted" or turn.rejected or not turn.teaches:
        return False
    if turn.role == "user":
        return turn.speaker.casefold() in ("", turn.user.casefold())
    return turn.role == "assistant" and not turn.tainted


def _own(turn: Turn) -> str:
    """Return what a turn says by itself, without what may not open every conversation."""
    text = own_words(turn.text) if turn.role == "user" else turn.text
    return discreet(text, lambda _: False)


def _of(session: str, type_: str) -> Find:
    return Find(types=(type_,), sessions=(session,), limit=TURNS)


def _told(said: Sequence[Turn], notes: Sequence[Note], learned: Sequence[str]) -> str:
    """Return the summary's text: what was asked and told, what came of it, what is open.

    It begins with the first that is not remembered by itself.
    """
    lines = [line for turn in said if turn.role == "user" for line in _lines(turn)]
    kept = {stem for text in learned for stem in content_terms(text)}
    asked = next((line for line in lines if set(content_terms(line)) - kept), "".join(lines[:1]))
    noted = {kind: [note.text for note in notes if note.kind == kind] for kind in _KINDS}
    done = [text for text in noted["done"] or noted["decided"] if one_line(text, SENTENCE) != asked]
    told = _statements(said, asked, [*learned, *(note.text for note in notes)])
    words = " ".join(map(_ended, filter(None, (asked, *told))))
    to_a_question = asked.endswith("?") and not told
    answer = "" if done else _last_answer(said, alone=to_a_question)
    parts = [
        words,
        answer if not told or len(words) + len(answer) <= TOLD else "",
        f"Done: {_joined(done[-3:])}" if done else "",
        f"Blocked: {_joined(noted['blocked'][-2:])}" if noted["blocked"] else "",
        f"Next: {_joined(noted['next'][-2:])}" if noted["next"] else "",
    ]
    return " ".join(filter(None, parts))


_KINDS = ("done", "decided", "blocked", "next")


def _statements(said: Sequence[Turn], asked: str, told: Sequence[str]) -> list[str]:
    """Return what the user said beside that: what tells most, in the order of saying.

    What is remembered or noted by itself is not told again; what else was asked only where nothing
    was stated.
    """
    known = {stem for text in (asked, *told) for stem in content_terms(text)}
    lines = dict.fromkeys(line for turn in said if turn.role == "user" for line in _lines(turn))
    tells = {line: len(set(content_terms(line)) - known) for line in lines}
    fresh = [line for line in lines if tells[line] > 1]
    stated = [line for line in fresh if not line.endswith("?")] or fresh
    room, chosen = TOLD - len(asked), set[str]()
    for line in sorted(stated, key=lambda line: -tells[line]):
        if len(line) < room:
            chosen.add(line)
            room -= len(line) + 1
    return [line for line in stated if line in chosen]


def _ended(line: str) -> str:
    """Return a sentence with its full stop, where people leave it out."""
    return line if line[-1] in ".!?\u2026:;" else f"{line}."


def _last_answer(said: Sequence[Turn], *, alone: bool) -> str:
    """Return the answer to what was said last, marked unless one question stands before it."""
    asked = [at for at, turn in enumerate(said) if turn.role == "user" and any(_lines(turn))]
    answer = next(filter(None, map(_answered, said[asked[-1] :] if asked else said)), "")
    return answer if not answer or (alone and len(asked) == 1) else f"Last answer: {answer}"


def _answered(turn: Turn) -> str:
    """Return the first sentence of an answer that does not ask itself."""
    lines = _lines(turn) if turn.role == "assistant" else ()
    said = (line for line in lines if not line.endswith("?") or _PROPOSES.match(line))
    return next(said, "")


_PROPOSES = late_pattern(r"(?:how|what) about\b|why not\b", re.IGNORECASE)


def _lines(turn: Turn) -> Iterator[str]:
    """Yield the sentences that are no small talk; a greeting with a name is."""
    for sentence in sentences(_own(turn)):
        text = sentence.text
        if is_small_talk(_GREETING.sub("", text)) or _HOW_ARE_YOU.search(text):
            continue
        yield one_line(text, SENTENCE)


_GREETING = late_pattern(
    r"^\s{0,4}(?:hi|hey|hello|hiya|yo|dear|good (?:morning|afternoon|evening|night|day)|morning"
    r"|thanks|thank you(?: so much)?|ok|okay|bye|goodbye|see you|sure|yes|yeah|no|wow|oh|ugh|aww?"
    r"|haha\w{0,9})"
    r"\b,?(?: there\b| again\b)?(?:,? [A-Z][\w'-]{0,30}){0,2}[\s,.!?]{0,8}$",
    re.IGNORECASE,
)
_HOW_ARE_YOU = late_pattern(
    r"^\W{0,4}(?:(?:and|so|hi|hey|hello) )?(?:how(?:'s| is| was| are| have| has)|what's|what have)"
    r" (?:you|your|everything|things|it|life|up|the (?:day|week|weekend))\b[^.!?]{0,60}\?$",
    re.IGNORECASE,
)


def _files_in(words: str) -> list[str]:
    """Return the paths that people write of files: no "and/or", no full stop without a space."""
    return [path for path in paths_in(words) if _A_FILE.search(path)]


_A_FILE = late_pattern(
    r"""^[./] | /[^/]{1,255}/ | \.(?:c|cc|cfg|conf|cpp|cs|css|csv|docx?|env|go|gradle|h|hpp|html?
        |ini|ipynb|java|jpe?g|json|jsx?|kt|lock|log|md|mjs|parquet|pdf|php|png|pptx?|proto|pyi?|rb
        |rs|rst|scala|scss|sh|sqlite|sql|svelte|svg|swift|tf|toml|tsv|tsx?|txt|vue|xlsx?|xml
        |ya?ml)$""",
    re.VERBOSE | re.IGNORECASE,
)


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(one_line(text, SENTENCE).rstrip(".;") for text in texts) + "."


def _decisions(memories: Sequence[Memory], notes: Sequence[Note]) -> tuple[str, ...]:
    current = [one for one in memories if not one.superseded_by and one.trust == "trusted"]
    made = [one.text for one in current if one.kind == "decision"]
    made += [note.text for note in notes if note.kind == "decided"]
    return tuple(one_line(text, SENTENCE) for text in made[:DECISIONS])


def _most_named(texts: Iterable[str]) -> tuple[str, ...]:
    """Return the names that come most often; a day is none."""
    counts = Counter(name for text in texts for name in names_in(text))
    often = [name for name, _ in counts.most_common()]
    return tuple(name for name in often if name.casefold() not in _CALENDAR)[:CONCEPTS]


_CALENDAR = frozenset({*WEEKDAYS, *MONTHS})


def _most(first: Iterable[str], then: Iterable[str], n: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))[:n]
