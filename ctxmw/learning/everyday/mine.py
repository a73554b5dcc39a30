"""What people tell of what is theirs, of those close to them, and of what things do to them."""

from __future__ import annotations

import re

from .clauses import Told
from .events import OF_CLOSE
from .lexicon import ATTRIBUTES, CLOSE

_MINE = re.compile(
    rf"(?:my|our) (?:(?:{CLOSE}|manager|boss|doctor|company|team)'s? )?(?:{ATTRIBUTES})"
    rf"(?: by far)? (?:is|are|was|runs|ends|starts|begins) (?!not clear\b)(?P<what>.+)"
    rf"|(?:my|our) (?:(?:{CLOSE})(?: [a-z-]+)?,? )(?:is|are|was|has|have|lives?|"
    rf"suffers?) (?P<bond>.+)"
    r"|(?:my|our) [\w ]{2,30} is (?:called|named) .+"
    rf"|(?:my|our) (?:(?:{CLOSE})'s )?(?:(?:full|first|last) )?name's [a-z].*"
)
_NOW_ONLY = re.compile(
    r"(?:almost|nearly|about to|slow|broken|dead|delayed|not working|acting|running out|stuck|"
    r"late|"
    r"ready|here|coming|full|empty|down|offline|the best|the worst|great|fine|good|that\b|to\b|"
    r"visiting|arriving|leaving|sick|crying|asleep)\b"
)
_COUNTED = (
    "one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen"
    "|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety"
)
_OF_GROUP = re.compile(
    r"(?:my|our) (?:team|company|family|school|club|band|department|group|household) "
    r"(?:uses?|works? (?:in|from|at|on)|meets?|speaks?|eats?|sits?|lives?|writes?|deploys?|hosts?)"
    r" (?!(?:it|this|that|the|them|these|those)\b)\w"
)
_BOND = re.compile(
    r"(?:called|named|allergic|intolerant|an?\b|\w{1,20} (?:years?|months?) old|from|born|vegan|"
    r"vegetarian|"
    r"diabetic|autistic|deaf|blind|in (?:a wheelchair|kindergarten|(?:the )?\w{1,20} grade|school|college)|"
    r"with (?:us|me)|"
    rf"(?:{_COUNTED})\b|"
    r"\d|asthma|type|celiac|in [a-z]{1,30}[.!]{0,3}$)"
)


def told_of_mine(plain: str) -> Told | None:
    """Return what "my ... is ..." tells of the speaker."""
    if OF_CLOSE.match(plain) or _OF_GROUP.match(plain):
        return "fact"
    found = _MINE.match(plain)
    if not found:
        return None
    if found["bond"] is not None:
        return "fact" if _BOND.match(found["bond"]) else None
    if found["what"] is not None and _NOW_ONLY.match(found["what"]):
        return None
    return "preference" if re.search(r"\bfavou?rite|preferred", plain) else "fact"


_EFFECT = re.compile(
    r"(?!(?:this|that|it|you|he|she|they|what|which|who|there|these|those|the|your|his|her)\b)"
    r"[a-z][\w -]{1,50}? (?:(?:bore|scare|annoy|irritate|upset|stress|disgust|exhaust|overwhelm|"
    r"bother|drain|tire|calm|relax|frighten|terrif(?:y|ie)|fascinate|lose)s? "
    r"me\b|makes? me (?:feel|gag|sneeze|itch|cry|cringe|break out|(?:very |so |really )?(?:\w+y|"
    r"\w+ous|sick|"
    r"ill|sad|nervous|uncomfortable|tired|bored|bloated|anxious|drowsy|nauseated))\b"
    r"|gives? me (?:(?:a|the|bad|terrible) )?(?:headaches?|hives|anxiety|migraines?|nightmares|"
    r"creeps|"
    r"heartburn|stomach[ -]?aches?|goosebumps|rash(?:es)?|vertigo|cramps)\b|drives? me (?:crazy|mad|nuts)\b"
    r"|(?:does|do)(?:n't| not) (?:agree with|interest|appeal to|suit|work for|sit well with) me"
    r"|triggers? my)"
    r"|(?:everybody|everyone|people|(?:my |most )?(?:friends|colleagues|family)|you can|you may) "
    r"(?:just )?(?:calls? me|knows? me as) (?!later|back|when|tomorrow|at|on|if)\w+"
    r"|(?!(?:this|that|it|he|she|they|what|which|there|these|those|your|his|her)\b)[\w' -]{2,40}? "
    r"(?:is|are) my (?:comfort|favou?rite|go-to|guilty pleasure|least favou?rite|thing\b|jam\b)"
)


def told_of_effect(plain: str) -> Told | None:
    """Return what "... makes me ..." tells of the speaker."""
    found = _EFFECT.match(plain)
    if not found:
        return None
    called = " me" in found[0] and ("call" in found[0] or "know me" in found[0])
    return "fact" if called else "preference"
