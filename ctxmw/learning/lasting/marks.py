"""The marks of an English sentence: its grammar as far as short words and endings show it.

Nearly everything that tells "I play the cello" from "I played the second level" is in the words
that every text has: the person, the tense, the article, the adverb of time. Words that examples
have often stand for themselves, all others for their kind: a relative, a day, a past tense. Beside
them stands the bare frame of a sentence, in which only short words are told apart: "the <word> on
<word> # <s> the" is the frame of many things that are said of a house or an office.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from itertools import pairwise

from ...text.lexicon import STOP_WORDS

MOST_WORDS = 40
"""Words of a sentence that are looked at."""
_SPELLED = (
    ("\u2019", "'"), ("won't", "will not"), ("can't", "can not"), ("cannot", "can not"),
    ("n't", " not"), ("i'm", "i am"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"),
    ("'d", " would"),
)  # fmt: skip
_SHORT = {
    "im": "i am", "ive": "i have", "dont": "do not", "cant": "can not", "doesnt": "does not",
    "id": "i would", "ill": "i will", "wont": "will not", "didnt": "did not", "isnt": "is not",
}  # fmt: skip
_WORD = re.compile(r"[a-z\u00c0-\u024f][a-z\u00c0-\u024f'-]*|\d[\d.,:/]*|[,;:!?]")
_KIN = frozenset(
    "wife husband partner girlfriend boyfriend fianc\u00e9 fianc\u00e9e spouse son sons daughter"
    " daughters kid kids child children baby mother father mum mom dad parents brother sister"
    " brothers sisters grandma grandpa grandmother grandfather grandparents uncle aunt cousin niece"
    " nephew family dog dogs cat cats pet pets roommate flatmate eldest youngest oldest in-laws"
    " mother-in-law father-in-law brother-in-law sister-in-law twins folks".split()
)
_DAY = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday january february march april june"
    " july august september october november december".split()
)
_DAYS = frozenset(f"{day}s" for day in _DAY)
_PAST = frozenset(
    "had went saw did came took was were knew thought met felt said heard been ate got made found"
    " lost bought sent wrote told left ran began kept gave spent woke drove won fell stood sat"
    " spoke slept paid broke chose forgot grew held led rode rang sang sold threw wore brought"
    " caught taught fought built".split()
)
_OFTEN = frozenset(
    "always usually often never rarely seldom normally sometimes mostly mainly generally typically"
    " hardly regularly occasionally frequently".split()
)
_CLASSES = (
    ("often", _OFTEN),
    ("moment", frozenset(
        "today tonight tomorrow yesterday now currently just already yet still soon later ago last"
        " next recently lately finally".split()
    )),
    ("every", _DAYS | {"every"}),
    ("kin", _KIN),
    ("you", frozenset({"you", "your"})),
    ("points", frozenset("this that these those it them".split())),
    ("mine", frozenset("i my me we our us".split())),
    ("theirs", frozenset("she he they her his their him".split())),
)  # fmt: skip
_LEADS = frozenset(
    "so well and but also oh ok okay yes yeah hi hey hello honestly personally btw fyi actually"
    " plus anyway ,".split()
)
_BEFORE_VERB = _OFTEN | frozenset(
    "do really just also still would can will could have am are only much".split()
)
_SHORT_WORDS = STOP_WORDS | frozenset(
    "i my me we our us mine you your he she they it his her their its this that these those the a"
    " an and or but so because if when while since as of in on at for to from by with without about"
    " into over under after before not no never always only is are was were am be been being have"
    " has had do does did can could will would should must may might there here who what which"
    " where how why all every each any some nobody everyone everything nothing please".split()
)
"""Words that tell how a sentence is built, and not what it is about."""
NAMED_KINDS = _KIN | _DAY | _DAYS
"""Words that always stand for their kind."""


def spoken_words(text: str) -> list[str]:
    """Return the words of a sentence in full ("I'm" is two), without what only leads up to it."""
    plain = text[: 20 * MOST_WORDS].lower()
    for short, spelled in _SPELLED:
        plain = plain.replace(short, spelled)
    words = [part for word in _WORD.findall(plain) for part in _SHORT.get(word, word).split()]
    start = 0
    while start < len(words) - 2 and words[start] in _LEADS:
        start += 1
    return words[start : start + MOST_WORDS]


def marks_of(text: str, words: Sequence[str], known: Collection[str]) -> set[str]:
    """Return the marks of a sentence; `known` are the words that stand for themselves."""
    kinds = [_kind_of(word, known) for word in words]
    marks = {"any", f"length {min(len(words) // 3, 6)}", f"ends {text.rstrip()[-1:]}"}
    marks |= {name for name, those in _CLASSES if not those.isdisjoint(words)}
    marks |= {f"has {kind}" for kind in kinds}
    marks |= {f"has {one} {two}" for one, two in pairwise(kinds)}
    marks |= {f"first {' '.join(kinds[:3])}", f"last {' '.join(kinds[-2:])}"}
    marks |= {f"last {kind}" for kind in kinds[-1:]}
    return marks | set(_of_verb(words, kinds)) | set(_of_frame(words)) | set(_of_writing(text))


def _of_frame(words: Sequence[str]) -> Iterator[str]:
    """Yield marks of the sentence with nothing but its short words told apart."""
    bare = [word if word in _SHORT_WORDS else _kind_of(word, ()) for word in words]
    yield from (f"frame {' '.join(bare[:n])}" for n in (2, 3, 4, 5))
    yield from (f"in {' '.join(three)}" for three in zip(bare, bare[1:], bare[2:], strict=False))
    yield f"end {' '.join(bare[-3:])}"


def _of_writing(text: str) -> Iterator[str]:
    """Yield marks of how it is written: what lasts is of somebody, or something, with a name."""
    yield "capital" if text[:1].isupper() else "small"
    if names := len(_NAME.findall(text)):
        yield "name"
        yield f"names {min(names, 3)}"
    if _NAME_FIRST.match(text):
        yield "name first"
    if _DIGIT.search(text):
        yield "digits"
    if _QUOTE.search(text):
        yield "quotes"


_NAME = re.compile(r"(?<=[a-z,;:'] )[A-Z][a-z]+")
_NAME_FIRST = re.compile(r"[A-Z][a-z]+(?: (?:is|has|was|does|wants|needs)|'s) ")
_DIGIT = re.compile(r"\d")
_QUOTE = re.compile(r"[\"\u201c`\u00a4]")


def _kind_of(word: str, known: Collection[str]) -> str:
    if word in known:
        return word
    if word[0].isdigit():
        return "#"
    for kind, those in (("<kin>", _KIN), ("<day>", _DAY), ("<days>", _DAYS), ("<ed>", _PAST)):
        if word in those:
            return kind
    for ending, least in (("ed", 5), ("ing", 6), ("ly", 2), ("s", 4)):
        if word.endswith(ending) and len(word) >= least and not word.endswith("ss"):
            return f"<{ending}>"
    return "<word>"


def _of_verb(words: Sequence[str], kinds: Sequence[str]) -> Iterator[str]:
    """Yield marks of the first verb that the speaker is the subject of, and of what follows it."""
    start = next((at for at, word in enumerate(words) if word in ("i", "we")), len(words))
    negated = ""
    for at in range(start + 1, min(start + 6, len(words))):
        word = words[at]
        if word == "not":
            negated = "not "
        elif word not in _BEFORE_VERB and not word.endswith("ly"):
            yield f"does {kinds[at]}"
            yield f"does {negated or 'so '}{kinds[at]}"
            if at + 1 < len(kinds):
                yield f"does {kinds[at]} to {kinds[at + 1]}"
                yield f"object {kinds[at + 1]}"
            return
