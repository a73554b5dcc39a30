"""Text that a message speaks about: "is this rude?", and then somebody's words, without a mark.

What stands beside a request about a text is the text. Such a request is a short paragraph at the
beginning or the end that points at something which is not in it, tells whose words come, or judges
what it does not name. Nothing is said about the form of what it points at: that may be anything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple

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
    if not said:
        return None
    if len(said) == 1:
        return _announced_in(lines, said[0])
    first, last = said[0], said[-1]
    # What is enclosed has come, and the speaker goes on behind it.
    if any(_is_marked(one.text) for one in said[:2]):
        return None
    if _asks_about_a_text(first.text) and not _is_own(first.text, said[1].text):
        return said[1].start
    if _names_no_subject(first.text, said[1:]) and not _is_own(first.text, said[1].text):
        return said[1].start
    if _looks_back(last.text):
        return first.start
    return None


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


def _is_marked(text: str) -> bool:
    return GONE in text or text.startswith(">")


_TEXT = (
    r"(?:e-?mails?|mails?|letters?|messages?|texts?|sms|articles?|posts?|paragraphs?|essays?|documents?"
    r"|pages?|transcripts?|minutes|notes?|stor(?:y|ies)|poems?|songs?|lyrics|excerpts?|passages?|threads?"
    r"|chats?|reviews?|speech|abstract|quotes?|comments?|tickets?|reports?|sections?|chapters?|clauses?"
    r"|contracts?|polic(?:y|ies)|adverts?|ads?|offers?|listing|profiles?|bios?|prompts?|answers?|repl(?:y|ies)"
    r"|responses?|recipes?|manuals?|instructions|rules|signs?|screenshots?|captions?|tweets?|blurbs?"
    r"|descriptions?|statements?|complaints?|customers?|invitations?|invites?|voicemails?|drafts?|homework"
    r"|feedback|sentences?|dialogues?|scripts?|scenes?|speech(?:es)?|newsletters?|memos?|announcements?|warnings?)"
)
# "This" by itself, or before a word for a text; "this bug" and "this week" are things of one's own.
_THIS = (
    rf"(?:(?:this|these|that|those)(?=\s*(?:[?.!,:;)]|$)|\s+(?:{_TEXT}|is|are|was|were|mean|means|say|says"
    r"|sound|sounds|look|looks|seem|seems|make|makes|read|reads|true|real|right|rude|ok|okay|legit|legal|fair"
    r"|normal|good|any|vegan|shorter|better|correct|to|into|in|for|from|as|down|up|out|or|and|please|about"
    r"|so|too|he|she|they|my|our|one)\b)"
    rf"|the (?:following|text|above)\b|\b{_TEXT} (?:below|above|here)|\bbelow\b|\bhere (?:is|are)|\bhere's)"
)
_POINTING = re.compile(rf"(?:^|\b){_THIS}", re.IGNORECASE)
_REQUEST = re.compile(
    r"""\?\s*$ | \?\s | ^\W*(?:please[ ])?(?:(?:can|could|would|will)[ ]you[ ](?:please[ ])?)?
        (?:translate|summari[sz]e|proofread|rewrite|rephrase|paraphrase|shorten|polish|correct|reply|respond
          |answer|sum|condense|review|explain|clean|improve|edit|check|grade|rate|cluster|classify|sort|group
          |extract|pull|find|list|count|fix|cut|compare|critique|analy[sz]e|interpret|decode|read|tell|turn
          |make|convert|look|see|what|who|is|are|does|do|did|how|why|which|where|thoughts)\b
      | \b(?:don't|do[ ]not|can't|cannot)[ ](?:get|understand|know|see|follow)\b | \bhave[ ]to[ ]cut\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
_WRITES_BACK = re.compile(
    r"\b(?:write|say|answer|reply|respond|text)\b[^.!?]{0,30}\b(?:back|to (?:him|her|them|that|this))\b"
    r"|\bhow (?:do|should|would|can) (?:i|we|you) (?:answer|reply|respond|read|understand|take)\b",
    re.IGNORECASE,
)
_SENT = (
    r"(?:sent|wrote|writes|texted|e-?mailed|messaged|posted|left|gave|says?|said|replied|answered|shared"
    r"|forwarded|published|tweeted|commented|put|reads|states|goes)"
)
_ANOTHERS = re.compile(
    rf"""(?<![\w'])(?:my|our|the|his|her|their|a|an|some|this|these|[A-Z][\w.-]{{1,30}})[ ](?:[\w'-]{{1,30}}[ ]){{0,4}}?
         (?:just[ ]|also[ ])?{_SENT}\b
      | \b[A-Z][\w.-]{{1,30}}[ ](?:just[ ]|also[ ])?{_SENT}[ ](?:me|us|this|that|in|on|back)\b
      | \b(?:i|we)(?:'ve|[ ]have)?[ ](?:just[ ])?(?:got|received|found|saw|read|copied|came[ ]across)[ ]
        (?:this|that|these|an?|the|it)\b[^.!?]{{0,40}}\b(?:{_TEXT}|from|on|in|at|online)\b
      | \bthere(?:'s|[ ]is|[ ]was|[ ]are)[ ](?:an?|this|some)[ ](?:\w{{1,20}}[ ])?{_TEXT}\b
      | \b\w{{2,20}}['\u2019]s[ ](?:\w{{1,20}}[ ]){{0,2}}{_TEXT}\b | \b{_TEXT}[ ](?:from|by)[ ]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ELSEWHERE = re.compile(
    r"""\b(?:übersetz\w*|fass\w*[ ]\S{1,20}[ ]?\S{0,20}zusammen|zusammenfass\w*|korrigier\w*|verbesser\w*|erklär\w*
        |traduis\w*|tradui[rst]e?z?|corrige[rz]?|résume[rz]?|explique[rz]?|traduce|traducir|resume|resumir|corrige|explica)\b
        [^.!?]{0,60}\b(?:das|dies\w*|folgende\w*|den|diesen|text|ceci|ça|ce|cet|cette|texte|suivant|esto|este|esta|texto|siguiente)\b
      | \b(?:das|dies\w*|folgende\w*|den[ ]text|diesen[ ]text|ceci|ça|ce[ ]texte|esto|este[ ]texto|el[ ]texto)\b[^.!?]{0,60}
        \b(?:übersetzen|zusammenfassen|korrigieren|verbessern|erklären|bedeuten|heißen|traduire|corriger|résumer|traducir
        |resumir|corregir)\b
      | \bwas[ ](?:heißt|bedeutet|meinst[ ]du)\b[^.!?]{0,30}\b(?:das|dazu|davon|hier)\b | \bque[ ]veut[ ]dire\b | \bqu[eé][ ]significa\b
      | (?:翻译|总结|概括|改写|润色|解释|翻訳|要約|添削|校正)
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _asks_about_a_text(text: str) -> bool:
    """Say whether a paragraph asks for something to be done with a text that is not in it."""
    if len(text) > LONGEST:
        return False
    asks = bool(_REQUEST.search(text)) or text.endswith((":", "\uff1a"))
    if _ELSEWHERE.search(text) or _WRITES_BACK.search(text):
        return True
    pointing = asks and _POINTING.search(text)
    return bool(pointing or (_ANOTHERS.search(text) and (asks or _POINTING.search(text))))


_OF_THE_SPEAKER = re.compile(
    r"""\b(?: about[ ](?:me|myself|us|my|our) | (?:is|are|of)[ ](?:my|our) | introduce[ ]myself
        | my[ ](?:rules|preferences|wishes|setup|details|profile|situation|facts|requirements|answers)
        | remember | keep[ ]in[ ]mind | note[ ]that | you[ ]should[ ]know | for[ ]you[ ]to[ ]know | from[ ]now[ ]on )\b
      | \b(?:merk|erinner|souviens|recuerda|记住|覚えて)""",
    re.VERBOSE | re.IGNORECASE,
)
_WISH = re.compile(
    r"(?:so |well |basically |for context,? )?(?:i|we)(?:'d| would|'m| am|'re| are)? ?(?:want|need|like to|hope|plan|wish"
    r"|looking|planning|trying|hoping|thinking|have a question)\b",
    re.IGNORECASE,
)


def _is_own(request: str, text: str) -> bool:
    """Say whether what follows is the speaker's: announced as that, or a wish to whoever is asked."""
    return bool(_OF_THE_SPEAKER.search(request) or _WISH.match(text))


_SELF = re.compile(r"\b(?:i|me|my|mine|myself|i'm|i've|i'd)\b", re.IGNORECASE)
_NAMES_A_WISH = re.compile(
    r"\b(?:an?|any|some|good|how to|how do|how can|why|where|when|which|recommend\w*|suggest\w*|ideas?"
    r"|help|plan|tips?|advice|thanks?|thank|hi|hello|hey|remember|best(?! quotes| parts| lines))\b",
    re.IGNORECASE,
)
_STATES = re.compile(r"[.!?]+(?:\s|$)|\n")
_SHE = re.compile(r"\b(?:he|she|they|him|her|them)\b", re.IGNORECASE)


def _names_no_subject(text: str, rest: Sequence[_Paragraph]) -> bool:
    """Say whether a question can only be answered about what follows: "would you apply?"."""
    if len(text.split()) > FEW_WORDS or not _REQUEST.search(text) or _SELF.search(text):
        return False
    lines = sum(one.end - one.start for one in rest)
    sentences = sum(len(_STATES.findall(one.text)) for one in rest)
    if lines < 2 and sentences < 2:
        return False
    return bool(_SHE.search(text)) or not _NAMES_A_WISH.search(text)


_BACK = re.compile(
    rf"""\bwho[ ](?:wrote|said|writes|says|posted)\b | \bwhat[ ](?:does|do|did)[ ](?:it|this|that|he|she|they)[ ](?:mean|say|want)
      | ^\W{{0,3}}\^ | \b(?:this|that|it)[ ]is[ ]the[ ]{_TEXT}\b | \b(?:the|this|that|which|each|every)[ ]{_TEXT}\b
      | \b(?:text|mail|message|words|lines)[ ]above\b
      | \bis[ ](?:this|that|it)[ ](?:an?[ ])?(?:rude|scam|spam|fake|real|legit|legal|phishing|true|satire|ai)\b
      | \b(?:translate|summari[sz]e|proofread|rephrase|paraphrase|grade|fact-?check)\b
      | \b(?:does|do|did)[ ](?:he|she|they)[ ]sound\b
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _looks_back(text: str) -> bool:
    """Say whether the last paragraph asks about what stands before it, as somebody else's text."""
    if len(text) > LONGEST or _OF_THE_SPEAKER.search(text):
        return False
    return bool(_BACK.search(text) and _REQUEST.search(text)) or bool(_ELSEWHERE.search(text))


_SOURCE = re.compile(
    rf"^\W{{0,3}}(?:an?[ ]|the[ ]|my[ ])?{_TEXT}[ ](?:from|by|of)[ ][\w' .-]{{1,40}}[:\uff1a][ ]", re.IGNORECASE
)


def _announced_in(lines: Sequence[str], only: _Paragraph) -> int | None:
    """Return where a text begins whose source stands before it on the same line."""
    return only.start if _SOURCE.match(lines[only.start]) else None
