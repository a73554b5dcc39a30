"""What people ask for that is meant to hold on: how to write, which units, what to leave out.

"Use metric units." asks for a form of whatever comes; "Use the second picture." is for one thing.
The first kind speaks of kinds of things (no article, all, every), of the form of answers, or of the
one who asks; the second of something at hand.
"""

from __future__ import annotations

import re
from typing import Literal

Asked = Literal["preference", "correction"]

_LANGUAGES = (
    r"english|german|french|spanish|italian|portuguese|dutch|polish|russian|chinese|mandarin|"
    r"japanese|korean|arabic|hindi|turkish|swedish|danish|norwegian|finnish|greek|hebrew|czech|"
    r"ukrainian|vietnamese|thai|indonesian|latin|esperanto|swahili|catalan|hungarian|romanian"
)
_FORM = (
    r"emojis?|bullet points|bullets|bullet lists|lists|tables|headings|markdown|bold(?: text)?|"
    r"jargon|acronyms|abbreviations|slang|contractions|exclamation marks|swear words|"
    r"metric(?: units)?|"
    r"imperial(?: units)?|si units|units|celsius|fahrenheit|kelvin|kilomet(?:er|re)s|miles|"
    r"kilograms|"
    r"pounds|(?:24|12)-hour (?:time|format|clock)|dates|times|prices|currency|currencies|amounts|"
    r"temperatures|distances|numbers|euros?|dollars?|(?:[a-z]+ )?francs|yen|sterling|answers?|"
    r"replies|responses?|explanations?|summaries|examples|sources|references|citations|links|"
    r"disclaimers|caveats|warnings|small ?talk|apologies|pleasantries|flattery|compliments|filler|"
    r"introductions|intros?|preambles?|tone|analogies|metaphors|sentences|paragraphs|recipes|"
    r"suggestions|recommendations|tips|comments|docstrings|type hints|tabs|(?:two |four )?spaces|"
    r"semicolons|variable names|function names|names|commit messages|code blocks|"
    r"follow-up questions|"
    r"plain text|plain english|british (?:english|spelling)|american (?:english|spelling)|"
    r"gender-neutral language|simple words|short sentences|footnotes|small fonts?|"
    rf"{_LANGUAGES}"
)
_SPACED = _FORM.replace(" ", "[ ]")
_VERB = (
    r"use|sign|give|write|show|put|keep|answer|reply|respond|talk|speak|explain|address|format|include|"
    r"skip|omit|leave out|begin|start|end|cite|quote|spell|round|convert|list|name|prefix|suffix|"
    r"wrap|sort|avoid|drop|spare|add|import|call|make|ask|mark|finish|decorate|annotate|state|"
    r"express|print|provide|prefer|stick to|stick with|measure|count|suggest|limit|apply|follow|"
    r"indent|capitali[sz]e|document|test|log|store|save|declare|define|return|raise|check|ensure|"
    r"make sure|be|stay|treat|refer to|remember to"
)
_LEAD = (
    r"(?:(?:please|also|and|so|now|ok(?:ay)?|specifically|first(?:ly)?|second(?:ly)?|third(?:ly)?|"
    r"finally|lastly|next|similarly|likewise|additionally|moreover|furthermore|again|remember to|"
    r"just|oh|hey|hi|thanks|great|good|yes|no|one more thing(?=[,:])|another thing(?=[,:])|"
    r"in addition|by the way|"
    r"lastly|actually|instead|then|but|plus)[,:.!]{0,5} ){0,8}"
)
_STANDING = (
    r"from (?:now|here|today) on(?:wards?)?,? (?:please )?|going forward,? (?:please )?|"
    r"moving forward,? (?:please )?|in (?:the )?future,? (?:please )?|always |henceforth,? |"
    r"by default,? |in general,? |as a rule,? "
)
_WISH = (
    r"(?:i(?:'d| would)? (?:now )?(?:want|need|like|expect|prefer|ask|require) you to |"
    r"(?:you|we) (?:should|must|have to|need to|now want to|want to|now need to) |"
    r"make sure (?:to |you |that you )|be sure to |"
    r"(?:one|another|an?|our|the|my|some)\b[\w' ,-]{0,60}\b(?:conventions?|rules?|guidelines?|"
    r"standards?|practices?|things?|updates?|requirements?|policy|changes?)\b[\w' -]{0,40}? is "
    r"(?:to |that (?:we|you) (?:now )?(?:want to |should |must |need to )?)|"
    r"(?:one|another) thing (?:we|i) (?:always |also )?(?:do|want|like|ask) is (?:to )?)"
)
_WHEN = (
    r"(?:(?:when(?:ever)?|if|for|in|with|as for|regarding|about|before|after|every time|each time|"
    r"when it comes to)\b[^,.;:]{2,80}, )"
)
_ORDER = re.compile(
    rf"(?P<lead>{_LEAD})(?P<it>(?P<when>{_WHEN})?{_LEAD}(?P<standing>(?:{_STANDING})*)"
    rf"(?P<wish>{_WISH})?(?P<more>(?:{_STANDING})*)(?:please )?"
    rf"(?P<not>(?:do not |don't |dont |never |not |stop |no longer |no more )?)"
    rf"(?P<verb>(?:{_VERB}|\w{{1,30}}ing)\b)(?P<rest>.*))"
)
_AT_HAND = re.compile(
    r"""\b(?:this|that|these|those|above|below|here)\b(?![ ]way\b)
      | ^[ ](?:it|them|him|her|both|me[ ](?:an?|the|some|your|one|two|three|five|ten)\b)(?!\w)
      | \b(?:the[ ](?:first|second|third|last|next|other|previous|rest|same|following|latter))\b
      | \b(?:for[ ](?:now|today|once)|this[ ]time|today|tonight|tomorrow|just[ ]once|yet
      |right[ ]now
        |until[ ]\w+|next[ ](?:answer|week|time)|in[ ](?:\d+|ten|five)[ ]minutes)\b""",
    re.VERBOSE,
)
_OF_THE_FORM = re.compile(
    rf"""^[ ](?:(?:me|all|your|my|any|more|fewer|no|only|a[ ]lot[ ]of|too[ ]many|so[ ]many|every
          |short|shorter|long|longer|brief|detailed|concrete|real|in|to|with|up[ ]with|formal
          |informal
          |simple|plain|casual|friendly|british|american|swiss|and|or|unnecessary|legal)[ ])*
        (?:{_SPACED})\b(?![ ](?:of|from)\b)
      | ^[ ](?:in|with)[ ](?:a[ ])?(?:\w+[ ])?(?:{_LANGUAGES}|style|tone|sentences?|words?|detail
      |rhymes?)\b
      | ^[ ](?:to[ ])?me[ ](?:\w+ly\b|as\b|like\b|by\b|with\b)
      | ^[ ](?:things|everything|stuff|concepts)\b
      | ^[ ](?:the|all[ ]the)[ ](?:{_SPACED})(?<=s)\b
      | ^[ ](?:before|briefly|shortly|concisely|formally|informally|politely)\b
    """,
    re.VERBOSE,
)
_OF_ALL = re.compile(r"\b(?:every|each|all|any|anything|everything|always|whenever)\b")
_KINDS = re.compile(
    r"^ (?:your |our |my |all |the names of )?(?:[a-z-]+ ){0,3}[a-z-]{2,}s (?:\w+ )?(?:in|as|with|"
    r"without|"
    r"before|after|under|at|from|to|by)\b(?! (?:the|my|this|that|our|order)\b(?! (?:¤|prefix|"
    r"suffix|past|"
    r"present|imperative|passive|active|singular|plural|top|end|beginning|first|third|string)))"
)
_USED_FOR = re.compile(
    r"^ (?!(?:the|this|that|it|my|an?|your)\b)[\w.+#-]+(?: [\w.+#-]+)? for (?:all |our |new )?"
    r"[a-z]+(?:s|ing|tion)[.!]*$"
)
_NO_ORDERS = re.compile(
    r"(?:be|stay|make sure|ask|check|treat|follow|list|sort|return)\b(?! (?:before|concise|brief|"
    r"honest|"
    r"direct|formal|polite|informal|blunt|me\b))"
)
_NO_SUCH = re.compile(
    rf"(?:please,? )?(?:no|less|fewer|more) (?:more )?(?:{_FORM}|\w+ talk|lectures|moralising|"
    rf"moralizing)\b"
)
_ALLOWED = re.compile(
    r"you (?:can|may) (?:now )?(?:(?:stop|start) \w+ing|\w+ .*\b(?:again|from now on|any time)\b|"
    r"go back to) ?.*"
)
_FINE = re.compile(
    rf"^(?:{_FORM}) (?:is|are) (?:fine|ok|okay|allowed|welcome|good)"
    r"(?: again| now| from now on| after all)\b"
)
_TAKEN_BACK = re.compile(
    r"(?:please )?(?:forget|ignore|disregard|scrap) (?:what i (?:said|told you|asked) (?:about|"
    r"for|on)|everything "
    r"(?:i said )?about|my (?:preference|wish|request|rule) (?:for|about|on)) \S.*"
)
# "No spoilers please."
_NONE_PLEASE = re.compile(
    r"\A(?:please,? no (?:more )?(?!thanks|worries|problem|need|rush|idea|way|one\b)[a-z-]{3,30}s"
    r"|no (?:more )?(?!thanks|worries|problem|need|rush|idea|way|one\b)(?:[a-z-]{2,20} )?"
    r"[a-z-]{3,30}s,? (?:for me,? )?please"
    r"|[^,]{5,80}, so no (?:more )?(?:[a-z-]{2,20} )?[a-z-]{3,30}s,? please)[.!]*\Z"
)
_TAKING_BACK = (_ALLOWED, _FINE, _TAKEN_BACK, _NO_SUCH, _NONE_PLEASE)


# A rule that gives a quoted value for a kind of thing: "we end function names with '_x'".
_VALUE_GIVEN = re.compile(
    r"(?:i|we)(?:'d| would)?(?: (?:also|now|just|really|always|then))* (?:want|need|like|expect|"
    r"prefer|ask|start|"
    r"end|begin|use|import|add|include|name|follow|prefix|write|mark)\b"
    r"|\b(?:ensure|make sure|always|from now on|going forward|should|must|remember to|please|"
    r"let's|"
    r"have to|need to|(?:conventions?|rules?|guidelines?|standards?|practices?|"
    r"things?)\b.{0,60}\bis(?: to)? \w+)\b"
    rf"|^(?:[\w' ]{{2,40}}, )?(?:{_VERB})\b"
)
_A_KIND = re.compile(
    r"\b(?:names?|all|every|each|module|decorator|prefix|suffix|methods|functions|classes|"
    r"variables|"
    r"arguments|attributes|files|scripts|tests|columns|keys|fields|branches|tables|commits|"
    r"messages|"
    r"constants|types|endpoints|headers|labels|them)\b"
)
_ONE_CASE = re.compile(
    r"\b(?:for example|for instance|e\.g|could|might|would be|if you have|such as|like ¤|"
    r"this (?:file|function|"
    r"method|class|one|task|case|context)|said|says|error|log|output)\b|\?$|:$"
)
_FIRST_WORDS = re.compile(
    rf"{_LEAD}(?:well, |here's the thing: |to \w{{1,20}} this, |[a-z]{{1,20}}, (?=when|i|we|please))?{_LEAD}"
    r"(?:(?:from now on|going forward|moving forward),? (?=i\b|we\b|please))?"
    r"(?:i(?:'d| would)?(?: also| now| just)* (?:like|want|need) you to (?:(?:make sure|"
    r"ensure) (?:that )?(?:you )?|"
    r"always )?)?(?:please )?"
)


_WANTS_FORM = re.compile(
    r"(?:please,? )?i(?:'d| would)?(?: (?:really|always|only|just|much))* (?:like|want|prefer|"
    r"need) (?:(?:your|all|any|"
    r"only|more|fewer|no|much) )?(?:[a-z-]+,? (?:and )?){0,3}(?:answers|replies|responses|"
    r"explanations|summaries|"
    r"recipes|suggestions|recommendations|examples|sources|updates|reports|comments|"
    r"messages)\b(?! (?:to|for|about|on) "
    r"(?:this|that|the|these|my|it)\b).*"
)


def _gives_value(plain: str) -> bool:
    return (
        "\u00a4\u00a4" in plain
        and bool(_A_KIND.search(plain) and _VALUE_GIVEN.search(plain))
        and not _ONE_CASE.search(plain)
    )


def standing_request(plain: str) -> tuple[Asked, int, int] | None:
    """Return the kind of a request that holds on, and from where to where it says so."""
    end = len(plain.rstrip())
    at_hand = plain.endswith("?") or bool(_AT_HAND.search(plain))
    if not at_hand and any(form.match(plain) for form in _TAKING_BACK):
        return "correction", 0, end
    if not at_hand and _WANTS_FORM.fullmatch(plain[:end]):
        return "preference", 0, end
    if _gives_value(plain):
        first = _FIRST_WORDS.match(plain)
        return "preference", first.end() if first else 0, end
    found = _ORDER.match(plain)
    if not found or not _is_standing(plain, found):
        return None
    return ("correction" if found["not"] else "preference"), found.start("it"), end


def _is_standing(plain: str, found: re.Match[str]) -> bool:
    """Say whether an order is for more than one thing at hand."""
    rest, when = found["rest"], found["when"] or ""
    if plain.endswith("?") or (":" in rest and "\u00a4" not in rest) or _AT_HAND.search(when):
        return False
    if _AT_HAND.search(rest) and not _resolved(found):
        return False
    if found["verb"].endswith("ing") and found["not"].strip() != "stop":
        return False
    said_so = found["standing"] or found["more"] or _OF_ALL.search(when)
    return bool(said_so) or _holds_on(found)


def _resolved(found: re.Match[str]) -> bool:
    """Say whether what "them" stands for is told in the same sentence."""
    pointed = re.match(r" (?:it|them)\b", found["rest"])
    if not (pointed and found["when"]):
        return False
    return not _AT_HAND.search(found["rest"], pointed.end())


def _holds_on(found: re.Match[str]) -> bool:
    rest = found["rest"]
    if _NO_ORDERS.match(found["verb"] + rest) and not found["wish"]:
        return False
    if found["when"] and re.match(
        r"(?:when(?:ever)?|if) you\b|for \w+ names|when \w+ing", found["when"]
    ):
        return True
    if _OF_THE_FORM.search(rest) or (found["verb"] == "use" and _USED_FOR.match(rest)):
        return True
    one = re.match(r" (?:an?|the|me)\b", rest)
    if _OF_ALL.search(rest) and not one and not re.search(r"\bin the \w+[.!]*$", rest):
        return True
    return bool(_KINDS.search(rest)) and not re.match(
        r" (?:\w+ ){0,2}(?:more|two|three|five|ten|\d+) ", rest
    )
