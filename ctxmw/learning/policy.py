"""What is learned from conversations, and which sources are trusted."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from ..errors import InvalidValue
from ..text.secrets.sensitive import is_sensitive
from ..values.items import Trust

Sensitive = Literal["on_topic", "always", "never"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Learning:
    """What a conversation leaves behind beside its turns."""

    statements: bool = True
    """Preferences, corrections, decisions and facts that a user states, and notes on where the
    work stands."""
    observations: bool = True
    """What an agent's tool calls changed, looked up or failed at."""
    summaries: bool = True
    """A summary when a conversation ends."""
    model: bool = True
    """Whether the summarizer is asked as well, where the memory has one."""
    sensitive: Sensitive = "on_topic"
    """What becomes of statements about health, faith and sexuality: shown where they are spoken of,
    shown always, or never learned, nor recalled of what was said."""
    feedback: bool = True
    """Whether what people say of hits (`rate`) moves the ranking."""

    def __post_init__(self) -> None:
        if self.sensitive not in get_args(Sensitive):
            raise InvalidValue(
                f"sensitive is {self.sensitive!r:.60}. Allowed: {', '.join(get_args(Sensitive))}."
            )

    def marks(self, text: str) -> bool:
        """Say whether a text is to be shown only where it is spoken of."""
        return self.sensitive != "always" and is_sensitive(text)

    def marks_memory(self, text: str, kind: str, scope: str) -> bool:
        """Say it of what is remembered by hand; rules and a project's facts tell of nobody."""
        return scope == "universal" and kind in _OF_SOMEBODY and self.marks(text)


_OF_SOMEBODY = ("preference", "correction", "fact")


def checked_trust(given: Mapping[str, Trust]) -> Mapping[str, Trust]:
    """Return which sources are trusted, or raise when that cannot be told."""
    if not isinstance(given, Mapping):
        raise InvalidValue(f'trust is {given!r:.60}: give a dict such as {{"web": "untrusted"}}.')
    for source, trust in given.items():
        check_trust(trust, f"trust of {source!r:.60}")
    return dict(given)


def check_trust(trust: object, what: str = "trust") -> None:
    """Raise unless it is a word for how far something is trusted."""
    if trust not in ("trusted", "untrusted"):
        raise InvalidValue(f"{what} is {trust!r:.60}. Allowed: trusted, untrusted.")
