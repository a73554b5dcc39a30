"""Forms that tell what a statement is about: "my phone is ...", "I live in ..."."""

from __future__ import annotations

import re
from dataclasses import dataclass
from types import MappingProxyType

from ...text.terms import content_terms, stem

NOT_ABOUT = frozenset(
    content_terms(
        "always never please do don't dont not no avoid stop must should you use using used i"
        " i'd prefer"
        " we make sure ever to be from now on instead like love hate dislike enjoy want need"
        " would can"
        " can't cannot stand really strongly very much more any anymore again no longer actually"
        " these"
        " days nowadays currently going forward i'm am rather refuse fan into favour favor tend"
        " only"
        " remember note keep mind decided let us let's also still again adore loathe despise"
        " detest"
        " you're got think one thing all every each your my our their strictly generally usually"
        " often"
        " ensure going started quit stopped gave switched moved changed update since exclusively"
        " have"
        " has had interest aversion strong allow stay staying stick sticking switching moving after"
        " new current turns out fine feel free go back"
    )
)


KIN = frozenset(
    "wife husband partner girlfriend boyfriend fiance fiancee son sons daughter daughters kid kids"
    " child children baby mother father mum mom dad parents brother sister brothers sisters grandma"
    " grandpa grandmother grandfather uncle aunt cousin niece nephew family dog cat dogs cats pet"
    " roommate flatmate boss manager colleague friend neighbour neighbor company board".split()
)
"""Those whose doings are not the speaker's own."""


def terms_about(plain: str) -> list[str]:
    """Return the stems of what a statement is about, without words of liking and of change."""
    return [term for term in content_terms(plain) if term not in NOT_ABOUT and term != "\u00a4"]


_LANGUAGES = (
    r"(?:(?:british|american|plain|simple) )?(?:english|german|french|spanish|italian|portuguese|"
    r"dutch|"
    r"polish|russian|chinese|mandarin|japanese|korean|arabic|hindi|turkish|swedish|danish|"
    r"norwegian|"
    r"finnish|greek|hebrew|czech|ukrainian|vietnamese|latin|catalan|deutsch|englisch|"
    r"franz\u00f6sisch|"
    r"fran\u00e7ais|anglais|espa\u00f1ol|ingl\u00e9s)"
)

_MANY = (
    r"hobby|hobbies|goals?|fears?|weakness|passion|allerg(?:y|ies)|priority|pet peeve|dealbreaker|"
    r"condition"
)
"""What one may have several of."""
_CLOSEST = (
    r"wife|husband|partner|girlfriend|boyfriend|son|daughter|dog|cat|mother|father|mum|mom|dad"
)
_CLOSE = rf"{_CLOSEST}|boss|manager"
_TO_YOU = (
    r"(?:(?:please|always|also|just|now|and|so|from now on|going forward|in future|actually|"
    r"i(?:'d| would)? (?:want|need|like) you to|make sure (?:to|you|that)|let's|"
    r"(?:you|we) (?:should|must|need to|have to|now want to|want to)|we will|we'll|start|"
    r"we (?:have )?(?:decided|agreed) to|we(?:'re| are) going to|remember to|instead)[, ]+)*"
)
_DONE = r"^(?:i|we)(?:'ve| have)?(?: just| recently| finally)?"
_BRIEF_OR_LONG = (
    r"\b(?:short|shorter|brief|concise|terse|long|longer|detailed|verbose|under|at most)\b"
)
_ANSWERS = r"\b(?:answers?|replies|responses?|explanations?)\b"


@dataclass(frozen=True, slots=True)
class _Form:
    """One way of telling what a statement is about: a name, and what of the words belongs to it."""

    name: str
    pattern: re.Pattern[str]

    def read(self, plain: str) -> str:
        found = self.pattern.search(plain)
        if not found:
            return ""
        told = [terms_about(part) for part in found.groupdict().values() if part]
        terms = sorted({_SAME.get(term, term) for part in told for term in part})
        if self.pattern.groupindex and not terms:
            return ""
        return " ".join([self.name, *terms])


_SAME = MappingProxyType(
    {
        stem(other): stem(first)
        for first, *others in (
            line.split()
            for line in (
                "manager boss supervisor report",
                "doctor gp physician",
                "job profession occupation",
                "flat apartment",
                "phone smartphone mobile",
            )
        )
        for other in others
    }
)
"""Words for the same, each with the one it is filed under."""


def _form(name: str, *ways: str) -> _Form:
    return _Form(name, re.compile("|".join(ways)))


_SCHOOLS = r"kindergarten|nursery|preschool|school|college|university|\w+ grade|daycare"
_NUMBER = r"\d{1,3}|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"

_FORMS = (
    _form(
        "called",
        r"\bcalls? me \w",
        r"^(?:please )?address me as \w",
        r"\buse my (?:first|last|full|real|middle|own) name",
        r"^i (?:now |mostly |usually )?go by (?:the name )?\w",
    ),
    _form("name", r"^my (?:full |first )?name(?:'s| is)\b"),
    _form(
        "home",
        r"^(?:i|we) (?:now |currently |still )?live (?:in|near) (?!(?:an?|the|my|our)\b)",
        rf"{_DONE} (?:moved|relocated|emigrated)(?: back| over)?(?: from [\w ]+?)? to\b",
        r"^(?:i'm|i am|we're|we are) (?:now |currently )?(?:based|living) in\b",
    ),
    _form(
        "employer",
        r"^(?:i|i'm|i am) (?:now |currently |still )?work(?:ing)? (?:at|for)\b",
        rf"{_DONE} (?:joined|got|found)\b.* (?:a new job|(?:job|role) (?:at|with))\b",
        rf"{_DONE} started (?:at|working (?:at|for))\b",
        rf"{_DONE} (?:quit|left|lost) (?:my|our) (?:\w+ )?job\b",
        rf"{_DONE} (?:was |been |got )?(?:laid off|made redundant|retired|hired by)\b",
        r"^i(?:'m| am) retired\b",
        r"^my employer is\b",
    ),
    _form(
        "job",
        r"^(?:i|i'm|i am) (?:now |currently |still )?work(?:ing)? (?:\w+ )?as\b",
        rf"{_DONE} (?:started(?: working)?|became|been hired|got promoted to) (?:as )?an? \w+er\b",
        r"^my (?:job|profession|occupation) is\b",
    ),
    _form("age", r"\bi(?:'m| am) \d{1,3}(?: years old)?$", r"\bmy age is\b"),
    _form(
        "marital status",
        r"^(?:i|we)(?:'m|'re| am| are| got| was)(?: now| just)? (?:single|married|engaged|divorced|"
        r"widowed)\b",
    ),
    _form("birthday", r"^(?:i was born (?:in|on)|my birthday is|my date of birth is)\b"),
    _form(
        "language of answers",
        rf"^{_TO_YOU}(?:answer|reply|respond|speak|talk|write)(?: to me| me| only)? "
        rf"in {_LANGUAGES}\b",
        rf"\b(?:answers|replies|responses) in {_LANGUAGES}\b",
        rf"^(?:let's )?(?:go |switch )?back to {_LANGUAGES}\b",
        rf"^{_LANGUAGES} (?:is|would be|works?) (?:fine|ok|okay|good|better|great|enough)\b",
        rf"^{_LANGUAGES},? (?:again|from now on|instead|please)\b",
        rf"^let's (?:speak|talk|use|write in) {_LANGUAGES}\b",
        r"^(?:bitte )?antworte.* auf \w+",
        r"^(?:r\u00e9ponds|responde).* en \w+",
    ),
    _form(
        "length of answers",
        rf"{_BRIEF_OR_LONG}.*{_ANSWERS}",
        rf"{_ANSWERS}.*{_BRIEF_OR_LONG}",
        r"\b(?:write|answer|reply) (?:as long as|at (?:any|full) length)\b",
        r"\b(?:go into|with|in) (?:more|less|full|greater|much more) (?:detail|depth)\b",
    ),
    _form(
        "form of address",
        r"\b(?:address(?:ing)? me|talk(?:ing)? to me|be)(?: more)? (?:(?:in)?formal|casual)\w*\b",
        r"\buse (?:an? )?(?:(?:in)?formal|casual) (?:language|tone)\b",
    ),
    _form(
        "name of",
        rf"^(?:my|our) (?P<who>{_CLOSE}) (?:is|are) (?:called|named)\b",
        rf"^(?:my|our) (?P<whose>{_CLOSE})'s name (?:is|was)\b",
    ),
    _form(
        "age of",
        rf"^(?:my|our) (?P<who>{_CLOSE}) is \w+ (?:years|months) old\b",
        rf"^(?:my|our) (?P<whom>{_CLOSE}) is (?:now )?(?:{_NUMBER})(?: now)?$",
        rf"^(?:my|our) (?P<named>(?:{_CLOSE})(?: [\w-]+)?) turn(?:s|ed) \w+\b",
    ),
    _form(
        "school of",
        rf"^(?:my|our) (?P<who>{_CLOSE}) (?:goes to|started|starts|is in|attends) (?:{_SCHOOLS})\b",
    ),
    _form("rising", r"^(?:i|we) (?:now |usually |always )?(?:wake|get) up at\b"),
    _form(
        "my",
        r"^(?:i|we)(?:'ve| have)? (?:got|have|bought|found) an? new (?P<new>\w+)\b",
        r"^(?:i|we)(?:'ve| have)? (?:moved|switched|migrated|changed) (?:my|our|the)? ?"
        r"(?P<moved>\w+) to\b",
        r"^[\w' .-]{2,40}? is (?:now )?(?:my|our) (?:new )?(?P<whose>\w+)(?: now)?$",
        r"^(?:my|our) (?P<placed>\w+) (?:relocated|moved|went|goes|runs on|sits in|lives in|closes"
        r"|opens|starts|begins|ends)\b",
    ),
    _form(
        "my",
        rf"^(?:my|our) (?P<what>(?!(?:{_MANY})\b|(?:{_CLOSEST}) (?:is|are)\b)[\w' -]{{2,50}}?) "
        r"(?:is|are)(?: now)? "
        r"(?!allergic|not\b|really\b|very\b|so\b|too\b|quite\b|already\b|pretty\b)",
    ),
    _form("my", r"^i (?P<verb>take|drink|like|have|eat) my (?P<what>\w+)\b"),
    _form("my", r"^i (?:now )?(?P<to_whom>report) to\b"),
    _form(
        "number of",
        r"^(?:i|we) (?:have|own) (?:\d+|one|two|three|four|five|an?|no) (?P<what>\w+)(?: now)?$",
    ),
    _form(
        "used for",
        r"^(?!i\b).*\buse \S.{0,60}? for (?P<what>[^,;]+?)(?: (?:instead|from|now|rather)\b.*)?$",
    ),
    _form("place of", r"^(?:the|our) (?P<what>[\w' -]{2,40}?) (?:is|are) (?:on|in|at)\b"),
    _form(
        "day to",
        r"^(?:from now on,? )?we (?P<verb>\w+) on \w+days?\b",
        r"^(?:the |our )?(?P<noun>\w+) (?:have |has )?(?:moved?|moves|(?:is|are)(?: now)?) "
        r"(?:to |on )\w+days?\b",
    ),
    _form(
        "form of",
        rf"^{_TO_YOU}(?:(?:when|for|as for|in)\b[^,]{{2,50}}, )?{_TO_YOU}"
        r"(?:give|show|write|put|state|express|list|print|format|measure|quote"
        r"|i(?:'d| would) (?:rather|prefer to|like to) (?:see|have|get|read)) "
        r"(?:me )?(?:all |every |each |your |the |our |any )*(?P<what>[a-z -]{2,40}?) "
        r"(?:in|as)(?: the)? (?!every|each|all)\S",
    ),
)


_LIMITED = ("called", "language of answers", "length of answers", "form of ")
"""Forms of wishes that may be meant for some cases only."""
_CASE = re.compile(
    r"(?<=\w )(?:when(?:ever)?|if|unless|while|except|during|about"
    r"|for(?! (?:me|now|good|everything|everyone|us)(?:[ ,.;!]*$)))\b (?P<case>[^,.;]+)"
)
_FIRST_CASE = re.compile(
    r"^(?:at|in|on|when(?:ever)?|if|for|with|during|while|before|after|around|among)\b "
    r"(?!the future|future|general)(?P<case>[^,.;]{2,60}), "
)
_PLACE = re.compile(r"(?<=\w )(?:at|in|with|around|among) (?P<case>[^,.;]+)")


def form_of(plain: str) -> str:
    """Return what a statement is about by its form; "" for none of those that are known.

    One that says other things beside it has no form: whatever took its place would take them too.
    A wish for some cases ("in dollars for US clients") is not about the same as one for all.
    """
    name = next((name for form in _FORMS if (name := form.read(plain))), "")
    several = _SEVERAL if name in _OF_ONE else _ANOTHER
    if several.search(plain):
        return ""
    case = None
    if name.startswith(_LIMITED):
        case = _CASE.search(plain) or _FIRST_CASE.match(plain)
    if name == "called":
        case = case or _PLACE.search(plain)
    terms = sorted(set(terms_about(case["case"]))) if case else []
    return " ".join([name, "case", *terms]) if terms else name


_ANOTHER = re.compile(r"(?:,|;| and| but)(?: and| but| also)* (?:i|i'm|i've|my|we|we're|our)\b")
_SEVERAL = re.compile(rf"{_ANOTHER.pattern}|;| and ")
_OF_ONE = frozenset({"home", "employer", "job", "name", "age", "called"})
"""Where "and" leads on to something else."""
WORK = frozenset({"subject: employer", "subject: job"})
"""Who changes one of these has mostly changed both."""
