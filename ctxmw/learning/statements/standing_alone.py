"""Statements that stand alone: one thing each, and no "them" that only a neighbour explains."""

from __future__ import annotations

import re
from collections.abc import Iterator

_QUOTED = (
    r"(?:'[^'\n]{1,60}'|\"[^\"\n]{1,60}\"|`[^`\n]{1,60}`|\u2018[^\u2019\n]{1,60}\u2019|"
    r"\u201c[^\u201d\n]{1,60}\u201d)"
)
_TWO = re.compile(
    rf"\A(?P<one>.{{0,300}}?{_QUOTED}.{{0,30}}?),? and (?P<two>[^'\"`]*{_QUOTED}.*)", re.DOTALL
)
_VERB = (
    r"(?:start|begin|end|prefix|suffix|name|call|use|include|add|import|put|write|set|mark|wrap|"
    r"finish|"
    r"keep|make|give|show|avoid)"
)
_LEADS_IN = re.compile(r"(?:when(?:ever)?|if|for|as for|in|with)\b[^,]{2,60}, ", re.IGNORECASE)
_ONE_VALUE = re.compile(r"\b(?:from|in|of|into|like|such as|or)\b[^'\"`]{0,25}$", re.IGNORECASE)


def apart(text: str) -> Iterator[str]:
    """Yield the instructions of a sentence one by one, where each gives a quoted value.

    "Start variable names with 'm_' and method names with 'a_'" are two.
    """
    found = _TWO.fullmatch(text)
    verb = re.findall(rf"\b{_VERB}\b", found["one"], re.IGNORECASE) if found else None
    if not found or not verb or _is_one(found["two"]):
        yield text
        return
    first, second = found["one"].rstrip(" ,"), found["two"]
    lead = _LEADS_IN.match(text)
    if not re.match(rf"(?:(?:please|always|also|then) )*{_VERB}\b", second, re.IGNORECASE):
        second = f"{verb[-1].lower()} {second}"
    elif subject := named_in(first):
        second = re.sub(r"\b(?:it|them|theirs?|the names?)\b", subject, second, count=1)
    yield f"{first}."
    second = f"{lead[0]}{second}" if lead else second
    yield from apart(second[:1].upper() + second[1:])


def _is_one(rest: str) -> bool:
    """Say whether what follows "and" only goes on with the same value."""
    before = re.split(_QUOTED, rest, maxsplit=1)[0]
    return bool(_ONE_VALUE.search(before)) or len(before.split()) > 12


_PRONOUN = re.compile(r"\b(?:them|they|it)\b", re.IGNORECASE)
_NO_NOUN = frozenset(
    "always this is was has his its us as yes thus perhaps sometimes towards thanks does goes"
    " lets makes"
    " means needs wants says improves helps keeps ensures these things ways others examples"
    " tasks steps"
    " guidelines practices conventions standards changes updates projects questions years days"
    " weeks"
    " months details basics ideas thoughts points".split()
)
_KINDS = re.compile(r"\b((?:(?:[a-z-]{1,30} ){1,2})?[a-z-]{3,30}s)\b")
_BEFORE_NOUN = frozenset(
    "for of about your our the all naming use using with name these those any to on in and or a"
    " an as"
    " new some more my their every each is are be that which when start end write".split()
)


def standing_alone(text: str, before: str) -> str | None:
    """Return a statement with what its pronoun stands for, told in the sentence before.

    None when it cannot stand alone: nothing says what is meant.
    """
    text = _named_before(text, before)
    found = next((one for one in _PRONOUN.finditer(text) if _is_object(text, one)), None)
    if not found or _explained(text[: found.start()]):
        return text
    if found[0].lower() == "it":
        return text if _OF_ANSWERS.match(text) else None
    subject = named_in(before)
    return f"{text[: found.start()]}{subject}{text[found.end() :]}" if subject else None


# What is kept short is whatever is answered.
_OF_ANSWERS = re.compile(
    r"(?:please )?(?:(?:always|just) )?(?:keep it (?:short|brief|simple|concise|plain|formal|"
    r"informal|casual|under|below|to)\b|explain it (?:like|as if)\b)",
    re.IGNORECASE,
)
_THIS = re.compile(r"\bthis (\w{3,30})\b", re.IGNORECASE)


def _named_before(text: str, before: str) -> str:
    """Return a statement with the value of "this string", where the sentence before gives it."""
    for found in _THIS.finditer(text):
        given = re.search(rf"\b{re.escape(found[1])} (?:is|will be) ({_QUOTED})", before)
        if given:
            return f"{text[: found.start()]}the {found[1]} {given[1]}{text[found.end() :]}"
    return text


_OWN_CLAUSE = re.compile(r"\A(?:i|i'm|i\u2019m|my|we|our)\b.*\w(?:,| and\b| that\b)", re.I | re.S)


def _explained(before: str) -> bool:
    """Say whether what the pronoun stands for is named earlier in the sentence."""
    if _OWN_CLAUSE.match(before):
        return True  # "I'm single and happy with it"
    nouns = [word for word in re.findall(r"[a-z-]{3,}", before.lower()) if word not in _NO_NOUN]
    return any(word.endswith("s") and not word.endswith("ss") for word in nouns) or len(nouns) > 6


_EARLY = 5
_NO_VERB = frozenset(
    "when if that and but so because since as while until unless whether make".split()
)


def _is_object(text: str, found: re.Match[str]) -> bool:
    """Say whether an instruction is about the pronoun: "start them with", "stop using it"."""
    before = text[: found.start()].split()
    after = text[found.end() :].lstrip()
    if not 0 < len(before) <= _EARLY or before[-1].lower().strip(",") in _NO_VERB:
        return False
    return not re.match(r"(?:when|if|that|to\b|is|'s|takes)", after)


def named_in(text: str) -> str:
    """Return the last kind of thing that a text names, such as "function argument names"."""
    for found in reversed(list(_KINDS.finditer(text.lower()))):
        words = found[1].split()
        if words[-1] in _NO_NOUN or words[-1].endswith("ss"):
            continue
        while len(words) > 1 and (words[0] in _BEFORE_NOUN or words[0].endswith(("ing", "s"))):
            words.pop(0)
        return " ".join(words)
    return ""
