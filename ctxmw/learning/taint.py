"""How trust flows through a conversation: what follows a stranger's words is tainted by them.

A stranger is whoever is not the person: a tool, a document, an application, another model, and
whatever a person pastes. An assistant has read them, and may repeat them in words of its own, so
what it says afterwards is no more trusted than they are. A person's own words stay a person's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from ..conversation.replay.trail import Trail
from ..runtime.lru import LruCache
from ..text.terms import REPEATED, are_taken, content_terms
from ..values.items import Trust
from ..values.messages import Message, author_of, brought_by, message_text
from ..values.records import Turn
from .learner import OUR_TOOLS, is_anothers, source_of, trust_in_message

CODE_SEARCH = "code_search"
SHARED = 3
"""Words of a sentence that a text must have for it to be told from there."""
OF_A_STRANGER = "[untrusted, from "
"""How text of ours marks what a stranger wrote."""


class Strangers:
    """Where strangers' words stand among messages."""

    def __init__(
        self,
        messages: Sequence[Message],
        trail: Trail,
        known: Mapping[str, Trust],
        pasted: LruCache[str, bool],
        user: str,
    ) -> None:
        """`known` is how far sources are trusted; `pasted` keeps which messages hold a paste."""
        self._user = user
        self._messages = messages
        self._trail = trail
        self._known = known
        self._pasted = pasted
        self._along: dict[int, tuple[str, ...]] = {}
        self._looked = 0
        """Up to where strangers were looked for, and where they stand: a conversation asks often,
        and looking from its beginning again would cost more every time."""
        self._found: list[int] = []
        self._terms: dict[int, frozenset[str]] = {}

    def taint(self, place: int) -> bool:
        """Say whether a message holds strangers' words, or is an assistant's that follows them."""
        if self._messages[place]["role"] == "assistant":
            return bool(self.along(place)) or self._follows(place)
        return self.speak_at(place)

    def along(self, place: int) -> tuple[str, ...]:
        """Return the sources of strangers' words that came along up to a message, and are none.

        Of a system prompt only the application knows what it is made of. An answer has something
        from it where it says what is there, and what nobody has said.
        """
        if place not in self._along:
            self._along[place] = self._sources_up_to(place)
        return self._along[place]

    def _sources_up_to(self, place: int) -> tuple[str, ...]:
        found = [source for at, source in self._came_along if at <= place]
        if self._messages[place]["role"] == "assistant" and self._repeats_the_system(place):
            found.append("system")
        return tuple(dict.fromkeys(one for one in found if self._known.get(one) != "trusted"))

    def before(self, place: int) -> list[int]:
        """Return where strangers' words stand before a message, or came along."""
        while self._looked < place:
            self._look()
        return self._found[: bisect_left(self._found, place)]

    def are_repeated(self, terms: Collection[str], place: int) -> bool:
        """Say whether words with these stems may be taken from a message."""
        if place not in self._terms:
            self._terms[place] = frozenset(content_terms(message_text(self._messages[place])))
        return are_taken(terms, self._terms[place])

    @cached_property
    def _came_along(self) -> list[tuple[int, str]]:
        """Sources of strangers' words that came along, each with its message."""
        # The trail may go on where the messages end.
        bring = [at for at in self._trail.bring if at < len(self._messages)]
        return [(at, one) for at in bring for one in brought_by(self._messages[at])]

    def _follows(self, place: int) -> bool:
        # In a long conversation the first stranger is soon found.
        while not self._found and self._looked < place:
            self._look()
        return bool(self._found) and self._found[0] < place

    def _look(self) -> None:
        """Look whether strangers' words are, or came along, at the next place."""
        if self._bring_at(self._looked) or self.speak_at(self._looked):
            self._found.append(self._looked)
        self._looked += 1

    def speak_at(self, place: int) -> bool:
        """Say whether a message holds strangers' words."""
        message = self._messages[place]
        if message["role"] == "tool":
            # Code is whoever wrote it: what of it is a stranger's cannot be told.
            if message.get("name") in OUR_TOOLS - {CODE_SEARCH}:
                return OF_A_STRANGER in message_text(message)
            return trust_in_message(message, self._known, "person") == "untrusted"
        if message["role"] != "user":
            return False
        if author_of(message) != "person":
            return self._known.get(source_of(message)) != "trusted"
        return is_anothers(message, self._user) or self._holds_a_paste(place)

    def _repeats_the_system(self, place: int) -> bool:
        system = [message_text(self._messages[at]) for at in self._trail.systems if at < place]
        if not system or self._known.get("system") == "trusted":
            return False
        before = self._messages[:place]
        people = (message_text(one) for one in before if one["role"] == "user")
        return says_what_is_in("\n".join(system), message_text(self._messages[place]), people)

    def _bring_at(self, place: int) -> bool:
        brought = brought_by(self._messages[place])
        return any(self._known.get(source) != "trusted" for source in brought)

    def _holds_a_paste(self, place: int) -> bool:
        from ..text.speech.own_words import has_pasted

        own = self._trail.prints[place]
        known = self._pasted.get(own)
        if known is None:
            known = has_pasted(message_text(self._messages[place]))
            self._pasted.put(own, known)
        return known


def says_what_is_in(text: str, answer: str, people: Iterable[str]) -> bool:
    """Say whether an answer has something from a text that no person said.

    That is an address, or most words of a sentence out of two of the text's that stand together:
    in a long one any two words are somewhere.
    """
    from ..text.prose import sentences

    held = text.casefold()
    addresses = [one for one in _addresses(answer) if one in held]
    parts = [set(content_terms(one.text)) for one in sentences(text)]
    pairs = [one | other for one, other in zip(parts, [*parts[1:], set()], strict=False)]
    told = [set(content_terms(one.text)) for one in sentences(answer)]
    alike = [terms for terms in told if any(len(terms & pair) >= SHARED for pair in pairs)]
    # What people said is read only where that can tell: there is much of it in a long conversation.
    if not (addresses or alike):
        return False
    words = "\n".join(people)
    known = words.casefold() if addresses else ""
    if any(one not in known for one in addresses):
        return True
    said = set(content_terms(words)) if alike else set()
    return any(_is_taken(terms - said, pairs) for terms in alike)


def _is_taken(terms: set[str], pairs: Sequence[set[str]]) -> bool:
    return any(len(terms & pair) >= max(SHARED, REPEATED * len(terms)) for pair in pairs)


def _addresses(text: str) -> Iterator[str]:
    """Yield hosts, mail addresses, pages and files: what has a dot in the middle."""
    for word in text.casefold().split():
        bare = word.strip(_AROUND)
        if "." in bare:
            yield bare


_AROUND = "\"'`()[]{}<>*_,;:!?."


def trust_of_words(turn: Turn) -> Trust:
    """Return how far what is stated in a turn is trusted: a person's own words as the turn is.

    What an assistant states takes the lowest trust of what it may come from.
    """
    return "untrusted" if turn.role == "assistant" and turn.tainted else turn.trust
