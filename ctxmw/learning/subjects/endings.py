"""What a sentence says to be over: "we traded the Volvo in", "Dr. Engel retired", "I'm off keto".

Some words end what follows them, some what stands before them. What they end reaches as far as the
clause, and is told as stems, to be found in what was said earlier.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import MappingProxyType

from ...text.terms import content_terms
from .forms import NOT_ABOUT

_ENDS_WHAT_FOLLOWS = """
gave up|given up|giving up|gave up on|given up on|quit|quitting|stop|stopped|can stop|cancelled
canceled|ditched|sold|got rid of|getting rid of|traded|traded in|trading in|swapped|replaced
dumped|dropped out of|broke up with|split up with|split with|separated from|divorced from
parted with|parted ways with|no more|say goodbye to|said goodbye to|am off|are off|is off
came off|went off|got off|me off|us off|lost interest in|fell out of love with|grew out of
grown out of|outgrew|outgrown|got over|gotten over|done with|through with|finished with
moved away from|moving away from|switched from|switched over from|switching from
pivoted from|pivoting from|switched away from|moved from|moving from|migrated from
migrating from|changed from
changing from|went from|have not touched|not touched|tired of|sick of|fed up with|used to be
used to have|used to use|used to live in|used to work|used to say|used to love|used to like
used to|forget|forget about|ignore|disregard|scrap|forget what i said about
ignore what i said about|no longer|instead of|rather than|no need for|no need to
unsubscribed from|uninstalled|deleted|put down|have dropped|walked away from|turned my back on
let go of|withdrew from|pulled out of|backed out of|resigned from|retired from|left behind
"""
_TO_END = """
switch from|switch over from|switch away from|move away from|migrate from|change from|pivot from
give up|give up on|ditch|sell|cancel|get rid of|quit|drop|drop out of|break up with|leave|stop
replace|say goodbye to|put down|part with
"""
"""What ends something once it is decided, or about to be."""
_SETTLED = frozenset("decided going had have about".split())
_MAY_END_WHAT_FOLLOWS = "dropped left lost returned broke skipped gave finished".split()
"""Of these an ending is told only together with what begins."""
_ENDS_WHAT_PRECEDES = """
left|died|passed away|moved out|moved in with|retired|split up|broke up|closed down|shut down
is over|are over|was over|is history|are history|is gone|are gone|is no more|was a misdiagnosis
were a misdiagnosis|was misdiagnosed|is behind me|ended|fell apart|run out|ran out|expired
disbanded|fell through|is off|was called off|got cancelled|was cancelled|went bankrupt|is dead
is done|has gone|was wrong|was a mistake|is a thing of the past|got too expensive
became too expensive|have separated|got divorced|is cured|was stolen|got stolen
was totalled|got totalled|broke down for good|broke down for the last time|is beyond repair
gave up the ghost|did not work for me|did not work out|was not for me|is not for me
"""
_MOVES = frozenset("moved switched migrated changed went moving switching migrating".split())
_BEGINS = frozenset(
    "bought got now instead since training started joined switched new these nowadays use using"
    " went signed doing studying working picked".split()
)
_STOPS = frozenset(
    ", ; : . ! and so because but for to in with at since before after when while last next from"
    " until if that which who over here there though although again now today yesterday".split()
)
_STOPS_BACK = frozenset(", ; : . ! so but because since when while".split())
_NO = frozenset("not never no".split())
_NOPE = frozenset("no nope nah well".split())
_MORE_THAN = frozenset("just another only merely even including because that how".split())
_FOR_THE_MOMENT = frozenset("for right just by".split())
_ANY_LONGER = (("any", "longer"), ("any", "more"), ("anymore",))
_WORD = re.compile(r"[^\W_][\w'+#./-]*|[,;:!]")
_SPELLED = (
    ("\u2019", "'"), ("won't", "will not"), ("can't", "can not"), ("cannot", "can not"),
    ("n't", " not"), ("i'm", "i am"), ("'re", " are"), ("'ve", " have"), ("'ll", " will"),
)  # fmt: skip


def plain_words(text: str) -> list[str]:
    """Return the words of a sentence in lower case and in full, and its commas."""
    plain = text.lower()
    for short, spelled in _SPELLED:
        plain = plain.replace(short, spelled)
    return [word.rstrip("./'-") for word in _WORD.findall(plain)]


def ended_in(words: Sequence[str]) -> frozenset[str]:
    """Return the stems of what a sentence says to be over."""
    named = " ".join(" ".join(part) for part in _ended(words))
    return frozenset(term for term in content_terms(named) if term not in NOT_ABOUT)


def _ended(words: Sequence[str]) -> Iterator[Sequence[str]]:
    begins = not _BEGINS.isdisjoint(words)
    for at, word in enumerate(words):
        found = _longest(_FOLLOWED, words, at)
        if not found and _is_settled(words, at):
            found = _longest(_TO_BE_OVER, words, at)
        if found:
            yield _after(words, at + found)
        elif begins and word in _MAY_END_WHAT_FOLLOWS:
            yield _after(words, at + 1)
        if (end := _longest(_PRECEDED, words, at)) and _ends_there(words, at, at + end):
            yield _before(words, at)
        if any(tuple(words[at : at + len(form)]) == form for form in _ANY_LONGER):
            before = _before(words, at)
            no = max((place for place, one in enumerate(before) if one in _NO), default=-1)
            yield before[no + 1 :] if no >= 0 else ()
        # "Centimetres please, not inches", and not "Nope, not a new game".
        if word == "not" and at > 1 and words[at - 1] == "," and words[0] not in _NOPE:
            named = _after(words, at + 1)
            yield () if not _MORE_THAN.isdisjoint(named[:1]) else named
        if word == "from" and not _MOVES.isdisjoint(words[max(0, at - 4) : at]):
            yield _after(words, at + 1)


def _is_settled(words: Sequence[str], at: int) -> bool:
    """Say whether a verb tells what is decided: "I'm going to switch"."""
    before = words[max(0, at - 2) : at]
    return before[-1:] == ["will"] or (before[-1:] == ["to"] and before[0] in _SETTLED)


def _ends_there(words: Sequence[str], at: int, end: int) -> bool:
    """Say whether nothing goes on where something "is over": not "over two hours".

    What is over is named in a few words.
    """
    over = words[end - 1] == "with" or _ends_clause(words, end)
    return over and len(content_terms(" ".join(_before(words, at)))) <= _FEW


_FEW = 4


def _after(words: Sequence[str], at: int) -> Sequence[str]:
    end = next((place for place in range(at, len(words)) if words[place] in _STOPS), len(words))
    return words[at:end]


def _before(words: Sequence[str], at: int) -> Sequence[str]:
    start = next((place for place in range(at - 1, -1, -1) if words[place] in _STOPS_BACK), -1)
    return words[start + 1 : at]


_Forms = Mapping[str, Sequence[tuple[str, ...]]]


def _forms(text: str) -> _Forms:
    found: dict[str, list[tuple[str, ...]]] = {}
    for phrase in text.strip().replace("\n", "|").split("|"):
        parts = tuple(phrase.split())
        found.setdefault(parts[0], []).append(parts)
    return MappingProxyType(
        {first: sorted(those, key=len, reverse=True) for first, those in found.items()}
    )


_FOLLOWED, _PRECEDED = _forms(_ENDS_WHAT_FOLLOWS), _forms(_ENDS_WHAT_PRECEDES)
_TO_BE_OVER = _forms(_TO_END)


def _longest(forms: _Forms, words: Sequence[str], at: int) -> int:
    """Return how many words from here on are one of the forms; 0 where they are none."""
    for form in forms.get(words[at], ()):
        if tuple(words[at : at + len(form)]) == form:
            return len(form)
    return 0


_CHANGES = _forms("""
now|these days|nowadays|no longer|any longer|anymore|instead|actually|switched
switching|moved|gave up|given up|gave in|given in|quit|stopped|changed|has changed|as of|updated
update|back to|back on|after all|again|turns out|turned out|turned into|turned to|went up to
went down to|gone over to|went over to|gone up to|come round to|come around to|come to like
come to love|came to like|became|have become|used to|got used to
gotten used to|traded|swapped|replaced|got over
gotten over|said goodbye to|say goodbye to|from here on|bought|got a new|got an|upgraded
went with|fell in love with|grown to like|grown to love|lost interest in|took the job|started
have started|got rid of|sold|ditched|dropped|dropped out|am off|are off|have left|left my
for good|until recently|in the meantime|all new|took up|taken up|graduated|retired|promoted
got married
""")
_SINCE = frozenset(
    "january february march april may june july august september october november december monday"
    " tuesday wednesday thursday friday saturday sunday new last this spring summer autumn winter"
    " easter christmas recently then yesterday".split()
)
_ADDS = frozenset("also too besides another additionally second either extra additional".split())


def says_it_changed(words: Sequence[str]) -> bool:
    """Say whether a sentence tells that something is otherwise than before."""
    if adds(words):
        return False
    for at, word in enumerate(words):
        following = words[at + 1] if at + 1 < len(words) else ""
        since = word == "since" and following in _SINCE
        # "Any more questions" are none of it.
        more = (word, following) == ("any", "more") and _ends_clause(words, at + 2)
        if word == "now" and at and words[at - 1] in _FOR_THE_MOMENT:
            continue
        if since or more or _longest(_CHANGES, words, at):
            return True
    return False


def _ends_clause(words: Sequence[str], at: int) -> bool:
    return at >= len(words) or words[at] in _STOPS


def adds(words: Sequence[str]) -> bool:
    """Say whether a sentence puts something beside what there is."""
    # "Also, I got promoted" adds to what is said, not to what is so.
    said = [
        word
        for at, word in enumerate(words)
        if word != "also" or (at and words[at + 1 : at + 2] not in _HAPPENED)
    ]
    return not _ADDS.isdisjoint(said) or "as well" in " ".join(said)


_HAPPENED = [
    [word] for word in "decided got switched switching moved moving quit stopped sold left".split()
]


def shares(named: Collection[str], core: Collection[str]) -> bool:
    """Say whether what is over is what something is about, or a good part of that."""
    both = set(named) & set(core)
    return bool(both) and 3 * len(both) >= len(set(core))
