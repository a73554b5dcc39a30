"""Forgetting: a record, its versions, what was learned from it, and every text that shows it.

What was learned from a turn goes with the turn, unless another turn says it too. What an assistant
had from a tool or a document goes with it, in whatever words. What was learned and is forgotten by
its own name is also taken out of the turn that said it. Summaries are written anew from what is
left.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from operator import attrgetter
from typing import Any

from ..code.codebase import SPACE
from ..code.files import CodeFile
from ..code.refs import refs_in_file
from ..conversation.exchanges import ANCHORS, SHORT, TAIL
from ..conversation.state import (
    GoneSession,
    SessionState,
    StoredBlock,
    gone_ref,
    session_ref,
)
from ..errors import InvalidValue, NotFound
from ..protocols import Find, Row, Store
from ..runtime.telemetry import Observer, stage
from ..search.feedback import Feedback
from ..store.journal import Journal
from ..text.cleaning import fold
from ..values.argument_checks import check_name, wanted_metadata
from ..values.metadata import has_metadata
from ..values.records import (
    RECORD_TYPES,
    Derived,
    Memory,
    Note,
    SessionSummary,
    Turn,
    load,
    load_all,
)
from .arrivals.values import ARRIVED, GoneArrival, gone_arrival_ref
from .laundered import FORGOTTEN, answers_without, brought_along, laundered
from .summary import summary_of
from .versions import NO_MORE, all_versions, cut_from_history

_KNOWS_ITS_TURNS = '"derived_from":["'
_MANY = 200
"""Refs beyond which all blocks are read instead of looking for each."""
_DERIVED = ("memory", "note", "observation", "summary")


def checked_target(named: Mapping[str, object], user: str | None) -> tuple[str, Any]:
    """Return by what is forgotten, and its name; both empty for all of the user. Else raise."""
    given = [(by, name) for by, name in named.items() if name is not None]
    failed = named.get("ref", "") is None  # a lookup that found nothing must not forget everything
    for by, name in given:
        if by == "metadata" and len(given) == 1 and not failed:
            return by, wanted_metadata(name)
        if isinstance(name, str) and name and len(given) == 1 and not failed:
            return by, name
    if given or failed or not user:
        raise InvalidValue(
            f"forget was given {dict(named) | {'user': user}!r}: name one of ref, source, "
            "session or metadata, or only the user to forget everything about them."
        )
    return "", ""


def forget_named(journal: Journal, observer: Observer, user: str, by: str, name: Any) -> int:
    """Remove what a ref, a source, a session or metadata names; by none of them, all of the user.

    Returns how many records there were.
    """
    store = journal.store
    if by == "ref":
        rows = store.get(user, [name])
        if not rows or rows[0].type not in (*RECORD_TYPES, Feedback.type):
            raise NotFound(f"there is no record {name!r} of user {user!r}: search for it.")
    elif by == "metadata":
        rows = store.query(user, Find(types=(Memory.type,), live=None))
        found = journal.read(rows, Memory)
        named = {memory.ref for memory in found if has_metadata(memory.metadata, name)}
        rows = [row for row in rows if row.ref in named]
    else:
        name = check_name(name, by)
        sources, sessions = (tuple([name] * (by == kind)) for kind in ("source", "session"))
        rows = store.query(user, Find(live=None, sources=sources, sessions=sessions))
    with observer.operation("forget"):
        if by == "session":
            return forget_session(journal, user, name, rows)
        along = brought_along(journal, user, name) if by == "source" else ()
        with store.atomic(user):
            # Of a user who is forgotten as a whole not even that is kept.
            store.put(_gone_arrivals(journal, rows) if by else [])
            return forget(journal, user, rows, along)


def _gone_arrivals(journal: Journal, rows: Iterable[Row]) -> list[Row]:
    """Return what keeps memories that were taken in from elsewhere from coming again."""
    keys = {row.key: row.user for row in rows if row.key.startswith(ARRIVED)}
    now = journal.clock()
    return [
        GoneArrival(user=user, ref=gone_arrival_ref(key), at=now).row()
        for key, user in keys.items()
    ]


@stage("forget")
def forget(journal: Journal, user: str, rows: Iterable[Row], along: Sequence[Turn] = ()) -> int:
    """Remove these rows and whatever is a copy of them; say how many records that were.

    The words that came `along` with turns go too, out of the answers to them.
    """
    store = journal.store
    with store.atomic(user):
        found = list(rows)
        gone = {row.ref for row in found}
        gone |= all_versions(journal, user, gone)
        cut, quoting = cut_from_history(store, user, found, gone)
        gone |= cut
        derived = list(_derived(journal, user, gone))
        strange = _strangers_among(journal, found)
        gone |= laundered(journal, user, derived, strange, along)
        scrubbed = _turns_without(store, user, derived, gone)
        answers = [turn for turn in along if turn.role == "assistant"]
        scrubbed = answers_without(journal, user, [*strange, *answers], gone, scrubbed)
        gone |= {one.ref for one in derived if _is_in(one, scrubbed)}
        changed, orphans = _let_go(derived, gone)
        gone |= orphans
        opinions = load_all(store.query(user, Find(types=(Feedback.type,), live=None)), Feedback)
        gone |= {one.ref for one in opinions if not gone.isdisjoint((one.about, *one.derived_from))}
        touched = gone | quoting | {turn.ref for turn in scrubbed}
        told = [one for one in derived if isinstance(one, SessionSummary) and one.ref not in gone]
        stale = [one for one in told if not touched.isdisjoint(one.derived_from)]
        store.put([record.row() for record in (*changed, *scrubbed)])
        store.put([one.row() for one in _without_words(opinions, gone, scrubbed)])
        store.put(remembering_what_is_gone(journal, user, gone))
        removed = store.delete(user, sorted(gone))
        removed += _rewrite(journal, user, stale)
        code = [row for row in found if row.type == CodeFile.type]
        files = journal.read(code, CodeFile)
        if code:
            store.drop_blobs(user, SPACE)  # it holds their words
        shown = touched.union({one.ref for one in stale}, *map(refs_in_file, files))
        store.put(scrubbed_blocks(store, user, shown))
        return removed


def forget_session(journal: Journal, user: str, session: str, rows: Sequence[Row]) -> int:
    """Remove these rows of a conversation, and keep hashes of what a person said in it.

    Memories that were learned there go with the turns that say them. Whoever sends its history
    once more goes on with the conversation, and does not undo this.
    """
    rows = [row for row in rows if not _is_learned(row) or _outlived(journal, row)]
    turns = journal.read([row for row in rows if row.type == Turn.type], Turn)
    said = sorted((turn for turn in turns if turn.role == "user"), key=attrgetter("sequence"))
    with journal.store.atomic(user):
        removed = forget(journal, user, rows)
        if said:
            journal.store.put([_gone(journal, user, session, said).row()])
    return removed


def _gone(journal: Journal, user: str, session: str, said: Sequence[Turn]) -> GoneSession:
    ref = gone_ref(session)
    before = load_all(journal.store.get(user, [ref]), GoneSession)
    heard = [own for gone in before for own in gone.heard]
    heard += [turn.print[:SHORT] for turn in said]
    captured = [turn.anchor for turn in reversed(said)]
    captured += [anchor for gone in before for anchor in gone.captured]
    return GoneSession(
        user=user,
        ref=ref,
        at=journal.clock(),
        captured=tuple(captured[:ANCHORS]),
        heard=tuple(heard[-TAIL:]),
    )


def remembering_what_is_gone(journal: Journal, user: str, gone: Collection[str]) -> list[Row]:
    """Return the states of conversations that go on, each with the turns it has to leave alone."""
    anchors: dict[str, list[str]] = {}
    for row in journal.store.get(user, sorted(gone)):
        if row.type == Turn.type:
            anchors.setdefault(row.session, []).append(row.digest)
    states = [
        _state_that_goes_on(journal, user, session, len(turns))
        for session, turns in anchors.items()
        if session_ref(session) not in gone
    ]
    return [
        state.model_copy(update={"forgotten": (*state.forgotten, *anchors[state.session])}).row()
        for state in states
        if state is not None
    ]


def _state_that_goes_on(
    journal: Journal, user: str, session: str, gone: int
) -> SessionState | None:
    """Return a conversation's state, also of one that was only captured; None when all of it goes.

    `gone` of its turns are forgotten.
    """
    ref, now = session_ref(session), journal.clock()
    for state in load_all(journal.store.get(user, [ref]), SessionState):
        return state
    if journal.store.count(user, Find(types=(Turn.type,), sessions=(session,))) <= gone:
        return None
    return SessionState(user=user, ref=ref, at=now, session=session, opened=now)


def _strangers_among(journal: Journal, rows: Iterable[Row]) -> list[Turn]:
    """Return which of these are turns of strangers: a tool's, a document's, an application's."""
    turns = journal.read([row for row in rows if row.type == Turn.type], Turn)
    return [turn for turn in turns if turn.trust == "untrusted"]


def _is_learned(row: Row) -> bool:
    return row.type == "memory" and _KNOWS_ITS_TURNS in row.body


def _outlived(journal: Journal, row: Row) -> bool:
    """Say whether the turns that a memory was learned from are gone, and cannot take it along."""
    origins = [ref for memory in journal.read([row], Memory) for ref in memory.derived_from]
    return not journal.store.get(row.user, origins)


def _derived(journal: Journal, user: str, gone: Collection[str]) -> Iterator[Derived]:
    """Yield everything that was learned from turns, history included.

    What cannot be read and stays is an error: it might hold what is to be forgotten.
    """
    for row in journal.store.query(user, Find(types=_DERIVED, live=None)):
        if _KNOWS_ITS_TURNS in row.body:
            for record in journal.faults.read([row], load) if row.ref in gone else [load(row)]:
                if isinstance(record, Derived):
                    yield record


def _turns_without(
    store: Store, user: str, derived: Iterable[Derived], gone: Collection[str]
) -> list[Turn]:
    """Return the turns that said what is forgotten by name, without the sentence that says it."""
    named = [one for one in derived if one.ref in gone and isinstance(one, Memory | Note)]
    refs = {ref for one in named for ref in one.derived_from} - set(gone)
    rows = [row for row in store.get(user, sorted(refs)) if row.type == "turn"]
    turns = []
    for turn in load_all(rows, Turn):
        text = turn.text
        for one in named:
            if turn.ref in one.derived_from:
                text = _sentence(_said(one)).sub(FORGOTTEN, text)
        if text != turn.text:
            outdated = tuple(sentence for sentence in turn.outdated if sentence in text)
            update = {"text": text, "redacted": turn.redacted + 1, "outdated": outdated}
            turns.append(turn.model_copy(update=update))
    return turns


def _sentence(text: str) -> re.Pattern[str]:
    """Return what finds a sentence in a turn, however it was spaced, marked up or begun."""
    words = [re.escape(word).replace("'", "['\u2019]") for word in text.rstrip(".!").split()]
    return re.compile(r"[*_]*" + r"[\s*_]+".join(words) + r"[*_]*[.!]*", re.IGNORECASE)


def _is_in(one: Derived, scrubbed: Iterable[Turn]) -> bool:
    """Say whether a note or memory was learned from a sentence that its turn no longer has."""
    if not isinstance(one, Memory | Note):
        return False
    own = [turn for turn in scrubbed if turn.ref in one.derived_from]
    # What a model put into its own words is in no turn to begin with.
    return bool(own) and one.source != "model" and not any(_says(turn, one) for turn in own)


def _says(turn: Turn, one: Derived) -> bool:
    said = _said(one)
    return bool(_sentence(said).search(turn.text)) or fold(said) in fold(turn.text)


def _said(one: Derived) -> str:
    """Return the words of the turn that said it."""
    return (one.said if isinstance(one, Memory) else "") or one.says()


def _let_go(derived: Iterable[Derived], gone: Collection[str]) -> tuple[list[Derived], set[str]]:
    """Return what stays without the turns that are gone, and the refs of what had no other."""
    changed: list[Derived] = []
    orphans: set[str] = set()
    for one in derived:
        if one.ref in gone or isinstance(one, SessionSummary):
            continue
        left = tuple(ref for ref in one.derived_from if ref not in gone)
        update: dict[str, Any] = {"derived_from": left}
        lost = len(one.derived_from) - len(left)
        if isinstance(one, Memory):
            update["seen"] = one.seen - lost
            if one.supersedes in gone:
                update |= NO_MORE
        if (lost and not left) and not (isinstance(one, Memory) and update["seen"] > 0):
            orphans.add(one.ref)
        elif lost or update.get("was") == "":
            changed.append(one.model_copy(update=update))
    # What took an orphan's place must not go on quoting it.
    quoting = [one for one in derived if isinstance(one, Memory) and one.supersedes in orphans]
    changed = [_unquoted(one) if one in quoting else one for one in changed]
    known = {one.ref for one in changed} | orphans | set(gone)
    changed += [_unquoted(one) for one in quoting if one.ref not in known]
    return changed, orphans


def _unquoted(one: Derived) -> Derived:
    return one.model_copy(update=dict(NO_MORE))


def _without_words(
    opinions: Iterable[Feedback], gone: Collection[str], scrubbed: Iterable[Turn]
) -> list[Feedback]:
    """Return opinions that stay, without the words of questions of which something is gone."""
    asked = {turn.ref for turn in scrubbed}
    return [
        one.model_copy(update={"asked": ()})
        for one in opinions
        if one.ref not in gone and not asked.isdisjoint(one.derived_from)
    ]


def _rewrite(journal: Journal, user: str, stale: Iterable[SessionSummary]) -> int:
    """Write summaries anew from what their conversations still have; say how many are gone."""
    removed = 0
    for old in stale:
        new = summary_of(journal, user, old.session)
        if new is None:
            removed += journal.store.delete(user, [old.ref])
        else:
            kept = {"ref": old.ref, "at": old.at, "scope": old.scope}
            journal.store.put([new.model_copy(update=kept).row()])
    return removed


def scrubbed_blocks(store: Store, user: str, refs: Collection[str]) -> list[Row]:
    """Return the blocks that show one of these, without it."""
    blocks = Find(types=("block",))
    if len(refs) > _MANY:
        rows = store.query(user, blocks)
    else:
        rows = [row for ref in refs for row, _ in store.search(user, [ref], blocks)]
    found = {row.ref: StoredBlock.model_validate_json(row.body) for row in rows}
    return [
        stored.model_copy(
            update={
                "pieces": stored.block.without(refs).pieces,
                "gone": (*stored.gone, *sorted(stored.block.refs & set(refs))),
            }
        ).row()
        for stored in found.values()
        if stored.block.refs & set(refs)
    ]
