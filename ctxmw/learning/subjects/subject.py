"""What a statement is about, so that a later one about the same takes its place.

The subject is told by the form: an attribute ("my phone is ...", "I live in ..."), a frame with
one place to fill ("start function names with '...'", "give prices in ..."), or what is liked or
refused.
Two statements with equal keys say something of the same; what they say of it may differ. Beside the
key stands what a statement gives up by name ("no longer vegetarian", "instead of Kafka"), what it
tells of a person (`attributes.py`), and whether it says that something has changed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from ...text.cleaning import fold
from ...text.terms import content_terms, stem
from ...values.records import OTHER_WORDS
from .attributes import (
    NOTHING_TOLD,
    Attributes,
    attributes_of,
    changed_attribute,
)
from .endings import ended_in, plain_words, says_it_changed, shares
from .forms import WORK, form_of, terms_about
from .frames import frame_of
from .topics import Topic, has_changed, spoken_topics

MOST_TERMS = 10
"""Words beyond which a statement is about more than one thing can be told by."""

_QUOTED = re.compile(
    r"`[^`]{1,80}`|\"[^\"]{1,80}\"|\u201c[^\u201d]{1,80}\u201d|"
    r"(?<!\w)['\u2018][^'\u2019]{1,80}['\u2019](?!\w)"
)


@dataclass(frozen=True, slots=True)
class Subject:
    """What a statement is about."""

    key: str = ""
    """Equal for two statements about the same; "" when that cannot be told."""
    about: frozenset[str] = frozenset()
    """Stems of what it is about, without words of liking and of change."""
    given_up: frozenset[str] = frozenset()
    """Stems of what it says to hold no longer."""
    changes: bool = False
    """Whether it says that something is no longer as it was."""
    denies: bool = False
    """Whether it says no to what it is about."""
    mine: frozenset[str] = frozenset()
    """Stems of what it calls the speaker's own: "my coffee"."""
    quotes: bool = False
    """Whether it gives a value in quotes: others of its kind may hold beside it."""
    core: tuple[str, ...] = ()
    """Stems of its first clause: what follows is told along with it."""
    refuses: bool = False
    """Whether its first clause says no."""
    names: frozenset[str] = frozenset()
    """Stems of the names in it."""
    keys: frozenset[str] = frozenset()
    """Keys of its clauses: what one of them says anew may be all that was said before."""
    tells: Attributes = NOTHING_TOLD
    """What it tells of a person."""
    topics: tuple[Topic, ...] = ()
    """What its clauses speak of, and the values they give."""

    @property
    def is_exact(self) -> bool:
        """Whether the key alone tells what it is about."""
        return self.quotes or self.key.startswith(("frame:", "subject:"))

    @property
    def head(self) -> str:
        """The stem of what is said first, beside what is done with it."""
        return next((term for term in self.core if term not in _VAGUE), "")

    @property
    def is_medical(self) -> bool:
        """Whether somebody might come to harm if it were forgotten."""
        return not _MEDICAL.isdisjoint(self.about)

    @property
    def clears(self) -> bool:
        """Whether it says in plain words that an allergy, or the like, is none."""
        return not _CLEARS.isdisjoint(self.about | self.given_up) or (
            self.denies and not _MEDICAL.isdisjoint(self.about | self.given_up)
        )

    def says_all(self, text: str) -> bool:
        """Say whether a part of its sentence has what it gives up, and what it names instead."""
        named = self.given_up | {
            stem(word) for _, thing, _ in self.tells.things for word in thing.split()
        }
        return named <= frozenset(content_terms(text))

    @property
    def alters(self) -> bool:
        """Whether something it speaks of is said to have another value now."""
        return any(one.altered or self.changes for one in self.topics)

    @property
    def may_replace(self) -> bool:
        """Whether something that is known may have to go for it."""
        told = self.changes or self.given_up or self.keys or self.tells.may_change or self.alters
        return bool(told) or self.key.startswith("subject:")


# A new statement is compared with many known ones, and mostly with the same as the last.
@lru_cache(maxsize=4096)
def subject_of(text: str, said: str = "") -> Subject:
    """Return what a statement is about; the sentence around it, `said`, may tell of change."""
    plain = fold(_QUOTED.sub(" \u00a4 ", text)).replace("\u2019", "'")
    plain = _LEADS_UP.sub("", plain).rstrip(" .!")
    sentence = said or text
    first = _TOLD_ALONG.split(plain, maxsplit=1)[0]
    told = _COMPARES.sub(" ", sentence) if _WEIGHS.search(plain) else sentence
    given_up = ended_in(plain_words(_QUOTED.sub(" ", told)))
    return Subject(
        _key(plain, frozenset(terms_about(plain)) - given_up),
        frozenset(terms_about(plain)) - given_up,
        given_up,
        changes=says_it_changed(plain_words(_COMPARES.sub(" ", sentence))),
        denies=bool(_DENIES.search(plain)),
        mine=frozenset(term for own in _MINE.findall(plain) for term in content_terms(own)),
        quotes="\u00a4" in plain,
        core=tuple(terms_about(first)),
        refuses=bool(_DENIES.search(first)),
        names=frozenset(term for name in _NAME.findall(text) for term in content_terms(name)),
        keys=frozenset(_keys_of_clauses(sentence)),
        tells=attributes_of(sentence),
        topics=() if "\u00a4" in plain else spoken_topics(sentence),
    )


_TOLD_ALONG = re.compile(r"[,;]| (?:that|which|who|because|since|with my|with our|so) ")
_NAME = re.compile(r"(?<=[\w,] )[A-Z]\w+")
_CLAUSES = re.compile(r"(?:,|;| and| but)(?: and| but| so)? (?=(?:my|our|i|we)\b)")


def _keys_of_clauses(sentence: str) -> Iterator[str]:
    if _QUOTED.search(sentence):
        return
    plain = fold(sentence).replace("\u2019", "'").rstrip(" .!")
    for clause in _CLAUSES.split(plain):
        if form := form_of(_LEADS_UP.sub("", clause)):
            yield f"subject: {form}"


def takes_the_place(new: Subject, old: Subject) -> str:
    """Return why a statement takes the place of another one; "" when it does not."""
    if new.key.startswith("about:") and new.key == old.key and new.denies == old.denies:
        return OTHER_WORDS
    if old.is_medical and not new.clears:
        return ""
    if (new.key and new.key == old.key) or old.key in new.keys or _same_frame(new, old):
        return "says something else of the same"
    if old.key in WORK and (new.given_up & old.about or (new.changes and new.key in WORK)):
        return "says that it changed"
    if new.is_exact and old.is_exact and not new.given_up:
        return changed_attribute(new.tells, old.tells) or _has_another_value(new, old)
    if _gives_up(new, old):
        return "gives it up"
    if new.changes and (why := _says_it_changed(new, old)):
        return why
    told = "" if old.quotes or new.quotes else changed_attribute(new.tells, old.tells)
    return told or _has_another_value(new, old)


def _has_another_value(new: Subject, old: Subject) -> str:
    if old.quotes or new.quotes:
        return ""
    if new.tells.adds or new.tells.owner != old.tells.owner:
        return ""
    changed = has_changed(new.topics, old.topics, changes=new.changes)
    return "says something else of the same" if changed else ""


def _gives_up(new: Subject, old: Subject) -> bool:
    """Say whether a statement gives up by name what another one is about."""
    if old.quotes:
        return False
    named = new.given_up.intersection(old.core) - _VAGUE
    if named & old.names:
        return True
    things = {term for _, word, _ in old.tells.things for term in content_terms(word)}
    if new.tells.owner != old.tells.owner:
        return False
    return old.head in named or bool(named & things) or shares(named, old.core)


_SHARED = frozenset(
    content_terms("friends friend goal goals life body mind time day hands head heart people room")
)
"""What of one's own many statements name, though they are about something else."""
_VAGUE = frozenset(
    content_terms(
        "work live go take play read drive eat drink watch write make wear own speak listen study"
        " see get getting feel feeling find know knowing while time day way lot bit thing things"
        " people year years good great well moment being doing interested keep trying made come"
        " round funny enough afraid scared allergic fear fan without honestly really someone"
        " something"
    )
)


def _says_it_changed(new: Subject, old: Subject) -> str:
    if new.quotes and not old.quotes:
        return ""
    if old.quotes and not (new.quotes or new.denies):
        return ""  # "Update your naming" gives no other value
    if new.about and new.about <= old.given_up:
        return "takes it back"
    same = old.head and old.head == new.head and new.tells.owner == old.tells.owner
    if same and new.refuses != old.refuses and not old.quotes:
        return "says that it changed"
    common = new.about & (old.about | old.given_up)
    most = max(len(new.about), len(old.about))
    mine = new.mine & old.mine & set(new.core) & set(old.core)
    if mine - _SHARED or (old.about and common and 2 * len(common) >= most):
        return "says that it changed"
    return ""


_MEDICAL = frozenset(content_terms("allergic allergy allergies intolerant intolerance anaphylaxis"))
_CLEARS = frozenset(content_terms("misdiagnosis misdiagnosed outgrew outgrown cured"))

_LEADS_UP = re.compile(
    r"^(?:(?:since|after|as of|following) [\w' ]{2,30}?,? (?=(?:i|we|my|our)\b))?"
    r"(?:(?:these days|nowadays|now|currently|actually|by the way|turns out|it turns out|update|"
    r"so|ok|okay|well|oh|fyi|btw|heads up)[,:]? (?:that )?)*"
)
_MINE = re.compile(
    r"\b(?:my|our) (?!wife|husband|partner|girlfriend|boyfriend|sons?\b|daughter|kids?\b|child|"
    r"dogs?\b|cats?\b|mother|father|mum|mom|dad|parents|brother|sister|family|favou?rite|own|new)(\w+)"
)
_DENIES = re.compile(
    r"n't\b|\b(?:not|no|never|avoid|dislike|hate|refuse|stop|loathe|despise|detest|cannot|without|"
    r"aversion|against|uninterested|less)\b"
)
# "I prefer trains instead of planes" weighs two things, and gives up neither.
_WEIGHS = re.compile(r"\b(?:prefer|rather|avoid|only|tend|choose|like|love|enjoy|dislike)\w*\b")
_COMPARES = re.compile(r"\b(?:instead(?: of)?|rather than)\b")


def _key(plain: str, about: frozenset[str]) -> str:
    if "\u00a4" in plain:
        frame = frame_of(plain)
        return f"frame: {frame}" if frame else ""
    if name := form_of(plain):
        return f"subject: {name}"
    return f"about: {' '.join(sorted(about))}" if 1 <= len(about) <= MOST_TERMS else ""


def _same_frame(new: Subject, old: Subject) -> bool:
    """Say whether two frames are one: what one of them leaves out, it tells elsewhere."""
    if not (new.key.startswith("frame: ") and old.key.startswith("frame: ")):
        return False
    (place, *ours), (other, *theirs) = new.key.split()[1:], old.key.split()[1:]
    more, less = set(ours) - set(theirs), set(theirs) - set(ours)
    return place == other and more <= old.about and less <= new.about
