"""What a conversation was about, in its own words: asked first, done, decided and left open."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from operator import attrgetter

from ..protocols import Find
from ..recall.surroundings import is_small_talk
from ..store.journal import Journal
from ..text.cleaning import one_line
from ..text.names import names_in, paths_in
from ..text.patterns.late import late_pattern
from ..text.prose import sentences
from ..text.secrets.sensitive import discreet
from ..text.speech.own_words import own_words
from ..values.records import Memory, Note, Observation, Record, SessionSummary, Turn

TURNS = 200
"""How many turns of a conversation are looked at: its last."""
SENTENCE = 160
DECISIONS, CONCEPTS, FILES = 5, 6, 8


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
    text = _told(said, notes[::-1])
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
        decisions=_decisions(journal, user, session, notes),
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


def _told(said: Sequence[Turn], notes: Sequence[Note]) -> str:
    """Return the summary's text: what was asked, what came of it, what is open."""
    asked = next((line for turn in said if turn.role == "user" if (line := _first(turn))), "")
    by_kind = {kind: [note.text for note in notes if note.kind == kind] for kind in _KINDS}
    done = by_kind["done"] or by_kind["decided"]
    parts = [
        asked,
        f"Done: {_joined(done[-3:])}" if done else _last_answer(said),
        f"Blocked: {_joined(by_kind['blocked'][-2:])}" if by_kind["blocked"] else "",
        f"Next: {_joined(by_kind['next'][-2:])}" if by_kind["next"] else "",
    ]
    return " ".join(filter(None, parts))


def _last_answer(said: Sequence[Turn]) -> str:
    """Return the last answer, and say so where it is not one to the first question."""
    last = max((at for at, turn in enumerate(said) if turn.role == "assistant"), default=0)
    answer = _first(said[last]) if said and said[last].role == "assistant" else ""
    asked = sum(turn.role == "user" for turn in said[:last])
    return f"Last answer: {answer}" if answer and asked > 1 else answer


_KINDS = ("done", "decided", "blocked", "next")


def _first(turn: Turn) -> str:
    """Return the first sentence that is no small talk; a greeting with a name is."""
    found = (sentence.text for sentence in sentences(_own(turn)))
    said = (text for text in found if not is_small_talk(_GREETING.sub("", text)))
    said = (text for text in said if not _HOW_ARE_YOU.search(text))
    return next((one_line(text, SENTENCE) for text in said), "")


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


_A_FILE = late_pattern(r"^[./]|/[^/]{1,255}/|\.[a-z0-9]{1,8}$")


def _joined(texts: Sequence[str]) -> str:
    return "; ".join(one_line(text, SENTENCE).rstrip(".;") for text in texts) + "."


def _decisions(journal: Journal, user: str, session: str, notes: Sequence[Note]) -> tuple[str, ...]:
    memories = journal.read(journal.store.query(user, _of(session, "memory")), Memory)
    made = [one.text for one in memories if one.kind == "decision" and one.trust == "trusted"]
    made += [note.text for note in notes if note.kind == "decided"]
    return tuple(one_line(text, SENTENCE) for text in made[:DECISIONS])


def _most_named(texts: Iterable[str]) -> tuple[str, ...]:
    counts = Counter(name for text in texts for name in names_in(text))
    return tuple(name for name, _ in counts.most_common(CONCEPTS))


def _most(first: Iterable[str], then: Iterable[str], n: int) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*first, *then)))[:n]
