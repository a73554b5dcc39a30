"""What is said of the work at hand alone: it is not remembered, and its turn is still found.

Whoever has something done says a great deal in the words of a rule or a wish: "Don't ask again,
just show me the plan!", "Let's keep this momentum going.", "I like the sound of that." Most of what
is said to an assistant is of this kind, so a statement must look like more than that.
"""

from __future__ import annotations

import re

from ...search.kinds import THINGS
from ...text.cleaning import words
from ...text.terms import content_terms
from ..lasting.judging import likelihood_of_lasting
from .wording import Stated

LIKELY = 0.4
"""How likely an order must be to last, where it does not say so itself."""
SURE_OF_ORDER = 0.45
"""The same for one that forbids, or puts right: of those most are about what was just done."""
TOLD_BY_A_CHOICE = 3
"""Words of its own that a choice must have when it names nothing."""


def is_at_hand(kind: Stated, text: str, said: str) -> bool:
    """Say whether a person's statement is about what is being done, and no more.

    `said` is the whole sentence in lower case.
    """
    plain = text.lower().replace("\u2019", "'")
    if kind == "decision":
        # Who writes without capitals names things all the same: "we're moving to celery".
        named = _NAMES.search(text, 1) or not THINGS.isdisjoint(words(plain))
        named = named or len(_telling(plain)) >= TOLD_BY_A_CHOICE
        return not named or bool(_OF_THE_LIST.search(plain) or _POINTS.match(plain))
    if _EMPTY.search(plain) or _MOMENT.match(plain) or _IS_HALF.match(plain):
        return True
    if is_prompted(text) or _COMPLAINS.search(plain) or _DELIVERED.match(plain):
        return True
    if _OF_TALK.search(plain) and not _HOLDS_ON.search(said):
        return True
    if _HOLDS_ON.search(said) or _PUTS_RIGHT.match(said) or _GIVES_A_VALUE.search(text):
        return False
    if _AT_ONCE.search(plain):
        return True
    if _OF_SPEAKER.search(plain) and kind != "correction" and not _MOOD.match(plain):
        return False
    return likelihood_of_lasting(text) < (SURE_OF_ORDER if kind == "correction" else LIKELY)


def urges(said: str) -> bool:
    """Say whether a sentence in lower case does no more than hurry somebody, or ask for a piece."""
    hurries = _URGES.search(said) or _EMPTY.search(said) or _AT_ONCE.search(said)
    return bool(hurries) or asks_for_work(said)


def asks_for_work(said: str) -> bool:
    """Say whether a sentence in lower case is about the talk itself, or what is to be made now."""
    here = _OF_TALK.search(said) or _COMPLAINS.search(said) or _MOMENT.match(said)
    return bool(here or _DELIVERED.match(said))


def is_prompted(text: str) -> bool:
    """Say whether a sentence puts on a role, or was taken over with a prompt of others."""
    return bool(_PROMPTED.search(text))


# "Start them with 'at_'." is a rule for whatever is named next.
_GIVES_A_VALUE = re.compile(r"(?<!\w)['\"`\u2018\u201c][@\w.-]{1,40}['\"`\u2019\u201d](?!\w)")
_URGES = re.compile(
    r"(?:\A|[,;:.!] )(?:just |please )?(?:stop \w{1,20}ing|don't (?:ask|wait|waste|leave|tell)"
    r"|no (?:time|point|worries)"
    r"|no (?:need|more) (?:to|time|waiting|delays?|excuses|questions)\b"
    r"|(?:show|send|give|tell) (?:me|it|them)|get stuck|let's (?:see|go|do|get))\b"
)
_HOLDS_ON = re.compile(
    r"\b(?:always|never|ever|whenever|from (?:now|here|today) on(?:wards?)?|by default"
    r"|(?:going|moving) forward|in (?:the )?future|as a rule|in general|generally|usually|remember"
    r"|henceforth|permanently|unless|instead|rather than|prefer|no longer|any ?more|at all|fyi)\b"
    r"|\b(?:every|each) (?:single )?(?:time|answer|reply|response|message|question|file|function"
    r"|method|class|test|commit|change|step|claim|email|day|week|month|year|morning|evening|night"
    r"|[a-z]{3,6}day)\b"
    r"|\b(?:don't forget|bear in mind|keep in mind|note) that\b|\b(?:call|address) me\b"
    r"|\ball (?:your|my|our|of (?:your|my|our))\b"
    r"|\byour (?:answers|replies|responses|code|functions|methods|classes|variables|modules|files"
    r"|tests|commits|emails|letters|reports|texts)\b|\bget (?:accustomed|used) to\b"
    r"|\b(?:fine|ok|okay|allowed|welcome) (?:again|after all|from now on)\b"
    r"|\byou (?:can|may) (?:now )?(?:stop|start)\b"
    r"|\bwhen (?:you|i|we)(?:'re| are)? (?!done|finished|ready)\w|\bnames\b"
    r"|\buntil (?:further notice|the end of|(?:next )?(?:[a-z]{3,6}day|week|month))\b"
)
_PUTS_RIGHT = re.compile(
    r"\A(?:(?:ok(?:ay)?|hm+|well|sorry|hey|wait),? )?(?:no[,.;:!]|nope\b|wrong\b|incorrect\b"
    r"|actually\b|(?:that|this)(?:'s| is) (?:wrong|incorrect|not)\b"
    r"|i (?:already )?(?:told|asked) you\b)"
)
_OF_SPEAKER = re.compile(r"\b(?:i|i'm|i've|i'd|i'll|my|mine|we|we're|we've|our)\b")
_EMPTY = re.compile(
    r"\Ai (?:really |quite )?(?:like|love) (?:the|this|that) (?:sound|idea|look|feel|direction)\b"
    r"|\Ai (?:\w+ )?(?:like|love|enjoy|hate) (?:where|how|what|the way) (?:this|that|it|you|we)\b"
    r"|\Ai(?:'d| would)? (?:prefer|like|choose|take|pick) (?:option|number|version|variant)\b"
    r"|\bof (?:the (?:two|three|four)|these|those|them)[.!]*\Z"
    r"|\Ai (?:really )?don't care (?:about|how|what|if)\b|\Awe (?:need|have) to\b|\Alet's get\b"
    r"|\Ai(?:'m| am) (?:good|fine|okay|ok|happy) with (?:the|this|that)\b|\Agiven (?:all|the)\b"
    r"|\Ai (?:don't|do not) want to (?:waste|lose|talk|think)\b"
    r"|\Aif you (?:understand|understood)\b|\A(?:no )?(?:time|need) to\b"
    r"|\Awe (?:can't|cannot) (?:keep|lose|afford)\b"
)
# "Let's go with option 2", "We'll start with the WhatsApp setup": the list is in the conversation.
_OF_THE_LIST = re.compile(
    r"\A(?:after [^,]{2,40}, )?(?:let's|i'll|we'll|i will|we will) (?:\w+ ){0,2}"
    r"(?:with|for|to|on) "
    r"(?:option|number|step|version|variant|plan|that|this|your|['\"\u2018\u201c]|\d)"
    r"|\A(?:after [^,]{2,40}, )?let's go with the\b(?!.*\b(?:instead|rather than|for|over)\b)"
    r"|\boption (?:\d|[a-z]\b)|\A(?:let's|we'll) start\b"
    r"|\A(?:let's|we'll) keep (?:it|the focus|things)\b"
    r"|\Ai(?:'ll| will) (?!always|never|go with|use|switch)|\bnext \d+ (?:hours|days|minutes)\b"
)
_FEELING = (
    r"hungry|thirsty|tired|exhausted|sleepy|bored|ready|always ready|busy|late|running late|done"
    r"|back|here|glad|curious|excited|confused|annoyed|frustrated|impressed|sorry|happy|sad|good"
    r"|fine|okay|ok|free|stuck|lost|focused(?: on \w+)?|all ears|all in|all set"
)
# What somebody feels or does while they write.
_MOMENT = re.compile(
    rf"i(?:'m| am) (?:\w{{1,20}}ly |so |very |just |really |still |always )?(?:{_FEELING})"
    r"(?: (?:now|again|with (?:this|that)))?[.!]*\Z"
    r"|i(?:'m| am) (?:\w{1,20}ly |just |still )?(?:sitting|standing|waiting|staring|walking to"
    r"|heading|driving to|lying|calling|typing|about to|on my way|looking at|checking)\b"
    r"|i(?:'ve| have) been (?:staring|looking|sitting|waiting|trying|at it)\b"
    r"|i(?:'m| am) (?:writing|preparing|drafting|working on) an? (?:[\w-]+ )?(?:essay|letter|mail"
    r"|e-?mail|report|post|text|message|reply|presentation|summary|slide)\b"
    r"|i keep (?:getting|seeing|hitting|running into)\b|i just (?:gave|told|sent|showed)\b"
    r"|we've got an? \w+ \w+ now\b"
    r"|(?:my|our) [\w -]{2,30} (?:is|are) (?:still \w{2,20}ing|being \w)"
    r"|i was born in (?!\d{4})\w+ (?:years?|months?|days?)\b"
)
# "If you can't trust me": nothing follows.
_IS_HALF = re.compile(r"(?:if|because|although|though|unless|while|whereas)\b[^,]*\Z")
# A role that is put on by a prompt: "I'm a SaaS UX MANAGER".
_PROMPTED = re.compile(r"\bI(?:'m| am) an? (?:[\w/&-]+ ){0,4}[A-Z]{5,}\b|Share Prompt")
# What is said of the talk itself: "Stop asking", "Don't confirm, analyze."
_OF_TALK = re.compile(
    r"\A(?:just |please |so )?(?:don't|do not|stop|quit) (?:just |even )?"
    r"(?:ask(?:ing)? (?:if|me if|again|and|'|\")|ask(?:ing)?[.!,]|paus|wait|confirm"
    r"|tell(?:ing)? me you|promis|stall|repeat(?:ing)? yourself"
    r"|wast|rush|worry|hesitat|stop\b|send a separate)"
    r"|\A(?:just )?be my \w+|\Amention (?:that|the|how|in)\b"
    r"|\Amy (?:instruction|point|question|request)\b"
    r"|\A(?:my|our) [\w -]{2,30} (?:is|are) "
    r"(?:everything|key\b|the key|a hustle|a mess|a joke|crucial)"
    r"|\A\W?\w+\W? isn't an? \w+ i\b|, not (?:just|another|only|merely)\b"
)
# What was said, promised or sent here.
_COMPLAINS = re.compile(
    r"\b(?:you|you've|you're) \W?(?:promised|keep|kept|said|told|forgot|bringing|mentioned)\b"
    r"|\Ai (?:\w+ )?(?:thought we|don't recall|can't (?:access|open|find|log in|reach))\b"
    r"|\A(?:i've|i have|we've) (?:just )?(?:sent|uploaded|attached|pasted|shared)\b|\Ai'll be an?\b"
    r"|\Awe can \w+ (?:it|this|that)\b|\A[\"\u201c]|\Ai decline\W*\Z|\.\.\.\Z"
    r"|\bi have an? (?:[\w-]+ )?(?:fever|cold|cough|headache|flu|hangover)\b|\bfind my ?self in\b"
)
# "I chose it because ...": what, only the conversation tells.
_POINTS = re.compile(
    r"(?:i|we)(?:'ve| have)? (?:chose|picked|decided on|chosen) (?:it|that|this)\b"
)
# "Write at least 8 sub questions": a piece of work, with its size.
_DELIVERED = re.compile(
    r"(?:please |also |and |now )*"
    r"(?:give|write|list|show|make|create|generate|provide|suggest|add|find|name) "
    r"(?:me |us )?(?:at least |about |around |up to |the |another |some )*"
    r"(?:(?:top )?\d+|two|three|five|ten|ideas|examples on both|more)\b"
    r"(?!.*\b(?:always|every|whenever|any time)\b)"
    r"(?! (?:words|sentences|decimals|digits|spaces)\b)"
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
