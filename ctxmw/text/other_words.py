"""What people say for what a tool is called: "mail" is email, "PR" a pull request, "#x" a channel.

Tools are named in the words of their trade, and asked for in everyday ones. A model of meaning
bridges that; without one, this table of the commonest does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from .cleaning import words
from .patterns.late import late_pattern
from .terms import stem

_SAID_FOR = {
    # What is done
    "create": "add make new open write raise start register book set",
    "search": "find look locate seek lookup",
    "find": "search look locate",
    "list": "show display enumerate",
    "get": "show fetch retrieve read give bring check look",
    "read": "open show view display load",
    "view": "show look open",
    "write": "save store create",
    "send": "forward deliver share pass write",
    "post": "announce share publish write send tell",
    "reply": "answer respond",
    "respond": "answer reply accept decline",
    "update": "change edit move modify postpone reschedule adjust correct rename",
    "modify": "change edit update adjust",
    "edit": "change replace fix modify update correct rewrite insert",
    "delete": "remove erase cancel drop clear trash discard",
    "cancel": "stop end quit terminate abort unsubscribe",
    "move": "rename transfer relocate",
    "copy": "duplicate clone",
    "merge": "join combine",
    "schedule": "plan remind book",
    "download": "save fetch",
    "upload": "attach",
    "run": "execute start launch trigger",
    "execute": "run",
    "convert": "turn transform",
    "calculate": "compute total sum count",
    "summarize": "summary brief",
    "compare": "difference versus",
    "book": "reserve reservation",
    "track": "follow",
    "play": "listen",
    "refund": "reimburse return repay",
    "assign": "delegate",
    "close": "resolve finish",
    "accept": "approve agree",
    "decline": "refuse reject",
    "backup": "dump",
    # What it is done with
    "email": "mail inbox",
    "message": "chat text note announcement",
    "channel": "room group",
    "thread": "conversation discussion",
    "reaction": "emoji",
    "user": "person member people",
    "event": "meeting appointment call calendar",
    "calendar": "schedule agenda meeting appointment",
    "invitation": "invite",
    "attendee": "guest participant",
    "slot": "available",
    "free": "available",
    "reminder": "remind alarm",
    "task": "todo chore",
    "note": "memo",
    "file": "document script",
    "directory": "folder dir",
    "folder": "directory dir",
    "tree": "hierarchy structure",
    "info": "detail about",
    "attachment": "attached",
    "issue": "bug ticket defect problem",
    "ticket": "bug issue problem",
    "pull request": "pr",
    "commit": "push change",
    "repository": "repo project codebase",
    "code": "codebase source",
    "diff": "change difference",
    "workflow": "build pipeline",
    "deployment": "release deploy rollout",
    "database": "db sql",
    "query": "sql select",
    "connection": "connected",
    "customer": "client buyer",
    "invoice": "bill unpaid",
    "payment": "pay paid money charge",
    "charge": "charged paid",
    "coupon": "discount voucher",
    "subscription": "plan membership",
    "dispute": "chargeback complaint",
    "price": "cost expensive cheap",
    "order": "purchase bought",
    "place": "restaurant cafe shop hotel nearby",
    "restaurant": "eat dinner lunch food",
    "direction": "route way drive walk train bus",
    "route": "way direction drive",
    "distance": "far",
    "address": "street",
    "weather": "rain sunny temperature forecast",
    "forecast": "weather",
    "flight": "fly plane airline",
    "hotel": "stay accommodation",
    "news": "headline article",
    "stock": "share market ticker",
    "currency": "euro dollar exchange",
    "song": "music track",
    "playlist": "music song",
    "image": "picture photo",
    "video": "clip film movie",
    "web": "internet online website",
    "page": "site website",
    "document": "doc paper report",
    "spreadsheet": "sheet excel",
    "contact": "phone",
}
_SHAPES = (
    (late_pattern(r"[\w-]\.[a-z]{2,5}\b(?![@\w])|\S/\S{1,200}\.\w"), ("file",)),
    (late_pattern(r"\B#[a-z][\w-]*"), ("channel", "message")),
    (late_pattern(r"\B@\w+"), ("user",)),
    (late_pattern(r"\S@[^\s@]{1,200}\.\w"), ("email", "send")),
    (late_pattern(r"\bhttps?://"), ("url", "web", "page", "fetch")),
    (late_pattern(r"\b(?:mon|tues|wednes|thurs|fri|satur|sun)day\b", re.I), ("event", "calendar")),
    (late_pattern(r"\b\d{1,2}(?::\d\d)? ?(?:am|pm)\b", re.I), ("time",)),
    (late_pattern(r"[€$£]\s?\d|\b\d+ ?(?:euros?|dollars?|usd|eur)\b", re.I), ("payment", "amount")),
    (late_pattern(r"\d ?%|\bper ?cent\b", re.I), ("percent", "percentage")),
    (late_pattern(r"\b(?:PR|MR) ?#?\d+"), ("pull", "request")),
    (late_pattern(r"\b(?:SELECT|INSERT|UPDATE|DELETE)\b"), ("query", "sql")),
)
"""What something looks like, and what tools call it."""


def other_words(text: str) -> frozenset[str]:
    """Return the stems of what tools may call the things that a text speaks of."""
    said = {stem(word) for word in words(text)}
    found = {term for word in said for term in _TERMS_FOR.get(word, ())}
    for shape, terms in _SHAPES:
        if shape.search(text):
            found.update(map(stem, terms))
    return frozenset(found - said)


def _turned(said_for: Iterable[tuple[str, str]]) -> dict[str, frozenset[str]]:
    """Return the table the other way round: what is said, with what tools call it."""
    found: dict[str, set[str]] = {}
    for called, said in said_for:
        for word in said.split():
            found.setdefault(stem(word), set()).update(map(stem, called.split()))
    return {word: frozenset(terms) for word, terms in found.items()}


_TERMS_FOR = _turned(_SAID_FOR.items())

EVERYDAY = frozenset(
    stem(word)
    for word in """
    get make take list find search show see look read write create add change update move send
    open close run set put give tell say ask call start stop end use need want help work plan
    point option detail data one two three new now time day week month year first last next
    other same different part place thing way idea question answer example line page number type
    kind name title text word between without before after direct drive describe explain result
    return several existing specific information content complete view edit access people user
    period state status history recent current available public shared location local match
    pattern size form level share base post reply message issue request label column profile
    schema table price quantity amount quick fully free key phone later execute info difference
    creation percent step paid execution
    """.split()
)
"""What is said of tools and of everything else: none of these alone tells that a tool is meant."""
