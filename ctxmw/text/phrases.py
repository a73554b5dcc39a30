"""What search knows of English phrases: how a question asks, and what a line that answers holds."""

from __future__ import annotations

import re

from .lexicon import MONTHS, WEEKDAYS
from .patterns.late import late_pattern

FIRST_PERSON = late_pattern(r"\b(i|my|we|our|me)\b", re.IGNORECASE)
STANDING_INSTRUCTION = late_pattern(
    r"^(please )?(always|never)\b|\bwhen(ever)? i ask\b|\bfrom now on\b"
    r"|\b(remember|make sure) to always\b",
    re.IGNORECASE,
)
PREFERENCE = late_pattern(
    r"\bi('d| would)? (really |much |generally |usually )?prefer\b|\bi('d| would) rather\b"
    r"|\bmy preference\b|\bi (don't|do not|dont) (like|want)\b|\binstead of\b",
    re.IGNORECASE,
)
WISHES = late_pattern(
    r"\b(?:prefer\w{0,6}|rather|want|wish|need|expect|please|always|never|avoid|hate|dislike|instead"
    r"|only|allergic|would like|can't|cannot|don't|do not|not a fan|you)\b|'d like\b",
    re.IGNORECASE,
)
"""Says how something shall be; without, "I love Aspen" only tells of a taste."""
TELLS_WHO = late_pattern(
    r"\b(?:my name is|call me|(?:i'm|i am) (?:from|in|at|married|single|vegan|vegetarian|diabetic)"
    r"|i (?:live|work|study|grew up|was born) (?:in|at|as|for|on|near)|born and raised|years old"
    r"|(?:i'm|i am) an? [a-z]{2,20}(?:er|or|ist|ian|ect|ant|ent|rse|ef)\b(?! fan)"
    r"|my (?:wife|husband|partner|son|daughter|kids?|children|mother|father|birthday|job))\b",
    re.IGNORECASE,
)
"""Tells who somebody is: home, work, family."""
ASKS = late_pattern(
    r"\?|\b(what|which|who|whom|whose|when|where|why|how|show|tell|list|find|explain|describe"
    r"|summari[sz]e|remind|give|add|fix|write|make|change|update|compare|recommend|suggest)\b"
    # Not over line ends: a thousand of them would be read a thousand times.
    r"|(?:\A|[.!,;:\n])[ \t]*+(?:and |so |but |or |ok |please )?"
    r"(did|does|do|is|are|was|were|has|have|can|could|should|would|will"
    r"|book|build|configure|continue|create|deploy|design|draft|generate|help|implement|organi[sz]e"
    r"|plan|prepare|refactor|remove|rename|review|schedule|translate)\b",
    re.IGNORECASE,
)
"""Put as a question or as a request; "can", "plan" and the like only where a sentence begins."""
ABOUT_YOU = late_pattern(
    r"\b(are|do) you\b(?! (know|remember|recall|have|see|find)\b)"
    r"|\b(what|who|how)('s| is| are) your\b",
    re.IGNORECASE,
)
"""Asked of somebody about themselves: not what they said before, should do or look up."""
ASKS_LATEST = late_pattern(
    r"\b(latest|newest|most recent(ly)?|recently|currently|current|at the moment|these days"
    r"|nowadays|up to date|so far|by now)\b",
    re.IGNORECASE,
)
ASKS_BROADLY = late_pattern(
    r"\b(summar|overview|recap)\w*|\border in which\b|\bin (what|which) order\b|\bin order\b"
    r"|\bchronolog|\bacross (our|my|all)\b|\bthroughout our\b|\bover time\b"
    r"|\b(has|have) (progressed|evolved|developed|changed)\b",
    re.IGNORECASE,
)
CALLING = late_pattern(
    r"\b(?:hey|hi|hello|thanks|wow|morning|yes|sorry|congrats|congratulations|yeah|great|ok|okay"
    r"|sure|absolutely|definitely|awesome|cool|well|haha|good|bye|night|care|soon|too|you),? \Z",
    re.IGNORECASE,
)
"""What stands before a name when somebody is called by it: "Hey Kate!"."""

_WEEKDAY = f"(?:{'|'.join(WEEKDAYS)})"
_UNIT = r"(?:days?|weeks?|months?|years?)"
_SPAN = rf"(?:night|week|month|year|weekend|summer|fall|winter|spring|{_WEEKDAY})"
_MONTH = "|".join(month for month in MONTHS if month != "may")

_ASKS_WHEN = r"\bwhen\b|\b(?:what|which) (?:date|day|month|year|time)\b|\bhow long\b"
_TELLS_WHEN = (
    rf"\b(?:yesterday|today|tonight|tomorrow|recently|since|(?:last|next|this) {_SPAN}"
    rf"|this morning|\w+ {_UNIT} ago|for (?:about |over )?\w+ {_UNIT}|in \d{{4}}|{_MONTH}"
    rf"|{_WEEKDAY})\b"
)
_ASKS_NUMBER = r"\bhow (?:many|much|old|often)\b|\bnumber of\b"
NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten dozen twice once couple several few first "
    "second third".split()
)
_TELLS_NUMBER = rf"\d|\b(?:{'|'.join(sorted(NUMBER_WORDS))})\b"
_ASKS_WHERE = r"\bwhere\b|\b(?:country|countries|city|cities|state|places?)\b"
_TELLS_WHERE = r"\b(?:in|at|to|from|near|around|visit(?:ed|ing)?) (?:the )?[A-Z][a-z]+"

ANSWER_SHAPES = {
    "when": (late_pattern(_ASKS_WHEN, re.IGNORECASE), late_pattern(_TELLS_WHEN, re.IGNORECASE)),
    "number": (
        late_pattern(_ASKS_NUMBER, re.IGNORECASE),
        late_pattern(_TELLS_NUMBER, re.IGNORECASE),
    ),
    "where": (late_pattern(_ASKS_WHERE, re.IGNORECASE), late_pattern(_TELLS_WHERE)),
}
"""What is asked for: how a question asks for it, and what a line that can answer holds."""

QUOTED = late_pattern(r'"([^"\n]{2,200})"|\u201c([^\u201d\n]{2,200})\u201d|`([^`\n]{2,200})`')
"""Words that stand in quotes, and want to be found together."""
