"""What of a message is not meant: a text to work on, a part to play, a case that is supposed.

"Write a letter: I live in Rome." tells nothing about the one who asks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from ...text.prose import LOOKED_AT, Sentence

_POLITE = (
    r"(?:(?:please|can you|could you|would you|will you|help me|hi|hey|hello|ok|okay|now|and|then|"
    r"also)[,!]? )*"
)
_TEXT = (
    r"letters?|e-?mails?|mails?|poems?|stor(?:y|ies)|essays?|speech(?:es)?|bio(?:graphy)?|"
    r"profiles?|"
    r"dialogues?|monologues?|paragraphs?|sentences?|texts?|songs?|lyrics|diary|complaints?|"
    r"reviews?|"
    r"messages?|repl(?:y|ies)|posts?|tweets?|notes|novels?|personas?|testimonials?|quotes?|"
    r"phrases?|"
    r"scripts?|scenes?|characters?|limericks?|haikus?|jokes?|captions?|slogans?|statements?|"
    r"examples?|"
    r"variants?|toasts?|apolog(?:y|ies)|applications?|person|words|synonyms|line|verb|names|"
    r"grammar|"
    r"spelling|sentiment|tests?|function|regex"
)
# Somebody asks for a text, or for something to be done with one.
_ABOUT_A_TEXT = re.compile(
    rf"{_POLITE}(?:(?:write|draft|compose|make up|create|generate|give me|list|turn|put|polish|"
    rf"grade|"
    rf"shorten|improve|edit|extract|find|count|classify|make|correct|fix|reply to|answer|rate|"
    rf"check|"
    rf"review|analy[sz]e|finish|complete|here(?:'s| is| are)|this is|look at)\b"
    rf"(?: me| us| up)?(?: (?:an?|the|this|these|that|my|our|his|her|some|another|more|two|three|"
    rf"four|five|"
    rf"ten|\d+)\b[^.:\n]{{0,80}}?\b(?:{_TEXT})| (?:\w+ )?(?:lyrics|synonyms|quotes|jokes|"
    rf"slogans))\b|(?:translate|proofread|paraphrase|rewrite|rephrase|reword|summari[sz]e|"
    rf"classify|"
    r"explain the (?:phrase|sentence|word|expression)|what does|what's the difference|"
    r"how do (?:you|i) say|"
    r"which of these|is the sentence|is it|how would)\b)"
)
_TEXT_FOLLOWS = re.compile(r":|\b(?:following|this|these|below|here)\b")
_PLAYS = re.compile(
    rf"{_POLITE}(?:act (?:as|like)|role-?play|pretend|imagine|suppose|"
    r"assum(?:e|ing)(?! (?:that )?(?:i|we)\b.* unless\b)|picture this|"
    r"hypothetically|let(?:'s| us) (?:play|pretend|say|assume|imagine|suppose|do improv)|say i\b|"
    r"let me play|for the sake of|tell me a story|"
    r"you(?:'re| are) (?:a|an|my|the|interviewing|[a-z]{2,20}, (?:a|an|my|the))\b|"
    r"in (?:this|the|my) (?:story|game|novel|scene|dream|scenario|play)|in a world|think of a|"
    r"for (?:the|our|this) (?:role-? ?play|game|scene|story)|"
    r"continue (?:the|this|my) (?:story|scene|text|dialogue)|"
    r"in character\b|you(?:'ll| will) (?:play|act)|i(?:'ll| will) play|playing devil|"
    r"if i (?:were|was|had)\b|had i\b|as if\b)"
)
# What people are in play, or in jest.
_IN_PLAY = re.compile(
    r"\A(?:(?:so|ok|okay|now|hi|hello|well)[,!]? )?(?:i'm|i am) (?:(?:a|an|the) )?(?:[a-z]{1,20} )?"
    r"(?:king|queen|emperor|empress|pope|pharaoh|prince|princess|knight|wizard|witch|dragon|vampire"
    r"|pirate|robot|alien|ghost|god|goddess|superhero|batman|superman|spiderman|dinosaur|unicorn"
    r"|zombie|demon|mermaid|genie|elf|orc|goblin|ninja|cowboy|sheriff|villain|time traveller"
    r"|time traveler|dracula|santa|napoleon|hamlet|potato|genius|idiot)\b"
)
_LETTER = re.compile(
    r"""^[ \t]*(?: subject[ ]?: | re[ ]?: | dear[ ][^\n]{1,40}[,:!]?[ \t]*$
        | (?:hi|hello|hey)[ ][A-Z][^\n.!?]{0,30},?[ \t]*$
        | (?:kind[ ]regards|best[ ]regards|best|regards|sincerely|cheers|yours|thanks
        |love)[ \w]{0,20},[ \t]*$
        | -[ ][A-Z][a-z]+$ )""",
    re.VERBOSE | re.MULTILINE | re.IGNORECASE,
)
_SPEAKERS = re.compile(r"^[ \t]*(?P<who>[A-Za-z][\w ]{0,18}):[ \t]+\S", re.MULTILINE)
_TOOL_TALK = re.compile(r"\b(?:Thought|Action|Observation|Final Answer):", re.IGNORECASE)
_LOG = re.compile(
    r"^[ \t]*(?:\[\w+\]|(?:warning|error|fatal|info|debug|notice)\s*[:\]]|HTTP/\d"
    r"|(?:build|tests?|merge|lint|compilation) failed\b)",
    re.IGNORECASE,
)
# It says that a rule changes, and the sentence after it what to.
_ANNOUNCES = re.compile(
    r"\A(?:(?:so|now|also|first|next|finally|please|let's)[, ]+)*"
    r"(?:(?:i|we)(?:'d| would)? (?:also )?(?:want|need|like) (?:you )?to |you should )?"
    r"(?:update|change|revise|adjust|modify) (?:your|our|the|my) [\w' ,-]{0,60}"
    r"(?:conventions?|rules?|guidelines?|style|naming|standards?|practices?)[.!:]*\Z"
)
# Of what, the sentence before may tell.
_A_FAN = re.compile(r"\A(?:i'm|i am) an? (?:[a-z]{1,20} )?fan(?: too| as well)?[.!]*\Z")
# "Reddit user: I always tip": somebody else says it.
_LABELLED = re.compile(
    r"\A[a-z][\w' ]{0,30}\b(?:user|customer|client|guest|patient|reviewer|commenter|poster"
    r"|character|narrator|interviewer|candidate|applicant|caller|tenant|employee|visitor|speaker|review"
    r"|comment)(?: \w{1,3}| wrote| asks)?: (?=\W?(?:i|we|my|our)\b)"
)
_SARCASM = re.compile(r"/s\s*\Z")


def meant_sentences(text: str, said: Sequence[Sentence]) -> list[Sentence]:
    """Return the sentences that are meant by whoever wrote the message."""
    text = text[:LOOKED_AT]
    if (
        _LETTER.search(text)
        or _TOOL_TALK.search(text)
        or _LOG.match(text)
        or _SARCASM.search(text)
        or _is_talk(text)
    ):
        return []
    return list(_before_the_text(said))


def _is_talk(text: str) -> bool:
    """Say whether the message holds a conversation of others: lines that begin with a name."""
    names = [found["who"].lower() for found in _SPEAKERS.finditer(text)]
    return len(names) >= 3 and len(set(names)) < len(names)


def _before_the_text(said: Sequence[Sentence]) -> Iterator[Sentence]:
    for one in said:
        if _PLAYS.match(one.plain) or _IN_PLAY.match(one.plain):
            return
        if _ANNOUNCES.match(one.plain) or _A_FAN.match(one.plain):
            continue
        if _LABELLED.match(one.plain):
            return
        if _ABOUT_A_TEXT.match(one.plain):
            if _TEXT_FOLLOWS.search(one.plain):
                return
            continue
        yield one
