"""What a statement is about, so that a later one about the same takes its place.

The subject is told by the form: an attribute ("my phone is ...", "I live in ..."), a frame with
one place to fill ("start function names with '...'", "give prices in ..."), or what is liked or
refused.
Two statements with equal keys say something of the same; what they say of it may differ. Beside the
key stands what a statement gives up by name ("no longer vegetarian", "instead of Kafka"), and
whether it says that something has changed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from ...memory.remember import OTHER_WORDS
from ...protocols import Find
from ...store.journal import Journal
from ...text.cleaning import fold, words
from ...text.lexicon import STOP_WORDS
from ...text.terms import content_terms
from ...values.records import Memory
from .forms import WORK, form_of, frame_of, terms_about

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

    @property
    def is_exact(self) -> bool:
        """Whether the key alone tells what it is about."""
        return self.quotes or self.key.startswith(("frame:", "subject:"))

    @property
    def may_replace(self) -> bool:
        """Whether something that is known may have to go for it."""
        return self.changes or bool(self.given_up) or self.key.startswith("subject:")


def subject_of(text: str, said: str = "") -> Subject:
    """Return what a statement is about; the sentence around it, `said`, may tell of change."""
    plain = fold(_QUOTED.sub(" \u00a4 ", text)).replace("\u2019", "'")
    plain = _LEADS_UP.sub("", plain).rstrip(" .!")
    told = _COMPARES.sub(" ", plain) if _WEIGHS.search(plain) else plain
    given_up = _given_up(told)
    about = (
        frozenset(terms_about(_GIVING_UP.sub(" ", plain)))
        if given_up
        else frozenset(terms_about(plain))
    )
    changes = bool(
        given_up or _CHANGES.search(_COMPARES.sub(" ", fold(said or text)))
    ) and not _ADDS.search(plain)
    return Subject(
        _key(plain, about),
        about,
        given_up,
        changes,
        denies=bool(_DENIES.search(plain)),
        mine=frozenset(term for own in _MINE.findall(plain) for term in content_terms(own)),
        quotes="\u00a4" in plain,
    )


def takes_the_place(new: Subject, old: Subject) -> str:
    """Return why a statement takes the place of another one; "" when it does not."""
    if new.key.startswith("about:") and new.key == old.key and new.denies == old.denies:
        return OTHER_WORDS
    if (new.key and new.key == old.key) or _same_frame(new, old):
        return "says something else of the same"
    if old.key in WORK and (new.given_up & old.about or (new.changes and new.key in WORK)):
        return "says that it changed"
    if new.is_exact and old.is_exact:
        return ""
    if new.given_up and old.about:
        named = new.given_up & old.about
        if (
            named
            and not old.quotes
            and 2 * len(named) >= len(old.about)
            and 2 * len(named) >= len(new.given_up)
        ):
            return "gives it up"
    return _says_it_changed(new, old) if new.changes else ""


def _says_it_changed(new: Subject, old: Subject) -> str:
    if new.about and new.about <= old.given_up:
        return "takes it back"
    common = new.about & (old.about | old.given_up)
    most = max(len(new.about), len(old.about))
    if new.mine & old.mine or (old.about and common and 2 * len(common) >= most):
        return "says that it changed"
    return ""


_LEADS_UP = re.compile(
    r"^(?:(?:these days|nowadays|now|currently|actually|by the way|turns out|it turns out|update|"
    r"so|ok|okay|well|oh|fyi|btw|heads up)[,:]? (?:that )?)+"
)
_MINE = re.compile(
    r"\b(?:my|our) (?!wife|husband|partner|girlfriend|boyfriend|sons?\b|daughter|kids?\b|child|"
    r"dogs?\b|cats?\b|mother|father|mum|mom|dad|parents|brother|sister|family|favou?rite|own|new)(\w+)"
)
_DENIES = re.compile(
    r"n't\b|\b(?:not|no|never|avoid|dislike|hate|refuse|stop|loathe|despise|detest|cannot|without|"
    r"aversion|against|uninterested|less)\b"
)
_CHANGES = re.compile(
    r"\b(?:(?<!from )now|no longer|any ?more|instead|these days|nowadays|actually|switched|"
    r"switching|moved|gave up|given up|quit|stopped|changed|since|"
    r"not \w+ any ?more|as of|update[ds]?|back to|after all|again|turns out|"
    r"(?:went|gone) (?:up|down|over) to|come (?:a)?round to)\b"
)
_ADDS = re.compile(r"\b(?:also|too|as well|in addition|besides|another|additionally)\b")
# "I prefer trains instead of planes" weighs two things, and gives up neither.
_WEIGHS = re.compile(r"\b(?:prefer|rather|avoid|only|tend|choose|like|love|enjoy|dislike)\w*\b")
_COMPARES = re.compile(r"\b(?:instead(?: of)?|rather than)\b")
_GIVING_UP = re.compile(
    r"""\b(?: (?:instead[ ]of|rather[ ]than|no[ ]longer(?:[ ](?:an?|the|use|using|want|like|need
        |eat|drink|work(?:ing)?(?:[ ]at)?))?
          |(?:gave|given)[ ]up(?:[ ]on)?|quit|(?:switch(?:ed|ing)|mov(?:ed|ing)|migrat(?:ed|ing)
          |chang(?:ed|ing))(?:[ ](?:over|away))?[ ]from
          |cancell?ed|dropped|ditched|sold|returned|left|swapped|replaced|traded(?:[ ]in)?
          |got[ ]rid[ ]of|(?:split|broke)[ ]up[ ]with|no[ ]more|no[ ]need[ ](?:for|to)
          |moved[ ]\w+[ ]from|(?<=[,;][ ])not
          |stop(?:ped)?|(?:forget|ignore|disregard|scrap|drop)(?:[ ](?:about
          |what[ ]i[ ]said[ ]about|everything[ ]about))?
          |can[ ]stop)[ ](?P<it>[^,;.]+?)
          (?=[ ]to[ ]|[ ]for[ ]|[ ]in[ ]for[ ]|[,;.]|[ ]and[ ]|[ ]from[ ]now|[ ]any|[ ]because[ ]|$)
      | (?:don't|do[ ]not|doesn't|isn't|aren't|'m[ ]not|not)[ ](?:want|need|like|use|eat|drink
      |wear|play|an?|work|live)?[ ]?
        (?P<not>[^,;.]+?)[ ]any[ ]?more
      )""",
    re.VERBOSE,
)


_GONE = re.compile(
    r"\A(?:my |our )?(?P<it>\w++(?: \w++)??) "
    r"(?:left|died|passed away|moved out|retired|closed down)\b"
)


def _given_up(plain: str) -> frozenset[str]:
    named = [found["it"] or found["not"] or "" for found in _GIVING_UP.finditer(plain)]
    if gone := _GONE.match(plain):
        named.append(gone["it"])
    return frozenset(term for name in named for term in terms_about(name))


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


LOOKED_FOR, LOOKED_UP = 8, 40
"""Words by which memories on the same are looked up, and how many of them are compared."""
_PEOPLE = ("user", "conversation", "model")
"""Sources whose words are a person's own."""


def replaced_by(
    journal: Journal, user: str, scope: str, subject: Subject, said: str
) -> dict[str, str]:
    """Return the memories of a scope whose place a new statement takes, each with the reason."""
    asked = Find(types=(Memory.type,), scopes=(scope,), limit=LOOKED_UP)
    named = {word for word in words(said) if word not in STOP_WORDS}
    if not named:
        return {}
    # Long words are rare: looking for all of them would find everything.
    rare = sorted(named, key=lambda word: (-len(word), word))[:LOOKED_FOR]
    rows = [row for row, _ in journal.store.search(user, rare, asked)]
    if subject.key:
        rows += journal.store.query(user, Find(types=(Memory.type,), keys=(subject.key,)))
    found: dict[str, str] = {}
    for old in journal.read(rows, Memory):
        own = old.scope == scope and old.source in _PEOPLE and not old.superseded_by
        if own and (why := takes_the_place(subject, subject_of(old.text))):
            found[old.ref] = why
    return found
