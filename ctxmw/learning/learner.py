"""What was said is stored, and learned from, each message once and whatever became of its call.

A question is stored as its call is prepared, so that nothing can lose it any more. What it teaches
is learned when the call is finished, or at the next occasion: the rules for that take a while to
load, and a prompt does not need them.

What was said becomes turns: whole, redacted, and stored once. A message is known by its place in
the conversation, so capturing the same history again, or finishing a call twice, writes nothing
new.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from ..conversation.conversation import Conversations, Identity, scope_of
from ..conversation.exchanges import StoredTurns, Telling, in_order, since_question
from ..conversation.record import reply_key
from ..conversation.replay.trail import Trail
from ..conversation.state import SessionState
from ..errors import InvalidValue
from ..protocols import Find, Store
from ..runtime.lru import LruCache
from ..runtime.telemetry import Telemetry, stage
from ..text.secrets.redaction import redact, redact_name, redact_values
from ..tokens.prompt_counter import arguments
from ..values.items import Trust, many_refs
from ..values.messages import (
    Author,
    Message,
    author_of,
    calls_of,
    message_text,
    moment_of,
    said_text,
)
from ..values.records import Turn, load_all
from .policy import Learning, check_trust

if TYPE_CHECKING:
    from ..search.search import Search
    from ..search.vectors.dense import Dense
    from .distill import Distiller
    from .taint import Strangers

OUR_TOOLS = frozenset(
    {"mem_search", "mem_get", "memory_context", "remember", "forget", "code_search"}
)
WORDS = 4
"""Spaces in a message that can be known as a model's answer: shorter ones anybody says."""
_PLAIN = re.compile(r"[\w ,.!?'()\u2019-]*+")
"""A message that has nothing else in it is not made of others' words."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Learner:
    """Stores what is said in conversations, and what that teaches."""

    conversations: Conversations
    search: Search
    telemetry: Telemetry
    policy: Learning
    trust: Mapping[str, Trust]
    """How far each source is trusted, where that is not plain."""
    dense: Dense | None
    distiller: Distiller | None
    """Puts conversations to the summarizer; None when nothing is to be asked."""
    pasted: LruCache[str, bool] = field(default_factory=lambda: LruCache(4096))
    """Whether something is pasted into a message, by its hash."""

    @stage("capture")
    def capture(self, who: Identity, told: Telling, *, settle: bool = True) -> list[Turn]:
        """Store what is told as turns, and learn from it; return those that are new.

        Whoever writes the state right after may write instead of `settle` that nothing waits any
        more, and how many turns there are.
        """
        store = self.conversations.journal.store
        with store.atomic(who.user):
            state = self.conversations.load(who, told.at)
            told = self._with_speakers(who, state, told)
            anchors = [*(told.trail.anchors[place] for place in told.chosen), *state.untaught]
            known = stored_turns(store, who.user, who.session, anchors)
            turns = self._made_of(who, state, told, known)
            store.put([turn.row() for turn in turns])
            self._learn(who, state, told, _waiting(state, known), turns)
            if settle and (turns or state.untaught):
                self.conversations.put(state, untaught=(), turns=state.turns + len(turns))
        return turns

    @stage("capture")
    def capture_untaught(self, who: Identity, told: Telling) -> list[Turn]:
        """Store what is told as turns, for `learn_what_waits` to learn from; return new ones."""
        with self.conversations.journal.store.atomic(who.user):
            state = self.conversations.load(who, told.at)
            turns = self.new_turns(who, state, told)
            if turns:
                rows = [turn.row() for turn in turns]
                waiting = (*state.untaught, *(turn.anchor for turn in turns))
                count = state.turns + len(turns)
                self.conversations.put(state, rows, untaught=waiting, turns=count)
        return turns

    def new_turns(
        self, who: Identity, state: SessionState, told: Telling, known: StoredTurns | None = None
    ) -> list[Turn]:
        """Return what is told as turns, those that are not stored yet.

        To be called inside the transaction that stores them; nothing is learned. `known` tells
        which are stored, of these places at least; otherwise that is looked up.
        """
        if not told.chosen:
            return []
        if known is None:
            anchors = [told.trail.anchors[place] for place in told.chosen]
            store = self.conversations.journal.store
            known = stored_turns(store, who.user, who.session, anchors)
        return self._made_of(who, state, self._with_speakers(who, state, told), known)

    def _made_of(
        self, who: Identity, state: SessionState, told: Telling, known: StoredTurns
    ) -> list[Turn]:
        journal, told = self.conversations.journal, _with_tools_named(told)
        messages, trail, chosen = told.messages, told.trail, told.chosen
        own, asking = answers_of_ours(messages, chosen), asked_by(messages, chosen)
        new = [
            place
            for place in chosen
            if messages[place]["role"] != "system"
            and known[trail.anchors[place]] is None
            and trail.anchors[place] not in state.forgotten
            and place not in own
        ]
        refs = many_refs(journal.store, who.user, journal.random, Turn.prefix, len(new))
        scope = scope_of(who, state)
        strangers = self.strangers(who.user, told)
        tainted = self._tainted(who, told, strangers)
        turns = [
            Turn(
                user=who.user,
                ref=ref,
                at=moment_of(message) or told.at,
                session=who.session,
                scope=scope,
                source=source_of(message),
                trust=trust_in_message(message, self.trust, asking[place]),
                role=message["role"],
                text=redact(said_text(message)).text,
                speaker=_speaker(message),
                author=author_of(message),
                tainted=place in tainted,
                brings=tuple(redact_name(source) for source in strangers.along(place)),
                teaches=told.learn and who.learn,
                message_id=redact_name(str(message.get("id") or "")),
                position=place,
                calls=tuple(redact(str(call.get("name", ""))).text for call in _told(message)),
                arguments=tuple(_arguments(call) for call in _told(message)),
                print=trail.prints[place],
                anchor=trail.anchors[place],
                before=trail.anchors[place - 1] if place else "",
                answered=told.answered and place == len(messages) - 1,
            )
            for ref, place, message in zip(refs, new, map(messages.__getitem__, new), strict=True)
        ]
        return in_order(journal.store, turns, told, known, state.turns)

    def strangers(self, user: str, told: Telling) -> Strangers:
        """Return where strangers' words stand among what is told."""
        # A person's plain question is stored before it is answered, and needs none of it.
        from .taint import Strangers

        return Strangers(told.messages, told.trail, self.trust, self.pasted, user)

    def learn_what_waits(self, who: Identity, told: Telling | None = None) -> None:
        """Learn from what was stored as calls were prepared; `told` is in the present call."""
        store = self.conversations.journal.store
        with store.atomic(who.user):
            state = self.conversations.load(who)
            if state.untaught:
                known = stored_turns(store, who.user, who.session, state.untaught)
                nothing = Telling(messages=(), trail=Trail(), at=state.at)
                self._learn(who, state, told or nothing, _waiting(state, known))
                self.conversations.put(state, untaught=())

    def has_news(self, user: str) -> None:
        """Say that something of the user was written: it can be worked on beside the requests."""
        if self.dense is not None:
            self.dense.embed_soon(user)
        if self.distiller is not None:
            self.distiller.work_off(self)

    def reindex(self, user: str, progress: Callable[[int, int], None] | None) -> int:
        """Embed everything of a user anew; return how many records it were."""
        if self.dense is None:
            raise InvalidValue("there is no embedder to reindex with: open with embedder=...")
        return self.dense.vectors.reindex(user, progress).embedded

    def counts(self) -> dict[str, int]:
        """Return how far embedding is, where records are embedded."""
        return self.dense.counts() if self.dense is not None else {}

    def settle(self, timeout: float) -> bool:
        """Wait until the summarizer has been asked all there is; say whether that came in time."""
        return self.distiller is None or self.distiller.settle(timeout)

    def close(self) -> None:
        """Stop what works beside the requests; closing twice is fine."""
        if self.distiller is not None:
            self.distiller.close()
        if self.dense is not None:
            self.dense.close()

    def trust_in(self, source: str, given: Trust | None) -> Trust:
        """Return how far a source is trusted: as the call says, else as it was opened with."""
        trust = self.trust.get(source, "trusted") if given is None else given
        check_trust(trust)
        return trust

    def _with_speakers(self, who: Identity, state: SessionState, told: Telling) -> Telling:
        """Return what is told with its speakers put right.

        What is word for word an answer that a model gave in this conversation is the model's, such
        as a question that it was asked to put better, and not the person's.
        """
        asked = [
            (at, message_text(message))
            for at, message in ((at, told.messages[at]) for at in told.chosen)
            if message["role"] == "user" and author_of(message) == "person"
        ]
        keys = {at: reply_key(text) for at, text in asked if text.count(" ") >= WORDS}
        if not keys or not (state.turns or state.captured):
            return told
        sought = Find(types=("context",), keys=tuple(keys.values()), sessions=(who.session,))
        given = {row.key for row in self.conversations.journal.store.query(who.user, sought)}
        echoes = {at for at, key in keys.items() if key in given}
        if not echoes:
            return told
        messages = [
            {**message, "author": "model"} if at in echoes else message
            for at, message in enumerate(told.messages)
        ]
        return replace(told, messages=messages)

    def _tainted(self, who: Identity, told: Telling, strangers: Strangers) -> set[int]:
        """Return which of what is to be captured holds strangers' words, or follows them."""
        messages = told.messages
        looked_at = [at for at in told.chosen if not _is_plain(messages[at], who.user)]
        if not looked_at:
            return set()
        from ..conversation.strangers import follows_strangers

        tainted = {at for at in looked_at if strangers.taint(at)}
        answers = {at for at in looked_at if messages[at]["role"] == "assistant"}
        # The caller's history may have left out what an earlier answer came from.
        if answers - tainted and (told.shown or follows_strangers(self.conversations.journal, who)):
            tainted |= answers
        return tainted

    def _learn(
        self,
        who: Identity,
        state: SessionState,
        told: Telling,
        waiting: Sequence[Turn],
        turns: Sequence[Turn] = (),
    ) -> None:
        """Learn from new turns, and before them from those that wait."""
        # Its rules take a tenth of a second to load, and a command that only looks needs none.
        from .lessons import learn

        here: list[Turn] = []
        for turn in waiting:
            at = told.trail.place_of(turn.anchor)
            # The trail may go on where the messages end.
            if at is not None and at < len(told.messages):
                here.append(_moved(turn, at))
            else:
                # Its call is not this one: another branch, or a history that was cut.
                alone = _as_message(turn)
                apart = Telling(messages=[alone], trail=Trail().then(alone), at=told.at)
                learn(self, who, state, apart, [_moved(turn, 0)])
        learn(self, who, state, told, [*here, *turns])


def _waiting(state: SessionState, known: StoredTurns) -> list[Turn]:
    rows = [row for anchor in state.untaught if (row := known[anchor])]
    turns = load_all(rows, Turn)
    return sorted(turns, key=lambda turn: (turn.at, turn.position))


def _moved(turn: Turn, place: int) -> Turn:
    return turn.model_copy(update={"position": place})


def _as_message(turn: Turn) -> Message:
    return {
        "role": turn.role,
        "content": turn.text,
        "name": turn.speaker,
        "author": turn.author,
    }


def stored_turns(store: Store, user: str, session: str, anchors: Sequence[str]) -> StoredTurns:
    """Return the row of each of these anchors; None where there is no such turn."""
    asked = Find(types=("turn",), sessions=(session,), digests=tuple(anchors))
    rows = store.query(user, asked) if anchors else []
    return {**dict.fromkeys(anchors), **{row.digest: row for row in rows}}


def _with_tools_named(told: Telling) -> Telling:
    """Return what is told with outputs that name their tool: OpenAI's API has only a call's id."""
    nameless = {
        at
        for at in told.chosen
        if told.messages[at]["role"] == "tool" and not told.messages[at].get("name")
    }
    if not nameless:
        return told
    messages = [
        {**one, "name": _tool_of(told.messages, at)} if at in nameless else one
        for at, one in enumerate(told.messages)
    ]
    return replace(told, messages=messages)


_CALLED_WITHIN = 1_000
"""Messages before an output among which its call is looked for."""


def _tool_of(messages: Sequence[Message], place: int) -> str:
    """Return the name of the tool whose output stands there, by the last call of its id."""
    id_ = str(messages[place].get("tool_call_id", ""))
    for at in range(place - 1, max(-1, place - _CALLED_WITHIN), -1):
        for call in reversed(calls_of(messages[at])):
            if str(call.get("id", "")) == id_:
                return str(call.get("name", ""))
    return ""


def answers_of_ours(messages: Sequence[Message], places: Sequence[int]) -> set[int]:
    """Return at which of these places answers of our own tools stand.

    They repeat what is stored already: captured, they would be found in place of it, and outlive
    what is forgotten.
    """
    return {
        place
        for place in places
        if messages[place]["role"] == "tool"
        and (messages[place].get("name") or _tool_of(messages, place)) in OUR_TOOLS
    }


def asked_by(messages: Sequence[Message], places: Sequence[int]) -> dict[int, Author]:
    """Return for each of these places who wrote the question that it is, or belongs to."""
    asking: Author = "person"
    authors: dict[int, Author] = {}
    for place in since_question(messages, places):
        author = author_of(messages[place])
        if messages[place]["role"] == "user":
            asking = author
        authors[place] = "application" if author == "application" else asking
    return authors


def is_anothers(message: Message, user: str) -> bool:
    """Say whether a message of the role user names somebody else as its speaker."""
    name = str(message.get("name") or "").casefold()
    return message["role"] == "user" and name not in ("", user.casefold())


def trust_in_message(message: Message, known: Mapping[str, Trust], asking: Author) -> Trust:
    """Return how far a message is trusted: what a tool says is a stranger's, unless told.

    So is what an application's prompt brings along, documents perhaps, and what answers it.
    """
    strange = message["role"] == "tool" or asking != "person"
    return known.get(source_of(message), "untrusted" if strange else "trusted")


def source_of(message: Message) -> str:
    """Return by what source a message is known: its role, its tool, or whoever else wrote it."""
    author, name = author_of(message), str(message.get("name") or "")
    if message["role"] == "tool":
        return f"tool:{redact_name(name or 'unknown')}"
    if message["role"] == "user" and author != "person":
        return f"{author}:{redact_name(name)}" if name and author == "document" else author
    return str(message["role"])


def _is_plain(message: Message, user: str) -> bool:
    """Say whether it is plain that a message is the person's own words and nothing else."""
    if message["role"] != "user":
        return False
    own = author_of(message) == "person" and not is_anothers(message, user)
    return own and _PLAIN.fullmatch(message_text(message)) is not None


def _told(message: Message) -> list[Mapping[str, Any]]:
    """Return the calls that tell something: a question to us would be found for an answer."""
    return [call for call in calls_of(message) if call.get("name") not in OUR_TOOLS]


def _arguments(call: Mapping[str, Any]) -> str:
    """Return what a tool is called with: redacted as values, since names tell some secrets."""
    return redact(arguments({"args": redact_values(call.get("args"))})).text


def _speaker(message: Message) -> str:
    name = redact(str(message.get("name") or "")).text
    author = author_of(message)
    return name or ("" if author in ("person", "assistant", "tool") else author)
