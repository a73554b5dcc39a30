"""What people do: likes and refusals, habits, and where they live and work, told by the verb."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from .clauses import SpokenClause, Told, points_back
from .events import EVENT, VERBS
from .lexicon import ATTITUDES, EVERY, FREQUENCY, HABITS, MIND


def told_of_doing(clause: SpokenClause) -> Told | None:
    """Return what a clause with "I" or "we" tells of the speaker."""
    verb, rest = clause.verb, clause.rest
    if clause.subject == "i'd":
        willing = verb in ("prefer", "choose", "love") or "rather" in clause.adverbs
        generic = willing and any(word in rest for word in ("over", "than"))
        return "preference" if generic and not points_back(rest) and verb != "love" else None
    if clause.subject == "i'll" and not clause.adverbs & FREQUENCY and not clause.negated:
        return None
    if clause.subject == "we":
        return _told_of_us(clause)
    if "can" in clause.adverbs and not clause.negated:
        return None
    if verb in _LIKING and rest and rest[0] == "the" and not _A_KIND_OF.search(clause.plain):
        return None
    told = _of_verb(clause)
    if told and verb in VERBS and rest and rest[0] == "the":
        return told  # "I quit the hospital": no other one is meant
    if told and rest and points_back(rest) and not _THAT_CLAUSE.search(clause.plain):
        return None
    return told


_LIKING = frozenset("like love enjoy prefer".split())
_A_KIND_OF = re.compile(
    r"\b(?:like|love|enjoy|prefer) the (?:(?:[\w-]+ ){1,2}of |(?:scent|smell|taste|sound|look|"
    r"feel|"
    r"idea|sea|outdoors|mountains|beach|city|countryside|cold|heat|rain|snow|winter|summer|train|"
    r"bus|"
    r"theat(?:er|re)|cinema|opera|[\w-]+ (?:crate|style|look|trend|genre|library|framework))\b)"
)


def _told_of_us(clause: SpokenClause) -> Told | None:
    verb, rest = clause.verb, clause.rest
    if verb in VERBS:
        happened = EVENT.search(clause.plain) and not (clause.negated or points_back(rest))
        return "fact" if happened else None
    if not rest or points_back(rest) or len(rest) > _MOST_OF_US:
        return None
    if verb in ("live", "own", "keep", "eat", "drink", "raise", "rent", "celebrate"):
        return "fact"
    return "fact" if verb in _OUR_WORK and rest[0] not in ("the", "our", "a", "an") else None


_MOST_OF_US = 9
_OUR_WORK = frozenset("use deploy run host store ship release bill invoice meet".split())
_THAT_CLAUSE = re.compile(r"\bit (?:when|if|hard|difficult|tedious|easier|important|boring)\b")
_CAN_NOT = frozenset(
    "stand bear handle tolerate eat drink digest swim drive cook see hear walk consume use wear"
    " participate go read abide stomach fly smell take have resist live sleep work".split()
)


def _of_verb(clause: SpokenClause) -> Told | None:
    """Return what the first reading makes of the verb that has one for it."""
    for applies, told in _READINGS:
        if applies(clause):
            return told(clause)
    return None


def _cannot(clause: SpokenClause) -> bool:
    spoken = clause.adverbs & {"can't", "cannot", "cant"}
    return bool(spoken) or (clause.negated and "can" in clause.adverbs)


def _will_not(clause: SpokenClause) -> bool:
    spoken = clause.adverbs & {"won't", "wont"}
    return bool(spoken) or (clause.negated and "will" in clause.adverbs)


def _is_repeated(clause: SpokenClause) -> bool:
    often = bool(clause.adverbs & FREQUENCY) and not clause.verb.endswith("ed")
    present = clause.verb not in MIND and clause.verb not in PAST
    seen = clause.verb in ("see", "get") and bool(_EVERY.search(clause.plain))
    # "I usually have my standup at 9."
    seen = seen or (clause.verb == "have" and often and clause.rest[:1] != ["to"])
    return seen or (present and (often or bool(_EVERY.search(clause.plain))))


def _says(pattern: re.Pattern[str], *verbs: str) -> Callable[[SpokenClause], bool]:
    return lambda clause: clause.verb in verbs and bool(pattern.search(clause.plain))


def _if(
    told: Told, holds: Callable[[SpokenClause], object]
) -> Callable[[SpokenClause], Told | None]:
    return lambda clause: told if holds(clause) else None


def _preference(_: SpokenClause) -> Told:
    return "preference"


PAST = frozenset(
    "had went saw did came took was were knew thought met felt said heard been ate".split()
)
_FINDS = re.compile(
    r"\bfind (?!my ?self)(?:it |\w+ing |[\w -]{2,60}? )(?:too |very |so |more |quite |rather |"
    r"really |extremely )?"
    r"(?:\w+(?:ing|ive|able|ible|ful|less|ous|ating)\b|difficult|hard|tedious|easy|easier|awkward|"
    r"ineffective|pointless|childish|unpleasant|uncomfortable|weird|gross|slow|impersonal|too)\b"
)
_FEELS = re.compile(
    r"\b(?:feel|get|become)s? (?:very |really |quite |extremely |so |easily )?"
    r"(?:uncomfortable|unsafe|anxious|nervous|sick|seasick|carsick|nauseous|dizzy|overwhelmed|"
    r"claustrophobic|uneasy|awkward|bored|stressed|restless|irritable|guilty|lost|panicky|hangry|"
    r"distracted|headaches|migraines|motion sickness|sunburnt|sunburned|cold)\b(?! (?:now|"
    r"today)\b)"
)
_STANDING_WISH = re.compile(
    r"\b(?:want|need|require|expect) (?:(?:all|every|any|my|your) .{3,}|to (?:avoid|limit|"
    r"watch) .{3,}|"
    r"to be (?:reminded|addressed|called|told|warned|asked|treated)\b|metric|imperial)"
    r"|\b(?:due to|because of) [^,]{3,60}, (?:i|we) (?:need|require) "
    r"|\b(?:i|we) (?:always|only) (?:want|need) "
    r"|\bdon't want (?:\w+ )?to .{3,} (?:because|any)\b"
)
_TRIES = re.compile(
    r"\btry to (?:\w+ly )?(?:avoid|eat|limit|live|keep|stay|cut|buy|walk|use|read|go|be)\b"
)
_BIOGRAPHY = re.compile(
    r"\b(?:live|work|study|teach|speak) (?:\w+ )?(?:in|at|as|for|with|on|near|by|from|abroad|"
    r"alone|"
    r"nights|remotely|part-time|full-time|shifts|together)\b|\b(?:speak|teach|study) \w+|"
    r"\b(?:run|own|lead|manage|drive) (?:an?|my|our|two|three|the)\b"
)


_NO_TIMES = re.compile(
    r"\bdo (?:(?:early|late) )?(?:mornings|evenings|nights|weekends|\w+days|lunches)\b"
)
"""Times that somebody cannot do."""


def _is_generic(rest: Sequence[str]) -> bool:
    """Say whether an object is a kind of thing, and not one thing that is at hand."""
    return rest[0] not in ("the", "my", "a", "an", "some", "another", "at") or (
        len(rest) > 2 and rest[0] in ("my", "a", "an", "the")
    )


_EVERY = re.compile(EVERY)
_LIVES = frozenset("run work live study teach own speak lead manage drive".split())
_READINGS: tuple[
    tuple[Callable[[SpokenClause], object], Callable[[SpokenClause], Told | None]], ...
] = (
    (
        lambda c: c.verb in ATTITUDES and ("would" not in c.adverbs or c.verb == "prefer"),
        _preference,
    ),
    (
        _cannot,
        _if("preference", lambda c: (c.verb in _CAN_NOT and c.rest) or _NO_TIMES.search(c.plain)),
    ),
    (_will_not, _if("preference", lambda c: c.verb in HABITS | _CAN_NOT | {"stay"} and c.rest)),
    (
        lambda c: c.adverbs & {"could", "would"},
        _if("preference", lambda c: "never" in c.adverbs and c.verb in ("get", "live", "eat")),
    ),
    (_says(_FINDS, "find"), _preference),
    (
        _says(_FEELS, "feel", "get", "become"),
        _if("preference", lambda c: "still" not in c.adverbs),
    ),
    (_says(_STANDING_WISH, "want", "need", "require", "expect"), _preference),
    (_says(_TRIES, "try"), _preference),
    (lambda c: c.verb == "believe" and c.rest[:1] == ["in"], _preference),
    (lambda c: c.verb in VERBS, _if("fact", lambda c: EVENT.search(c.plain))),
    (_is_repeated, _preference),
    (
        lambda c: c.verb in _LIVES,
        _if("fact", lambda c: c.rest and _BIOGRAPHY.search(c.plain)),
    ),
    (
        lambda c: c.verb in HABITS and c.rest,
        _if("preference", lambda c: _is_generic(c.rest) or c.negated),
    ),
)
"""What a verb tells, by the first that applies."""
