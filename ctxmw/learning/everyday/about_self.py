"""What people tell about themselves: who they are, what they like, what they do again and again.

A sentence is read as subject, adverbs, verb and the rest. It counts when the speaker is its
subject, when the verb or the noun tells something that lasts, and when nothing in it points into
the conversation ("the first one", "this bug") or to the moment ("right now").
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from .being import told_of_being, told_of_having
from .clauses import Told, clause_of, words_in
from .doing import PAST, told_of_doing
from .events import EVENT
from .lexicon import EVERY, MIND
from .mine import told_of_effect, told_of_mine


def told_of_self(text: str, plain: str) -> tuple[Told, int, int] | None:
    """Return what kind of thing the speaker tells of themselves, and from where to where.

    `plain` is the sentence in lower case, as long as `text`.
    """
    end = _end_of_statement(plain)
    if _of_the_moment(plain, end) or "\\" in plain or " = " in plain:
        return None
    for start in _clauses(plain, end):
        told = _told(text[start:end], plain[start:end]) or _told_by_when(plain, start, end)
        if told:
            return told, _beginning(plain, start), end
    return None


def statement_span(plain: str) -> tuple[int, int] | None:
    """Return from where to where a sentence states something; None where it is of the moment."""
    end = _end_of_statement(plain)
    if _of_the_moment(plain, end) or "\\" in plain or " = " in plain:
        return None
    lead = _LEAD.match(plain)
    return lead.end() if lead else 0, end


def _told_by_when(plain: str, start: int, end: int) -> Told | None:
    """Return a habit that is told by its time: "on Sundays I call my parents"."""
    if not re.search(EVERY, plain[:start]):
        return None
    clause = re.match(r"(?:i|we) ([a-z]+) \w", plain[start:end])
    habit = clause and clause[1] not in MIND | PAST and not clause[1].endswith("ed")
    return "preference" if habit else None


_GOES_ON = re.compile(
    r"[,;]? (?:and|but|so|because),? (?:i (?:want|need|was|would|wonder|hope|thought|heard|"
    r"had)\b(?! (?:a|an|my) )|"
    r"i'm (?:trying|having|looking|hoping|worried|wondering|considering|not sure|struggling|"
    r"thinking)\b|"
    r"i've (?!been|always|never)|(?:can|could|would) you\b|how\b|what\b).*$"
    r"|[,;] (?:can|could|would) you\b.*$"
    r"|[,;] (?:and |so |but )?(?:suggest|recommend|help me|give me|show me|tell me|plan)\b.*$"
)
_TRAILER = re.compile(
    r"(?:,? so|,| -|[\u2013\u2014])?,? (?:please |just )?(?:remember(?: that| this| it)?|note that|"
    r"by the way|btw|fyi|"
    r"just so you know|if that helps|for what it's worth|keep (?:that|this|it) in mind|"
    r"please|thanks|thank you)[.!]*$"
)


def _end_of_statement(plain: str) -> int:
    """Return where a statement ends, before a question or a request that follows from it."""
    if plain.rstrip().endswith("?"):
        found = re.search(
            r"(?:,|;| -|[\u2013\u2014]) ?(?:so |and |but )?,? ?(?:what|which|how|where|who|why|"
            r"when|can|"
            r"could|would|should|is|are|do|does|any)\b[^,]*\?$",
            plain,
        )
        return found.start() if found else 0
    found = _TRAILER.search(plain) or _GOES_ON.search(plain)
    return found.start() if found else len(plain)


_MOMENT = re.compile(
    r"""\b(?: today|tonight|tomorrow|yesterday|right[ ]now|at[ ]the[ ]moment|for[ ]now|currently
        |this[ ](?:morning|afternoon|evening|time|week|weekend|once)|(?:on|by|next|last)[ ](?:mon
        |tues
        |wednes|thurs|fri|satur|sun)day|at[ ](?:four|five|six|noon|\d)|in[ ]a[ ](?:hurry|minute
        |moment)
        |just[ ](?:had|read|saw|tried|got|did|finished|noticed)|last[ ](?:week|night|month|year)
        |for[ ]this[ ]\w+|in[ ]this[ ](?:case|example|story|scenario|game|chat|conversation|file)
        |so[ ]far|again[ ]and[ ]again|still[ ]don't )\b
      | \byour[ ](?:last|previous|answer|reply|response|suggestion|help|idea|explanation|point
      |code)\b
      | \b(?:this|that|these|those)[ ](?:bug|error|answer|version|idea|code|file|function|book
      |film|movie
        |song|picture|text|app|airline|site|page|chart|plan|option|approach|solution|line|part
        |one)\b
      | \bthe[ ](?:first|second|third|fourth|last|next|other|previous|latter|former|above
      |following)\b
      | \bthe[ ]\w+[ ](?:you[ ]|above|below)
      | \byou[ ](?:mentioned|said|suggested|wrote|sent|gave|showed|asked)\b """,
    re.VERBOSE,
)


def _of_the_moment(plain: str, end: int) -> bool:
    moment = bool(_MOMENT.search(plain, 0, end))
    return moment and not (_LASTS.search(plain, 0, end) or EVENT.search(plain, 0, end))


# "I wake up at five" tells a habit; "my flight is at five" does not.
_LASTS = re.compile(
    rf"{EVERY}|\bmy name\b|\bfrom now on\b|\b(?:usually|always|normally)\b.* at \w"
    r"|\bi (?:wake|get) up at\b|\bi (?:go to bed|start work|finish work) at\b"
    r"|\b(?:my|our) (?:[a-z-]+ )?(?:stand-?ups?|retros?|shift|classes|lessons|school|shop|office|gym"
    r"|practice|rehearsals?|dailys?) (?:is|are|starts?|ends?|begins?|opens?|closes?) at\b"
)

_CLAUSE = re.compile(
    r"(?:(?<=[,;:\u2013\u2014] )|(?<= but )|(?<= so )|(?<= and )|(?<=because )"
    r"|(?<= since )|(?<= - ))(?=(?:i|i'm|i've|i'd|i'll|my|we|we're|we've|our)\b)"
)
_UNDER = re.compile(
    r"(?:due to|as an?|because|since|being|having|when|whenever|if|for|in|on|at|with|given|after|"
    r"before|while|even|although|though|unless|wherever|until|during|personally|honestly|"
    r"generally|"
    r"usually|normally|to me|ever since|thanks to|out of|every|most)\b"
)


_WHEN = re.compile(
    r"(?:on|in|at|every|most|during|since|after|because of|due to) [^,]{2,30}? (?=(?:i|we) )"
)


def _clauses(plain: str, end: int) -> Iterator[int]:
    """Yield where clauses begin that might have the speaker as their subject."""
    lead = _LEAD.match(plain)
    first = lead.end() if lead else 0
    yield first
    if found := _WHEN.match(plain, first):
        yield found.end()
    for found in _CLAUSE.finditer(plain, 0, end):
        yield found.start()


_LEAD = re.compile(
    r"""(?:(?:(?:ok|okay|yes|yeah|yep|no(?=[,.;:!])|nope|hi|hey|hello|well|so|and|but|also|oh|right|sure
        |thanks
        |great|cool|actually|honestly|personally|generally|frankly|basically|please|anyway|fyi|btw
        |in[ ]general|by[ ]the[ ]way|for[ ]what[ ]it's[ ]worth|just[ ]so[ ]you[ ]know
        |for[ ]your[ ]information
        |for[ ]future[ ]reference|for[ ]the[ ]record|to[ ]be[ ]honest|as[ ]you[ ]know
        |like[ ]i[ ]said
        |as[ ]i[ ]said|good[ ](?:morning|evening|afternoon)|one[ ](?:more[ ])?thing|remember|note
        |from[ ]now[ ]on|these[ ]days|nowadays|(?:i[ ])?should[ ]mention|it's[ ]worth[ ]noting
        |you[ ]should[ ]know)\b
        (?:[ ]that\b)?[,:;.!\u2013\u2014-]*[ ]+))+""",
    re.VERBOSE,
)


_LONGEST_LEAD = 90


def _beginning(plain: str, start: int) -> int:
    """Return where the statement begins: with the sentence, where its beginning belongs to it."""
    lead = _LEAD.match(plain)
    first = lead.end() if lead else 0
    before = plain[first:start]
    return first if _UNDER.match(before) and len(before) <= _LONGEST_LEAD else start


def _told(text: str, plain: str) -> Told | None:
    words = words_in(plain)
    if len(words) < 2:
        return None
    first, *others = words
    ours = first.startswith("we")
    alone = first in ("i", "we")
    if first in ("my", "our"):
        return told_of_mine(plain)
    if first in ("i'm", "we're") or (alone and others[0] in ("am", "are")):
        return told_of_being(text, plain, others[alone:], ours=ours)
    if first in ("i've", "we've") or (alone and others[0] == "have"):
        return told_of_having(plain, others[alone:], ours=ours)
    if alone or first in ("i'd", "i'll"):
        return told_of_doing(clause_of(first, others, plain))
    return told_of_effect(plain)
