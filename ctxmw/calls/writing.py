"""What an agent writes by itself: it remembers, and forgets, in the conversation it is in.

What it writes is marked as the agent's. It takes the place of no person's memory, and is trusted no
more than what the conversation was told: a page or a mail that the agent has read may have put the
words into its mouth. What it forgets of its own is removed; what it forgets of a person's is put
away, and the person can bring it back.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from ..conversation.conversation import Identity, scope_of
from ..conversation.state import SessionState
from ..conversation.strangers import strangers_kept
from ..errors import InvalidValue
from ..learning.learner import Learner
from ..memory.forget import forget
from ..memory.remember import checked_memory, checked_period, remember
from ..memory.versions import put_away
from ..protocols import Find
from ..text.cleaning import one_line
from ..values.argument_checks import check_name
from ..values.items import Trust
from ..values.records import AGENT, Memory, Turn

_SHOWN = 80


class AgentWriting:
    """What the tools `remember` and `forget` do in one conversation."""

    def __init__(self, learner: Learner, who: Identity) -> None:
        self._learner = learner
        self._journal = learner.conversations.journal
        self._who = who

    def remember(self, text: str, kind: str, scope: str, key: str, until: date | None) -> str:
        """Store a memory of the agent's, and return what a model is told of it."""
        user = self._who.user
        with self._journal.store.atomic(user):
            state = self._learner.conversations.load(self._who)
            strange = strangers_kept(self._journal, self._who)
            where = scope or scope_of(self._who, state)
            values = checked_memory(text, kind=kind, scope=where) | checked_period(None, until)
            values |= {"key": check_name(key, "key"), "source": AGENT}
            values |= {"trust": self._trust(state, strange), "session": self._who.session}
            values["sensitive"] = self._learner.policy.marks(values["text"])
            if values["sensitive"] and self._learner.policy.sensitive == "never":
                return (
                    "Not remembered: this memory keeps nothing about health, faith or sexuality.\n"
                )
            values["derived_from"] = tuple(turn.ref for turn in strange)
            with self._learner.telemetry.observer.operation("remember"):
                memory = remember(self._journal, self._learner.search, user, **values)
            told = f"Remembered as {memory.ref} ({memory.kind}, {memory.scope})."
            others = self._under(memory.key, memory.scope) if memory.key else []
        self._learner.has_news(user)
        if kept := [other.ref for other in others if other.ref != memory.ref]:
            told += f" {', '.join(kept)} has this key too: the user's own, which stays as it is."
        return told + "\n"

    def forget(self, ids: Sequence[str], key: str) -> str:
        """Remove memories of the agent's, and put away those of the user; return what went."""
        user, store = self._who.user, self._journal.store
        if not ids and not key:
            return 'forget needs ids or a key, such as {"ids": ["m3k7qza"]}.\n'
        with store.atomic(user):
            rows = store.get(user, list(dict.fromkeys(ids)))
            rows = [row for row in rows if row.type == Memory.type and row.live]
            missing = [ref for ref in dict.fromkeys(ids) if ref not in {row.ref for row in rows}]
            if missing:
                named = ", ".join(missing)[:200]
                return f"No memory has the id {named}: see mem_search. Nothing was forgotten.\n"
            found = self._journal.read(rows, Memory)
            found += [one for one in self._under(key) if one not in found] if key else []
            if not found:
                return f"No memory has the key {key[:80]!r}. Nothing was forgotten.\n"
            told = [self._let_go(memory) for memory in found]
        self._learner.has_news(user)
        return "".join(told)

    def _let_go(self, memory: Memory) -> str:
        said = f'{memory.ref} ({memory.kind}) "{one_line(memory.text, _SHOWN)}"'
        if memory.source == AGENT:
            forget(
                self._journal, self._who.user, self._journal.store.get(memory.user, [memory.ref])
            )
            return f"Removed for good: {said}.\n"
        put_away(self._journal, self._who.user, memory.ref)
        return f"Put away: {said}. It is not shown or found any more; the user can restore it.\n"

    def _under(self, key: str, scope: str = "") -> list[Memory]:
        scopes = (scope,) if scope else ()
        asked = Find(types=(Memory.type,), keys=(check_name(key, "key"),), scopes=scopes)
        return self._journal.read(self._journal.store.query(self._who.user, asked), Memory)

    def _trust(self, state: SessionState, strange: Sequence[Turn]) -> Trust:
        """Return how far a memory of the agent's is trusted.

        As far as the application says (`trust={"agent": "trusted"}`), and not at all where a
        stranger's words were read.
        """
        tainted = strange or any(part.untrusted for part in state.parts)
        return "untrusted" if tainted else self._learner.trust.get(AGENT, "untrusted")


def checked_day(text: str) -> date | None:
    """Return the day an agent names; None for none."""
    if not text.strip():
        return None
    try:
        return date.fromisoformat(text.strip()[:10])
    except ValueError:
        raise InvalidValue(f"until is {text!r:.60}: give a day such as 2026-05-17.") from None
