"""What comes by itself: triggers are read off a message, and code, rules and modes answer them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..protocols import Store
from ..runtime.telemetry import Faults
from ..text.cleaning import LONGEST_WORD, words
from ..text.lexicon import FRAME_WORDS, SMALL_TALK, STOP_WORDS
from ..text.secrets.redaction import redact
from ..values.clocks import after, span
from ..values.items import Item
from ..values.situation import Situation
from ..workspace.activity import Activity, read_after, recent_activity
from ..workspace.mentions import excerpt
from ..workspace.triggers import (
    Trigger,
    Triggers,
    analyze_activity,
    analyze_message,
    carried_over,
    still_alive,
)
from .modes import Mode, modes_in
from .sources.directory import Directory

if TYPE_CHECKING:
    from ..code.codebase import Codebase
    from ..code.index import ProjectCode
    from .sources.code.source import Code

_POINTS_AT = frozenset(("here", "it", "that", "these", "this", "those"))
_ASKED_OF_IT = frozenset(
    "debug describe document explain fix improve refactor rename review rewrite simplify".split()
)
_WHY = frozenset("and but hm hmm how is not ok okay so then well what why wrong".split())
"""All of a message that asks nothing but why: of what is at hand."""
_ASKS_WHY = frozenset(("how", "why", "wrong"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Brought:
    """What a message brings by itself, and what it leaves for the next ones."""

    modes: tuple[Item, ...] = ()
    rules: tuple[Item, ...] = ()
    code: tuple[Item, ...] = ()
    readme: tuple[Item, ...] = ()
    files: tuple[str, ...] = ()
    """Paths in play."""
    carried: tuple[Trigger, ...] = ()
    activity_feed: int = 0

    def seen_from(self, situation: Situation) -> Situation:
        """Return the situation with the files in play."""
        return replace(situation, files=self.files) if self.files else situation


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Everything that is looked at without being asked for."""

    store: Store
    faults: Faults
    policy: Triggers
    modes: tuple[Mode, ...]
    codebase: Codebase
    code: Code
    directory: Directory

    def look(
        self,
        situation: Situation,
        carried: Sequence[Trigger],
        feed: int,
        floor: float,
        head: int,
    ) -> Brought:
        """Return what the message, earlier ones and recent activity bring.

        `feed` is how far activities were read, `head` where the changes feed stands.
        """
        recent, feed = self._recent(situation, carried, feed)
        with self.codebase.use(situation.user, situation.project, head) as code:
            known = code.knows if code is not None else None
            said = _without_secrets(situation.query)
            new = analyze_message(said, now=situation.now, policy=self.policy, known=known)
            talk = is_small_talk(situation.query)
            acting = new if talk else [*new, *recent]
            files = _in_play(situation, acting, code)
            seen = replace(situation, query="" if talk else said)
            found = self.code.brought(code, seen, acting, self.policy, floor)
        started = any(trigger.kind == "session_start" for trigger in acting)
        about = " ".join(q for one in new if one.kind == "message" for q in one.queries)
        weight = 1.0 if started else self.policy.message
        return Brought(
            modes=tuple(mode.item() for mode in modes_in(situation.query, self.modes)),
            rules=tuple(self.directory.rules_for(situation, files)),
            code=tuple(found),
            readme=tuple(self.directory.readme_for(situation, about, weight, floor, asked=started)),
            files=files,
            carried=carried_over([*new, *recent], self.policy),
            activity_feed=feed,
        )

    def search_code(self, situation: Situation, tokens: int) -> list[Item] | None:
        """Return the code that a query is about, the best first; None when none is known."""
        with self.codebase.use(situation.user, situation.project) as code:
            if code is None:
                return None
            policy = replace(self.policy, tokens=tokens)
            return self.code.found(code, situation, policy)

    def get(self, situation: Situation, ref: str) -> Item | None:
        """Return what has this ref among the code and the files of the folder."""
        return self.code.get(situation, ref) or self.directory.get(situation, ref)

    def _recent(
        self, situation: Situation, carried: Sequence[Trigger], feed: int
    ) -> tuple[list[Trigger], int]:
        """Return what still counts of earlier messages, and what was done in an editor since."""
        now = situation.now
        done, feed = self._done(situation, feed)
        touched = {activity.path for activity in done if activity.type != "symbol_hover"}
        closed = {activity.path for activity in done if activity.type == "file_close"}
        kept = [one for one in carried if one.source not in touched]
        new = [
            one
            for each in done
            if each.path not in closed
            for one in analyze_activity(each, now=now, policy=self.policy)
        ]
        return still_alive([*new, *kept], now, self.policy), feed

    def _done(self, situation: Situation, feed: int) -> tuple[list[Activity], int]:
        since = after(situation.now, -span(minutes=self.policy.minutes))
        rows = recent_activity(self.store, situation.user, situation.project, since=since)
        return read_after(rows, feed, self.faults)


def is_small_talk(text: str) -> bool:
    """Say whether a message asks for nothing, and points at nothing that is at hand."""
    read = excerpt(text)
    if any(map(_says_something, read.split(" "))):
        return False
    said = words(read)
    points = not _POINTS_AT.isdisjoint(said)
    if points and ("?" in text or not _ASKED_OF_IT.isdisjoint(said)):
        return False
    if _WHY.issuperset(said) and not _ASKS_WHY.isdisjoint(said):
        return False
    return all(word in STOP_WORDS or word in FRAME_WORDS or word in SMALL_TALK for word in said)


def _says_something(word: str) -> bool:
    """Say at a glance that a word makes a message more than small talk: most have one such."""
    plain = word.isascii() and word.isalpha() and word.islower() and len(word) < LONGEST_WORD
    return plain and not (word in STOP_WORDS or word in FRAME_WORDS or word in SMALL_TALK)


def _in_play(
    situation: Situation, triggers: Sequence[Trigger], code: ProjectCode | None
) -> tuple[str, ...]:
    """Return the paths in play, relative to the root where they are under it."""
    named = [*situation.files, *(file for trigger in triggers for file in trigger.files)]
    meant = [path for file in named for path in _meant(file, code)]
    root = f"{situation.root.as_posix()}/" if situation.root else "./"
    return tuple(dict.fromkeys(path.removeprefix(root) for path in (*named, *meant)))


def _meant(file: str, code: ProjectCode | None) -> list[str]:
    """Return where the one file is that a part of its path means: "auth.py" is "src/auth.py"."""
    found = [one for one, _ in code.paths(file)] if code is not None else []
    return [f"{one.root}/{one.path}" for one in found] if len(found) == 1 else []


def _without_secrets(text: str) -> str:
    """Return what is read of a message: triggers are kept with the conversation."""
    return _REDACTED.sub(" ", redact(excerpt(text)).text)


_REDACTED = re.compile(r"\[REDACTED:\w*\]")
