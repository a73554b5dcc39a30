"""Text that a message speaks about: "is this rude?", and then somebody's words, without a mark.

What stands beside a request about a text is the text. Such a request is a short paragraph at the
beginning or the end that names what is done with texts, points at something which is not in it,
tells whose words come, or judges what it does not name. Nothing is said about the form of what it
points at: that may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

from ..patterns.late import late_pattern

GONE = "\0"
"""Stands for a character that is not the speaker's, while a message is looked at."""
LONGEST = 240
"""Characters of a paragraph that only asks."""
FEW_WORDS = 12
"""Words of a question that names nothing of its own."""


class _Paragraph(NamedTuple):
    start: int
    end: int
    text: str


def first_referred(lines: Sequence[str]) -> int | None:
    """Return at which line the text begins that a message speaks about."""
    said = _paragraphs(lines)
    # What is enclosed has come, and the speaker goes on behind it.
    if not said or any(GONE in one.text or one.text.startswith(">") for one in said[:2]):
        return None
    if (begun := _below_its_first_line(lines, said[0])) is not None:
        return begun
    if len(said) == 1:
        return None
    first, last = said[0], said[-1]
    if not _is_own(first.text, said[1].text) and (
        _asks_about_a_text(first.text)
        or (_are_several(said[1:]) and _is_about_what_follows(first.text))
    ):
        return said[1].start
    return first.start if _looks_back(last.text, said[:-1]) else None


def _paragraphs(lines: Sequence[str]) -> list[_Paragraph]:
    found: list[_Paragraph] = []
    start: int | None = None
    for at, line in enumerate([*lines, ""]):
        if line.strip():
            start = at if start is None else start
        elif start is not None:
            found.append(_Paragraph(start, at, " ".join(lines[start:at]).strip()))
            start = None
    return found


# -- what is done with texts ------------------------------------------------------------------

_WORDS_FOR_TEXTS = (
    r"e-?mails?|mails?|letters?|messages?|texts?|sms|articles?|posts?|paragraphs?|essays?|passages?|excerpts?"
    r"|transcripts?|notes?|poems?|haikus?|songs?|lyrics|threads?|chats?|speech|speeches|abstracts?|quotes?|clauses?"
    r"|contracts?|adverts?|ads?|profiles?|bios?|prompts?|recipes?|manuals?|screenshots?|captions?|tweets?|blurbs?"
    r"|complaints?|invitations?|invites?|voicemails?|drafts?|sentences?|dialogues?|scenes?|newsletters?|memos?"
    r"|announcements?|monologues?|testimonials?|reminders?"
)
_TEXT = (
    rf"(?:{_WORDS_FOR_TEXTS}|documents?|pages?|minutes|stor(?:y|ies)|reviews?|comments?|tickets?|reports?|sections?"
    r"|chapters?|polic(?:y|ies)|offers?|listing|answers?|repl(?:y|ies)|responses?|instructions|rules|signs?"
    r"|descriptions?|statements?|customers?|homework|feedback|scripts?|warnings?|headlines?|chunk|wording)"
)
_OPERATION = (
    r"(?:translat(?:e|ion)|summari[sz]e|summary|sum up|proof-?read|re-?phrase|paraphrase|re-?write|re-?word|tl;?dr"
    r"|eli5|gist|key (?:points|takeaways)|bullet points|grammar|spelling|typos?|phrasing|tone|sentiment|rhyme"
    r"|fact-?check|grade|to metric|condense|shorten|headline|transcribe|analy[sz]e the|positive or negative"
    r"|übersetz\w*|zusammenfass\w*|korrigier\w*|umformulier\w*|traduis\w*|tradui[rst]e?z?|corrige[rz]?|résume[rz]?"
    r"|reformule[rz]?|traduc\w+|traducir|resume|resumir|corregir)"
)
_OPERATES = late_pattern(
    rf"\b{_OPERATION}(?![\w'])|翻译|总结|概括|改写|润色|翻訳|要約|添削|校正", re.IGNORECASE
)
_OWN_OBJECT = late_pattern(
    rf"\b(?:my|our|meine?n?|mon|ma|mes|mi|mis)\b(?! (?:[\w'-]{{1,20}} ){{0,2}}{_TEXT}\b)|['\"\u2018\u201c`][^'\"`]{{1,60}}['\"\u2019\u201d`]"
    r"|\b(?:write|draft|compose) (?:me )?an?\b(?! (?:\w{1,20} )?(?:headline|summary|title|caption|translation|reply|answer))",
    re.IGNORECASE,
)
"""An operation on something that is there: "my week", "'hello'"."""
# "This" by itself, or before a word for a text; "this bug" and "this week" are things of one's own.
_POINTING = late_pattern(
    rf"""\b(?:(?:this|these|that|those)(?=\s*(?:[?.!,:;)]|$)|\s+(?:{_TEXT}|is|are|was|were|mean|means|say|says
        |sound|sounds|look|looks|seem|seems|make|makes|read|reads|true|real|right|rude|ok|okay|legit|legal|fair
        |normal|good|any|vegan|shorter|better|correct|to|into|in|for|from|as|down|up|out|or|and|please|about
        |so|too|he|she|they|one)\b)
      | the[ ](?:best[ ]|whole[ ]|first[ ]|last[ ])?(?:following|above|{_WORDS_FOR_TEXTS})\b | {_TEXT}[ ](?:below|above|here)\b | below\b
      | here(?:'s|[ ](?:is|are))\b | (?:each|every)[ ](?:line|sentence|row|entry)\b)""",
    re.VERBOSE | re.IGNORECASE,
)
_REQUEST = late_pattern(
    r"""\?\s*$ | \?\s | ^\W*(?:please[ ])?(?:(?:can|could|would|will)[ ]you[ ](?:please[ ])?)?
        (?:reply|respond|answer|review|explain|clean|improve|edit|check|rate|cluster|classify|sort|group|extract
          |pull|find|list|count|fix|cut|compare|critique|analy[sz]e|interpret|decode|read|tell|turn|make|convert
          |look|see|give|label|mark|annotate|rank|thoughts)\b
      | ^\W*(?:what|what's|who|who's|is|are|does|did|how|why|which|where)\b
      | \b(?:don't|do[ ]not|can't|cannot)[ ](?:get|understand|know|see|follow)\b | \b(?:have|need|want)[ ]to[ ]cut\b
      | \b(?:can|could)[ ](?:someone|anyone|somebody)\b | \.[ ](?:give|tell|make|find|write|list)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WRITES_BACK = late_pattern(
    r"\b(?:write|say|answer|reply|respond|text)\b[^.!?]{0,30}\b(?:back|to (?:him|her|them|that|this))\b"
    r"|\bhow (?:do|should|would|can) (?:i|we|you) (?:answer|reply|respond|read|understand|take)\b",
    re.IGNORECASE,
)
_SENT = (
    r"(?:sent|wrote|writes|texted|e-?mailed|messaged|posted|left|gave|says?|said|replied|answered|shared|wants"
    r"|forwarded|published|tweeted|commented|put|reads|states|goes|means|meant|expects)"
)
_ANOTHERS = late_pattern(
    rf"""(?<![\w'])(?:my|our|the|his|her|their|an?|some|this|these)[ ](?:[\w'-]{{1,30}}[ ]){{0,4}}?(?:just[ ]|also[ ])?{_SENT}\b
      | (?<![\w'])(?!I[ ]|We[ ])[A-Za-z][\w.-]{{1,30}}[ ](?:just[ ]|also[ ])?{_SENT}(?:[ ](?:me|us|this|that|in|on|back)\b|:)
      | \b(?:i|we)(?:'ve|[ ]have)?[ ](?:just[ ])?(?:got|received|found|saw|read|copied|came[ ]across)\b
        (?:,|[ ](?:this|that|these|an?|the|it|from|on|in)\b)
      | \bthere(?:'s|[ ]is|[ ]was|[ ]are)[ ](?:an?|this|some)[ ](?:\w{{1,20}}[ ])?{_TEXT}\b
      | \b\w{{2,20}}['\u2019]s[ ](?:\w{{1,20}}[ ]){{0,2}}{_TEXT}\b | \b{_TEXT}[ ](?:from|by)[ ]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ELSEWHERE = late_pattern(
    r"\bwas (?:heißt|bedeutet|meinst|sagst|will|wollen|soll)\b[^.!?]{0,30}\b(?:das|dazu|davon|hier|der|die|er|sie)\b"
    r"|\b(?:ce|cet|cette|diese[nrsm]?|este|esta|esto)\b[^.!?:]{0,40}:$"
    r"|\b(?:antworte|schreibe) ich\b|\bque veut dire\b|\bque répondre\b|\bqu[eé] significa\b|\bqué (?:le )?(?:contesto|respondo)\b",
    re.IGNORECASE,
)


def _asks_about_a_text(text: str) -> bool:
    """Say whether a paragraph asks for something to be done with a text that is not in it."""
    if len(text) > LONGEST:
        return False
    if _WRITES_BACK.search(text) or _ELSEWHERE.search(text):
        return True
    if _OPERATES.search(text) and not _OWN_OBJECT.search(text):
        return True
    asks = bool(_REQUEST.search(text)) or text.endswith((":", "\uff1a"))
    pointing = bool(_POINTING.search(text))
    if (asks and pointing) or _IS_A_TITLE.fullmatch(text):
        return True
    return bool(_ANOTHERS.search(text)) and (asks or pointing)


_IS_A_TITLE = late_pattern(
    rf"(?:my|the|an?|this|some|his|her|their) (?:[\w'-]{{1,20}} ){{0,4}}(?:{_WORDS_FOR_TEXTS})"
    rf"|(?:[\w'-]{{1,20}} ){{0,3}}{_TEXT}, .{{1,200}}",
    re.IGNORECASE,
)
_OF_THE_SPEAKER = late_pattern(
    r"""\b(?: about[ ](?:me|myself|us|my|our) | (?:is|are|of)[ ](?:my|our) | introduce[ ]myself
        | my[ ](?:rules|preferences|wishes|setup|details|profile|situation|facts|requirements|answers)
        | remember | keep[ ]in[ ]mind | note[ ]that | you[ ]should[ ]know | for[ ]you[ ]to[ ]know | from[ ]now[ ]on
        | here(?:'s|[ ]is|[ ]are)[ ](?:my|our|your|some|how) | (?:how|what)[ ](?:i|we)[ ] | you[ ](?:need|asked|wanted) )\b
      | \b(?:merk|erinner|souviens|recuerda|记住|覚えて)""",
    re.VERBOSE | re.IGNORECASE,
)
_WISH = late_pattern(
    r"(?:so |well |basically |for context,? )?(?:i|we)(?:'d| would|'m| am|'re| are)? ?(?:want|need|like to|hope|plan|wish"
    r"|looking|planning|trying|hoping|thinking|have a question)\b",
    re.IGNORECASE,
)


def _is_own(request: str, text: str) -> bool:
    """Say whether what follows is the speaker's: announced as that, or a wish to whoever is asked."""
    return bool(_OF_THE_SPEAKER.search(request) or _WISH.match(text))


# -- what is not named ------------------------------------------------------------------------

_SELF = late_pattern(
    r"\b(?:i|me|my|mine|myself|i'm|i've|i'd|are you|can you|could you|will you)\b", re.IGNORECASE
)
_NAMES_SOMETHING = late_pattern(
    r"\b(?:an?|any (?:news|ideas?|tips?|advice|suggestions?|recommendations?|chance|plans?|good)|some|good|best|how to|how do|how can|why|where|when|which|recommend\w*|suggest\w*|ideas?"
    r"|help|plan|tips?|advice|thanks?|hi|hello|hey|remember|it going|(?:this|these) (?!be |been |get |is |are )\w+)\b",
    re.IGNORECASE,
)
_ASKED = late_pattern(r"\?\s*$|^\W*(?:what|who|is|are|does|did|would)\b", re.IGNORECASE)
_STATES = late_pattern(r"[.!?\u3002\uff01\uff1f]+|\n")
_PERSON = late_pattern(r"\b(?:he|she|him|her|they)\b", re.IGNORECASE)
_SOMEBODY = late_pattern(
    r"\b(?:my|our|the|a|an|his|her) (?:\w{1,20} )?(?:wife|husband|partner|boss|friend|mother|father|mom|mum|dad|son"
    r"|daughter|brother|sister|kids?|children|parents|colleagues?|manager|team|doctor|teacher|dog|cat|baby|neighbou?rs?"
    r"|people|users?|customers?|girlfriend|boyfriend|landlord|roommate|aunt|uncle|cousin)\b|\b(?:he|she|they)\b",
    re.IGNORECASE,
)


def _are_several(rest: Sequence[_Paragraph]) -> bool:
    """Say whether more than one thing is said: one may well be added to a question."""
    lines = sum(one.end - one.start for one in rest)
    return lines > 1 or sum(len(_STATES.findall(one.text)) for one in rest) > 1


def _is_about_what_follows(text: str) -> bool:
    """Say whether a paragraph has nobody in it who could go on to tell of themselves.

    "Would you apply?" and "she texted back lol" are followed by what they are about. Whoever greets,
    asks for themselves, or wants something that they name has begun to speak.
    """
    if len(text) > LONGEST or not text.isascii() or _PRINTED.match(text):
        return False
    if len(text.split()) <= FEW_WORDS and _ASKED.search(text) and not _SELF.search(text):
        return bool(_PERSON.search(text)) or not _NAMES_SOMETHING.search(text)
    begun = _SPEAKS.search(text) or _NAMES_SOMETHING.search(text)
    announced = text.endswith(":") and not _SPEAKS.search(_STATES.split(text)[-1].strip())
    return announced or not begun


_SPEAKS = late_pattern(
    r"""\b(?: i|me|my|mine|myself|i'm|i've|i'd|i'll|we|us|our|you|your|let's|hi|hello|hey|dear|please|thanks|thank
        |ok|okay|yes|no|yeah|sure|great|good|perfect|nice|well|so|anyway|actually|again|still|sorry|also|by[ ]the[ ]way
        |fyi|ps|btw|note|remember|important|important:|first|one[ ]more|another|(?:two|three|some|few)[ ](?:more[ ])?(?:things?|points|facts|rules)|facts?|preferences?|decisions?|plan
        |update|situation|background|context|deal|stay|ich|mir|mein\w*|wir|uns|bitte|je|moi|mon|ma|mes|nous|yo|mi|mis
        |hola|hallo|bonjour|gracias|danke|merci )\b
      | ^(?:that|this|it)(?:'s)?[ ](?:is|was|did|does|has|works?|worked|fails?|failed|helps?|helped|didn't|doesn't|isn't|wasn't)\b
      | ^[\W\d] | ^[\w ]{1,20}:[ ]""",
    re.VERBOSE | re.IGNORECASE,
)
_PRINTED = late_pattern(r"Traceback|\w{0,40}(?:Error|Exception)\b|[{\[<$]|\d{4}-\d\d")


_BACK = late_pattern(
    rf"""\bwho[ ](?:wrote|said|writes|says|posted)\b | \bwhat[ ](?:does|do|did)[ ](?:it|this|that|he|she|they)[ ](?:mean|say|want)
      | ^\W{{0,3}}\^ | \b(?:this|that|it)[ ]is[ ]the[ ]{_TEXT}\b | \b(?:the|this|that|which|each|every)[ ]{_TEXT}\b
      | \b(?:text|mail|message|words|lines)[ ]above\b
      | \bis[ ](?:this|that|it)[ ](?:an?[ ])?(?:rude|scam|spam|fake|real|legit|legal|phishing|true|satire|ai)\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _looks_back(text: str, before: Sequence[_Paragraph]) -> bool:
    """Say whether the last paragraph asks about what stands before it, as somebody else's text."""
    if len(text) > LONGEST or _OF_THE_SPEAKER.search(text):
        return False
    if _BACK.search(text) and _REQUEST.search(text):
        return True
    if _OPERATES.search(text) and not _OWN_OBJECT.search(text) and len(text.split()) <= FEW_WORDS:
        return True
    # Somebody whom nobody has named is who wrote it.
    named = any(_SOMEBODY.search(one.text) for one in before) or _SOMEBODY.search(
        _PERSON.sub("", text)
    )
    return bool(_PERSON.search(text) and _ASKED.search(text)) and not named


_VERB = (
    r"(?:translate|summari[sz]e|sum up|proof-?read|re-?phrase|paraphrase|re-?write|re-?word|shorten|condense"
    r"|(?:fix|correct|check) (?:the |my )?(?:grammar|spelling|typos)|übersetze|korrigiere|traduis|traduce|corrige)"
)
_BARE = late_pattern(
    rf"""^\W{{0,3}}(?:please[ ]|bitte[ ]|can[ ]you[ ]|could[ ]you[ ])?{_VERB}
        (?:[ ](?:this|it|that|the[ ]text|das|ceci|esto))?(?:[ ](?:in)?to[ ]\w{{2,20}})?(?:[ ]please)?(?:[.:!?\uff1a]|$)
      | ^\W{{0,3}}(?:an?[ ]|the[ ]|my[ ])?{_TEXT}[ ](?:from|by|of)[ ][\w' .-]{{1,40}}[:\uff1a][ ]""",
    re.VERBOSE | re.IGNORECASE,
)


def _below_its_first_line(lines: Sequence[str], first: _Paragraph) -> int | None:
    """Return where a text begins whose request or source stands right before it."""
    line = lines[first.start].strip()
    if bare := _BARE.match(line):
        return first.start if len(line) > bare.end() + 1 else first.start + 1
    below = first.end - first.start - 1
    announced = line.endswith(":") and _NAMES_A_TEXT.match(line)
    asked = below > 1 and _asks_about_a_text(line)
    if below and (announced or asked) and not _is_own(line, lines[first.start + 1].strip()):
        return first.start + 1
    return None


_NAMES_A_TEXT = late_pattern(rf"(?:[\w'-]{{1,20}} ){{1,4}}{_TEXT}:$", re.IGNORECASE)
