"""What is said of the work at hand alone: it is not remembered, and its turn is still found.

Whoever has something done says a great deal in the words of a rule or a wish: "Don't ask again,
just show me the plan!", "Let's keep this momentum going.", "I like the sound of that." Most of what
is said to an assistant is of this kind, so a statement must look like more than that.
"""

from __future__ import annotations

import re

from ...text.terms import content_terms
from ..lasting.judging import likelihood_of_lasting
from .wording import Stated

LIKELY = 0.4
"""How likely an order must be to last, where it does not say so itself."""
TOLD_BY_A_CHOICE = 3
"""Words of its own that a choice must have when it names nothing."""


def is_at_hand(kind: Stated, text: str, said: str) -> bool:
    """Say whether a person's statement is about what is being done, and no more.

    `said` is the whole sentence in lower case.
    """
    plain = text.lower().replace("\u2019", "'")
    if kind == "decision":
        return not (_NAMES.search(text, 1) or len(_telling(plain)) >= TOLD_BY_A_CHOICE)
    if _EMPTY.match(plain):
        return True
    if _HOLDS_ON.search(said) or _PUTS_RIGHT.match(said) or _GIVES_A_VALUE.search(text):
        return False
    if _AT_ONCE.search(plain):
        return True
    if _OF_SPEAKER.search(plain) and kind != "correction" and not _MOOD.match(plain):
        return False
    return likelihood_of_lasting(text) < LIKELY


def urges(said: str) -> bool:
    """Say whether a sentence in lower case does no more than hurry somebody."""
    return bool(_URGES.search(said) or _EMPTY.match(said) or _AT_ONCE.search(said))


# "Start them with 'at_'." is a rule for whatever is named next.
_GIVES_A_VALUE = re.compile(r"(?<!\w)['\"`\u2018\u201c][@\w.-]{1,40}['\"`\u2019\u201d](?!\w)")
_URGES = re.compile(
    r"(?:\A|[,;:.!] )(?:just |please )?(?:stop \w{1,20}ing|don't (?:ask|wait|waste|leave|tell)"
    r"|no (?:time|point|worries)|no (?:need|more) (?:to|time|waiting|delays?|excuses|questions)\b|(?:show|send|give|tell) (?:me|it|them)|get stuck)\b"
)
_HOLDS_ON = re.compile(
    r"\b(?:always|never|ever|every|each|whenever|from (?:now|here|today) on(?:wards?)?|by default"
    r"|(?:going|moving) forward|in (?:the )?future|as a rule|in general|generally|usually|remember"
    r"|henceforth|permanently|unless|instead|rather than|prefer|no longer|any ?more|at all|fyi)\b"
    r"|\b(?:don't forget|bear in mind|keep in mind|note) that\b|\b(?:call|address) me\b"
    r"|\ball (?:your|my|our|of (?:your|my|our))\b"
    r"|\byour (?:answers|replies|responses|code|functions|methods|classes|variables|modules|files"
    r"|tests|commits|emails|letters|reports|texts)\b|\bget (?:accustomed|used) to\b"
    r"|\b(?:fine|ok|okay|allowed|welcome) (?:again|after all|from now on)\b"
    r"|\bwhen (?:you|i|we)(?:'re| are)? (?!done|finished|ready)\w|\bnames\b"
)
_PUTS_RIGHT = re.compile(
    r"\A(?:(?:ok(?:ay)?|hm+|well|sorry|hey|wait),? )?(?:no[,.;:!]|nope\b|wrong\b|incorrect\b"
    r"|actually\b|(?:that|this)(?:'s| is) (?:wrong|incorrect|not)\b"
    r"|i (?:already )?(?:told|asked) you\b)"
)
_OF_SPEAKER = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our)\b")
_EMPTY = re.compile(
    r"\Ai (?:really |quite )?(?:like|love) (?:the|this|that) (?:sound|idea|look|feel|direction)\b"
    r"|\Ai (?:really )?don't care (?:about|how|what|if)\b|\Awe (?:need|have) to\b|\Alet's get\b"
    r"|\Ai(?:'m| am) (?:good|fine|okay|ok|happy) with (?:the|this|that)\b|\Agiven (?:all|the)\b"
    r"|\Ai (?:don't|do not) want to (?:waste|lose|talk|think)\b"
    r"|\Aif you (?:understand|understood)\b|\A(?:no )?(?:time|need) to\b"
    r"|\Awe (?:can't|cannot) (?:keep|lose|afford)\b"
)
_AT_ONCE = re.compile(r"\b(?:immediately|right away|at once|asap)\b")
# How somebody feels, wants and tries lasts where it looks like more than this hour's.
_MOOD = re.compile(
    r"\A(?:and |but |so |because of that, )?i(?:'m| am)? "
    r"(?:(?!only )\w{1,20}ly |just |still |so |not |sometimes ){0,3}"
    r"(?:feel|felt|worry|struggle|keep \w{1,20}ing|hate|want|need|don't want"
    r"|(?:can't|cannot)(?! (?:stand|bear|tolerate|eat|drink|wear|digest)\b)"
    r"|don't have|chose it|got|find myself|afraid|scared|worried|nervous|sceptical|skeptical"
    r"|stuck|lost|sure)\b"
)
_NAMES = re.compile(
    r"[A-Z\d`\"\u201c\u2018$\u20ac\u00a3\u00a5_]|(?<=\s)'|\b(?:instead of|rather than|over)\b"
)
"""What gives a choice a name: a capital, a figure, a quote; or what it was preferred to."""
_VAGUE = frozenset(
    content_terms(
        "let's go with going keep stick use set put choose chose pick decided agreed settle"
        " momentum velocity pace speed energy focus scope flow flowing plan work task data current"
        " immediate"
        " tight high simple sharp moving rolling thing things best same way option approach idea"
        " discussed first next step part one it time now then before after start started"
    )
)


def _telling(plain: str) -> set[str]:
    return set(content_terms(plain)) - _VAGUE
