"""What a statement speaks of and what sort of value it gives: "Standup got pushed to 10:30".

Any noun may be what somebody keeps one of: an office, a landlord, the day of a meeting, what the
backend is written in. Which it is, is told by where it stands: it is what a sentence begins with,
what somebody moves or changes, or what they have a new one of. Two statements with the same topic
are about the same where their values are of one sort: a day and an owner are not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .forms import KIN


@dataclass(frozen=True, slots=True)
class Topic:
    """What a clause speaks of, and what it says of it."""

    nouns: tuple[str, ...]
    """Roots of the words for it, its head last: "gym", "day"."""
    sort: str
    """What sort of value it has: "time", "number" or "name"."""
    way: str
    """How the value is tied to it: "in" for a place, "with" for a tool, "is" for what it is."""
    values: frozenset[str]
    """The values themselves, in lower case."""
    limits: frozenset[str]
    """What it is said for: "for the Oslo team"."""
    altered: bool = False
    """Whether its verb says that it is otherwise now."""

    def differs(self, other: Topic) -> bool:
        """Say whether another clause gives the same another value of the same sort."""
        # A gym day is about the gym; a favourite book is not about a favourite film.
        same = self.nouns[-1] in other.nouns or other.nouns[-1] in self.nouns
        if self.sort != other.sort or not same:
            return False
        tied = self.way == other.way or self.altered or self.sort == "time"
        limited = self.limits - other.limits - other.values - self.values
        return tied and not limited and self.values.isdisjoint(other.values)


def spoken_topics(text: str) -> tuple[Topic, ...]:
    """Return what the clauses of a statement speak of, as far as their form tells."""
    return tuple(found for clause in _CLAUSES.split(text) if (found := _topic_of(clause)))


def has_changed(new: Sequence[Topic], old: Sequence[Topic], *, changes: bool) -> bool:
    """Say whether something spoken of has another value now; `changes` says that words tell so."""
    return any(one.differs(other) for one in new if one.altered or changes for other in old)


def may_be_otherwise(new: Sequence[Topic], old: Sequence[Topic]) -> bool:
    """Say whether two statements differ in something spoken of, though no word tells of change."""
    return any(one.differs(other) for one in new for other in old)


_CLAUSES = re.compile(
    r"[;,] (?!it\b)(?:and |but |so )?|(?: and| but| so) (?=(?:my|our|the|we|i)\b)"
)


def _topic_of(clause: str) -> Topic | None:
    for form in _FORMS:
        if not (found := form.search(clause)):
            continue
        nouns = tuple(_roots(next(part for part in found.groups() if part)))
        told = _TITLE.sub("", clause[found.end() :])
        sort, values = _value_in(told)
        if nouns and sort:
            tied = _TIED.search(told)
            way = "is" if not tied else "in" if tied[1] in _PLACES else "with"
            limits = frozenset(one.lower() for one in _LIMITS.findall(clause))
            return Topic(nouns, sort, way, values, limits, bool(_CHANGED.search(clause)))
    return None


_TITLE = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof)\b\.? ?")
_TIED = re.compile(r"\b(in|at|to|into|near|on|with|through|via|by|from) (?:the )?(?=[A-Z\d])")
_LIMITS = re.compile(r"(?i:\b(?:for|during|when|except) (?:(?:the|my|our) )?(\w+))")
_PLACES = frozenset("in at to into near".split())
_OWN = r"(?:my|our|the|its|their|all my|all our|all the)"
_NOUNS = r"([a-z][\w-]{1,20}(?: [a-z][\w-]{1,20}){0,2}?)"
_LEAD = (
    r"(?i:\A(?:(?:so|ok|okay|well|actually|update|now|btw|by the way|heads up|from now on"
    r"|these days|since [\w ]{2,25}|starting [\w ]{2,25})[,:]? )*)"
)
_IS = (
    r"(?:is|are|was|were|got|gets|has been|have been|had to be|will be|go|goes|runs?|moved|moves"
    r"|starts?|ends?|begins?|changed|turned|became|takes place|happens?|belongs|lives?|sits?|comes?"
    r"|costs?)\b"
)
_ALTERED = (
    r"(?:moved|moving|changed|changing|switched|switching|rewrote|rewritten|rewriting|rebuilt"
    r"|redid|ported|porting|pushed|shifted|renamed|migrated|migrating|postponed|rescheduled|raised"
    r"|lowered|cut|bumped|extended|transferred|relocated|swapped)"
)
_FORMS = (
    # "The company moved its office to Potsdam", "We rewrote the backend in Rust."
    re.compile(rf"(?i:\b{_ALTERED} (?:over )?{_OWN}) {_NOUNS} (?=(?:over )?(?:to|in|into|for)\b)"),
    # "I have a new number, it ends in 77."
    re.compile(rf"(?i:\b(?:have|got|'ve got|found) an? (?:brand )?new) {_NOUNS}(?=,|:| called)"),
    # "I have my standup at 9", "We do our retros on Fridays."
    re.compile(
        rf"{_LEAD}(?i:(?:i|we)(?: (?:usually|always|now|mostly|currently|normally))?"
        rf" (?:have|do|write|keep|take|hold|get|host|run|store|buy|track|book|plan) (?:my|our)) "
        rf"{_NOUNS} (?=(?:in|at|on|with|from|through)\b)"
    ),
    # "We deploy with Ansible."
    re.compile(
        rf"{_LEAD}(?i:we|i) (?!am\b|live\b|work\b|go\b)([a-z]{{4,15}}) (?=(?:with|through|via) )"
    ),
    # "Gym is on Thursdays", "My gym day is Tuesday", "The party was moved to Sunday."
    re.compile(
        rf"{_LEAD}(?:(?i:{_OWN}) {_NOUNS}|((?!(?i:{_OWN}|i|we|you|it|this|that|there|they|he|she"
        rf"|what|who|if|when)\b)[A-Za-z][\w-]{{1,20}}(?: [a-z][\w-]{{1,20}})?)) (?={_IS})"
    ),
)
_CHANGED = re.compile(
    rf"(?i:\b{_ALTERED}\b|\ba (?:brand )?new\b|\bgot (?:moved|pushed|changed|put)\b)"
)
_NO_NOUN = KIN | frozenset(
    "name time thing things people everyone everything all one friend friends new old current main"
    " favourite favorite best own other only first last next".split()
)
"""Those close to somebody have a home, a job and an age: what of them is meant, is not told."""


def _roots(phrase: str) -> Iterator[str]:
    """Yield the roots of a noun's words: what is done in deployments is to deploy."""
    for word in phrase.lower().split():
        root = _ENDING.sub("", word)
        if len(root) > 2 and _NO_NOUN.isdisjoint((word, root)):
            yield root


_ENDING = re.compile(r"(?<=\w{3})(?:ments?|ings?|(?<!s)s)$")

_DAY = (
    r"(?:mon|tues|wednes|thurs|fri|satur|sun)days?|january|february|march|april|june|july|august"
    r"|september|october|november|december|noon|midnight|weekends?|mornings?|evenings?"
)
_TIME = re.compile(
    rf"(?i:\b(?:{_DAY})\b|\b\d{{1,2}}[:.]\d\d\b|\b\d{{1,2}} ?(?:am|pm)\b|\bat \d{{1,2}}\b)"
)
_NUMBER = re.compile(
    r"(?i:\b\d[\d.,]*\b|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty"
    r"|thirty|forty|fifty|hundred|thousand)\b)"
)
_NAME = re.compile(r"\b(?!I\b)[A-Z][\w+#-]*")


def _value_in(told: str) -> tuple[str, frozenset[str]]:
    for sort, pattern in (("time", _TIME), ("number", _NUMBER), ("name", _NAME)):
        if found := pattern.findall(told):
            return sort, frozenset(one.lower().removeprefix("at ") for one in found)
    return "", frozenset()
