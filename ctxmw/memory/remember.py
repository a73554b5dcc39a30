"""How memories come and change.

The same text in the same scope is a restatement: it counts, and nothing is stored twice. Another
text under the same key takes the old one's place; the old one stays as history and is no longer
found, and the new one tells what it was. Almost the same text is linked, never merged.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from datetime import date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from ..conversation.state import pass_on_pins
from ..errors import InvalidValue, NotFound
from ..protocols import Find, Store
from ..runtime.telemetry import stage
from ..store.journal import Journal
from ..text.cleaning import search_text
from ..text.lexicon import STOP_WORDS
from ..text.secrets.redaction import redact
from ..text.terms import stems
from ..values.argument_checks import check_kind, check_scope, check_text
from ..values.clocks import begin_of, end_of
from ..values.records import AGENT, MEMORY_KINDS, OTHER_WORDS, Memory, load_all
from .outdated import outdated_summaries, outdated_turns

if TYPE_CHECKING:
    from ..search.search import Search

ALIKE = 0.6
"""The share of their words that two memories have in common when they say almost the same."""
_LOOKED_FOR = 5
"""Words of a memory by which others like it are looked up."""
_LOOKED_UP = 24
_NEAR = 3
Day = date | datetime
"""A day of UTC, or a moment with its zone."""
NO_REASONS: Mapping[str, str] = MappingProxyType({})
SAME_KEY = "was remembered under the same key"


def checked_memory(text: str, **given: str) -> dict[str, Any]:
    """Return what a memory is to say, without secrets, and its kind and scope where given."""
    values = {"text": redact(check_text(text, "what to remember")).text, **given}
    if "kind" in given:
        check_kind(given["kind"], MEMORY_KINDS, "memory")
    if "scope" in given:
        values["scope"] = check_scope(given["scope"])
    return values


def checked_period(since: Day | None, until: Day | None) -> dict[str, datetime]:
    """Return from when and until when something holds, as far as that is given; else raise.

    A day counts as a whole: it begins with the first, and ends after the last.
    """
    period = {}
    if since is not None:
        period["since"] = begin_of(since, "since")
    if until is not None:
        period["until"] = end_of(until, "until")
    if len(period) == 2 and period["until"] <= period["since"]:
        raise InvalidValue(f"until is {until}, before since ({since}): give an end that is later.")
    return period


@stage("remember")
def remember(
    journal: Journal,
    search: Search,
    user: str,
    *,
    at: datetime | None = None,
    replaces: Mapping[str, str] = NO_REASONS,
    **values: Any,
) -> Memory:
    """Store a memory and return it as it now stands; `at` is when it was stated.

    From when and until when it holds is read from the text, unless that is given. `replaces` names
    memories whose place it takes beside those of its key, each with the reason.
    """
    from ..text.periods import period_in

    store = journal.store
    with store.atomic(user):
        new = journal.new(Memory, user, **({"at": at} if at else {}), **values)
        if values.get("since") is None and values.get("until") is None:
            told = period_in(new.text, new.at)
            new = new.model_copy(update={"since": told.since, "until": told.until})
        standing = _standing(journal, new, replaces)
        if len(standing) == 1 and _restates(new, standing[0]):
            kept = _restated(standing[0], new)
            store.put([kept.row()])
            return kept
        if at and any(old.at > at and not _says_same(new, old) for old in standing):
            # It was said before what holds now, and only comes to be known later. What is said now
            # holds, though the clock may have gone back since.
            new = new.model_copy(update={"superseded_by": standing[0].ref})
            store.put([new.row()])
            return new
        if standing and new.since and new.since > new.at:
            # Until then the old one holds.
            others = [old for old in standing if not _says_same(new, old)]
            store.put([old.model_copy(update={"until": new.since}).row() for old in others])
            standing = [old for old in standing if old not in others]
        new = _in_place_of(new, standing, replaces) if standing else new
        near = dict.fromkeys((*new.near, *_near(store, search, new, standing)))
        new = new.model_copy(update={"near": tuple(near)[:_NEAR]})
        store.put([old.row() for old in _linked(journal, new)])
        return _put_in_place(store, new, standing, replaces)


@stage("edit")
def edit(journal: Journal, user: str, ref: str, **values: Any) -> Memory:
    """Put another text, kind or scope in a memory's place; the old one stays as history."""
    from ..text.periods import ALWAYS, period_in

    store = journal.store
    with store.atomic(user):
        rows = [row for row in store.get(user, [ref]) if row.type == Memory.type]
        if not rows:
            raise NotFound(f"there is no memory {ref!r}: search for it.")
        [old] = load_all(rows, Memory)
        if old.superseded_by:
            raise InvalidValue(f"memory {ref!r} was replaced by {old.superseded_by!r}: edit that.")
        new = old.model_copy(update=values)
        if new == old:
            return old
        told = period_in(new.text, journal.clock())
        if told != ALWAYS:
            new = new.model_copy(update={"since": told.since, "until": told.until})
        # What somebody puts into other words is no longer what a turn says.
        fresh: dict[str, Any] = {"supersedes": ref, "derived_from": (), "was": "", "was_at": None}
        fresh |= {"because": "", "first_said": None}
        kept = new.model_dump(exclude={"user", "ref", "at"})
        new = journal.new(Memory, user, **(kept | fresh))
        same = [other for other in _standing(journal, new) if other.ref != ref]
        return _put_in_place(store, new, [old, *same])


def _put_in_place(
    store: Store, new: Memory, standing: Iterable[Memory], reasons: Mapping[str, str] = NO_REASONS
) -> Memory:
    replaced = [old.model_copy(update={"superseded_by": new.ref}) for old in standing]
    other = [
        old for old in replaced if not _says_same(new, old) and reasons.get(old.ref) != OTHER_WORDS
    ]
    told = (*outdated_turns(store, new.user, other), *outdated_summaries(store, new.user, other))
    store.put([record.row() for record in (*replaced, new, *told)])
    if replaced:
        pass_on_pins(store, new.user, {old.ref for old in replaced}, new.ref)
    return new


def _standing(journal: Journal, new: Memory, replaces: Collection[str] = ()) -> list[Memory]:
    """Return the live memories that the new one restates or replaces: same key, then same text."""
    asked = [Find(types=("memory",), digests=(new.row().digest,))]
    if new.key:
        asked.insert(0, Find(types=("memory",), keys=(new.key,), scopes=(new.scope,)))
    rows = {row.ref: row for find in asked for row in journal.store.query(new.user, find)}
    rows |= {row.ref: row for row in journal.store.get(new.user, list(replaces)) if row.live}
    found = journal.read(rows.values(), Memory)
    return [old for old in found if _may_replace(new, old, named=old.ref in replaces)]


def _may_replace(new: Memory, old: Memory, *, named: bool) -> bool:
    if new.trust == "untrusted" and old.trust == "trusted":
        return False
    if _is_written_by_agent(new) and not _is_written_by_agent(old):
        return False
    if _ends_before(new, old) and not _says_same(new, old):
        return False  # when it has run out, the old one holds again
    return named or not (new.key and old.key) or new.key == old.key


def _ends_before(new: Memory, old: Memory) -> bool:
    return new.until is not None and (old.until is None or new.until < old.until)


def _is_written_by_agent(memory: Memory) -> bool:
    return memory.source == AGENT


def _says_same(new: Memory, old: Memory) -> bool:
    return new.row().digest == old.row().digest


def _restates(new: Memory, old: Memory) -> bool:
    return _says_same(new, old) and (new.kind, new.trust) == (old.kind, old.trust)


def _restated(old: Memory, new: Memory) -> Memory:
    update = {
        "seen": old.seen + 1,
        "at": max(old.at, new.at),
        "first_said": min(old.said_at, new.said_at),
        "since": new.since or old.since,
        "until": new.until,
        "key": new.key or old.key,
        "derived_from": (*old.derived_from, *new.derived_from),
        "metadata": {**old.metadata, **new.metadata},
    }
    return old.model_copy(update=update)


def _in_place_of(new: Memory, standing: list[Memory], reasons: Mapping[str, str]) -> Memory:
    same = [old for old in standing if _says_same(new, old) or reasons.get(old.ref) == OTHER_WORDS]
    last = standing[0]
    update = {
        "because": last.because if last in same else reasons.get(last.ref, SAME_KEY),
        "was_at": last.was_at if last in same else last.at,
        "supersedes": last.ref,
        "seen": new.seen + sum(old.seen for old in same),
        "derived_from": (*(ref for old in same for ref in old.derived_from), *new.derived_from),
        "was": last.was if last in same else last.text,
        "first_said": min((old.said_at for old in same), default=None),
    }
    return new.model_copy(update=update)


def _near(store: Store, search: Search, new: Memory, standing: Iterable[Memory]) -> tuple[str, ...]:
    """Return which memories of its scope say almost the same."""
    said = search_text(new.text).split()
    terms = set(stems(said))
    if not terms:
        return ()
    found = search.alike(new.user, terms, ALIKE, kind="memory", scope=new.scope)
    if found is None:
        found = _near_in_store(store, new, said, terms)
    replaced = {old.ref for old in standing}
    return tuple([ref for ref in found if ref not in replaced][:_NEAR])


def _linked(journal: Journal, new: Memory) -> list[Memory]:
    """Return what was learned and says almost the same, knowing of the new one: both are dated."""
    if not new.derived_from or not new.near:
        return []
    found = journal.read(journal.store.get(new.user, list(new.near)), Memory)
    return [
        old.model_copy(update={"near": (new.ref, *old.near)[:_NEAR]})
        for old in found
        if old.derived_from
    ]


def _near_in_store(store: Store, new: Memory, said: list[str], terms: set[str]) -> list[str]:
    from ..search.ranking.near_duplicates import shared

    asked = Find(types=("memory",), scopes=(new.scope,), limit=_LOOKED_UP)
    # Looking for all of its words would find everything, and take its time. Long words are rare.
    words = sorted(
        {word for word in said if word not in STOP_WORDS}, key=lambda word: (-len(word), word)
    )
    found = store.search(new.user, words[:_LOOKED_FOR], asked)
    return [row.ref for row, _ in found if shared(terms, stems(row.search_text.split())) >= ALIKE]
