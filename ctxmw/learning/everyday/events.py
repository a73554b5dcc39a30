"""Events of a life whose result lasts: somebody moved, quit, married, was diagnosed, retired.

They are told in the past tense, often with a day ("last month"), and hold on all the same.
"""

from __future__ import annotations

import re

from .lexicon import CLOSE, FLEETING

_AT_A_SCREEN = (
    r"(?:(?:the|my|this|that|a)[ ])?(?:app|application|program|browser|game|session|terminal|"
    r"process|editor|window|tab|shell|server|call|meeting|chat|debugger|vim|emacs|chrome|firefox|"
    r"excel|word|zoom|it|this|that|them)\b"
)
_WORKPLACE = (
    r"(?:job|company|firm|hospital|school|bank|startup|agency|army|navy|police|church|practice|"
    r"position|role|university|office|studio)"
)
_BOUGHT = (
    r"(?:house|home|flat|apartment|farm|car|van|boat|motorbike|bike|e-bike|dog|puppy|cat|kitten|"
    r"horse|laptop|phone|piano|guitar|camper|allotment|condo|cottage)"
)
EVENT = re.compile(
    rf"""\b(?: stopped[ ]\w+ing
      | (?:got|became|been|was|were)[ ](?:re)?(?:married|divorced|engaged|widowed)
      | became[ ](?:an?|the|vegan|vegetarian)\b
      | got[ ]an?[ ](?!(?:\w+[ ])?(?:{"|".join(sorted(FLEETING))}|message|mail|email|warning
          |response|reply|result|answer|new[ ]version)\b)
      | (?:got|was|were|been)[ ](?:\w+ly[ ])?(?:diagnosed[ ]with|promoted|laid[ ]off
          |made[ ]redundant|hired[ ](?:as|by|at)|accepted[ ](?:to|at|into)|born|transferred[ ]to
          |adopted|baptised|baptized)
      | grew[ ]up | come[ ]from | (?:was|were)[ ](?:brought[ ]up|raised)[ ](?:in|by|as|near|on)
      | inherited[ ](?:an?|my|our|some|his|her)\b
      | (?:moved|relocated|emigrated|immigrated)[ ](?:here|to|from|in|back|out|abroad)
      | (?:gave|given)[ ]up[ ](?!on[ ](?:this|that|it))\w+
      | (?:quit|left)[ ](?:my|our|the)[ ](?:\w+[ ]){{0,2}}?{_WORKPLACE}\b
      | quit[ ](?!{_AT_A_SCREEN})\w+
      | (?:switched|changed|converted)(?:[ ](?:over|careers?|jobs?))?[ ](?:from|to|back)
      | (?:just[ ])?started[ ](?:an?[ ]new|my[ ]new|at|as[ ]an?|working[ ](?:at|for|as|from|in
          |part|full|nights)|taking|therapy|college|university|school|uni
          |(?:an?|my|our)[ ](?:[\w-]+[ ])?(?:job|company|business|firm|family|diet|phd|degree
          |masters?|apprenticeship|internship|treatment|shop|practice))
      | joined[ ](?:an?|the|my)?[ ]?(?:[\w-]+[ ])?(?:team|company|startup|choir|band|club|gym|army
          |navy|board|firm|university|church)\b
      | joined[ ][\w ]+[ ]as[ ]an?
      | retired\b | graduated\b | enrolled[ ](?:in|at)
      | had[ ](?:an?|our|my|another)[ ](?:(?:first|second|third|little|new)[ ])?(?:baby|child|son
          |daughter|boy|girl|kid)\b
      | had[ ]twins | gave[ ]birth
      | (?:bought|adopted)[ ](?:an?|our|my|two)(?:[ ][\w-]+)?[ ]{_BOUGHT}s?\b
      | (?:broke|broken|split)[ ]up | separated[ ]from | lost[ ]my[ ](?:job|wife|husband|licen[cs]e|hearing|sight
          |mother|father|mum|mom|dad|(?:left|right)[ ]\w+)
      | turned[ ](?:\d{{1,3}}|thirty|forty|fifty|sixty|seventy|eighty)\b
      )""",
    re.VERBOSE,
)
"""What happened once and goes on to hold."""

VERBS = frozenset(
    "was were got became moved relocated emigrated immigrated gave quit left switched changed"
    " converted started joined retired graduated enrolled had bought adopted broke split separated"
    " lost turned stopped grew come inherited".split()
)
"""The verbs of events, as they stand behind "I" or "we"."""

OF_CLOSE = re.compile(
    rf"""(?:my|our)[ ](?:{CLOSE})(?:,?[ ][\w-]+,?)?[ ](?:(?:just|recently|now|will)[ ])?(?:
        (?:turn(?:s|ed)?|be)[ ](?:\d{{1,3}}|one|two|three|four|five|six|seven|eight|nine|ten
          |eleven|twelve|thirteen|eighteen)\b
      | (?:works?|studies|study)[ ](?:as|at|for|in|from)\b | go(?:es)?[ ]to[ ](?!bed|the|sleep)
      | (?:starts?|started)[ ](?:school|kindergarten|nursery|pre-?school|college|university
          |day[ ]?care|first[ ]grade)
      | (?:got|was|were)[ ](?:married|divorced|engaged|born|diagnosed|laid[ ]off|promoted)
      | (?:moved|relocated)[ ](?:to|in|back|out) | retired\b | graduated\b | passed[ ]away | died\b
      | (?:can't|cannot|can[ ]not|doesn't|don't|won't)[ ](?:eat|drink|like|tolerate|stand|have)\b
      | (?:loves?|hates?|likes?|plays|speaks?)[ ](?!(?:it|this|that|the|you|them)\b)\w
    )""",
    re.VERBOSE,
)
"""What happened to those close to somebody, and what they do and like."""
