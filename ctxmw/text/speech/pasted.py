"""Pasted text that has no end: mails, chats, prompts, files and pages in somebody's message.

Each rule looks for what such a text has and speech has not, and says at which line it begins. One
sign that people also use, such as a name before a colon, has to come twice.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

from ..patterns.late import late_pattern
from .referred import GONE, first_referred

CLOCK = r"\d{1,2}[:.]\d\d(?:[:.]\d\d)?(?:[.,]\d{1,9})?[ \u202f]?(?:[ap]\.?m\.?)?"
DAY = r"(?:\d{4}-\d\d-\d\d|\d{1,2}[./]\d{1,2}[./]\d{2,4})"


def first_pasted(lines: Sequence[str]) -> int:
    """Return from which line on nothing is the speaker's."""
    rules = _RULES if len(lines) > 1 else _OF_ONE_LINE
    return min((at for rule in rules if (at := rule(lines)) is not None), default=len(lines))


_KEY = late_pattern(
    r"[ \t]{0,40}(?:\*\*)?([A-Za-zÀ-ž\u4e00-\u9fff][\w -]{0,30}?)(?:\*\*)?[ \t]?[:\uff1a](?:[ \t]|$)"
)
_ABOUT = frozenset(
    # of mails, in some languages
    "from to cc bcc subject date sent reply-to received message-id von an betreff datum gesendet de"
    " para asunto fecha à objet envoyé 发件人 收件人 主题 日期 差出人 宛先 件名 日時"
    # of tickets, pages, minutes
    " status reporter assignee priority labels created updated attendees participants agenda author"
    " title tags published permalink layout minutes".split()
)


def _headers(lines: Sequence[str]) -> int | None:
    """Return where two lines tell whose a text is: a mail, a ticket, minutes, front matter."""
    known = [
        at
        for at, line in enumerate(lines)
        if (key := _KEY.match(line)) and key[1].strip().lower() in _ABOUT
    ]
    for first, second in pairwise(known):
        if second - first <= 2:
            return max(0, first - 1) if first and lines[first - 1].strip() else first
    return None


_FORWARDED = late_pattern(
    r"[ \t>]{0,40}[-_]{2,80}[ \t]{0,40}(?:forwarded|original|weitergeleitete|urspr\w{1,20}|message transf|mensaje)\b"
    r"|[ \t]{0,40}begin forwarded message",
    re.IGNORECASE,
)
_WROTE = late_pattern(
    r"[ \t]{0,40}(?:on|am|le|el)\b.{0,200}\b(?:wrote|schrieb|a écrit|escribió)\b.{0,80}:[ \t]{0,40}$",
    re.I,
)


def _replies(lines: Sequence[str]) -> int | None:
    for at, line in enumerate(lines):
        if _FORWARDED.match(line):
            return at
        if _WROTE.match(line):
            after = next((one for one in lines[at + 1 :] if one.strip()), "")
            if not after.lstrip().startswith(">"):
                return at
    return None


_ROLE = late_pattern(
    r"[ \t]{0,40}(?:\#{1,6}[ \t]{0,40}|\*\*|\[)?(user|human|assistant|ai|bot|chatgpt|claude|gemini|copilot"
    r"|system|agent|thought|action|action input|observation|final answer|tool|function)"
    r"(?:\*\*|\])?[ \t]{0,40}(?:[:\uff1a]|$)",
    re.IGNORECASE,
)
_TELLING = frozenset({"assistant", "observation", "human", "ai", "action input", "final answer"})
_RESULT = late_pattern(
    r"[ \t]{0,40}[\[(<*]{0,4}(?:tool|function|search|command|query|api|retriev\w{1,20}|web)[ _-]"
    r"?(?:\w{1,30}[ _-])?(?:results?|outputs?|responses?)\b[^.!?\n]{0,60}[:\]]",
    re.IGNORECASE,
)
_TOKEN = late_pattern(r"<\|[\w ]{1,30}\|>|\[/?INST\]|<\|?/?(?:start|end)_of_turn")


def _roles(lines: Sequence[str]) -> int | None:
    """Return where an agent's or a model's transcript begins."""
    spoken: list[tuple[int, str]] = []
    for at, line in enumerate(lines):
        if _TOKEN.search(line) or _RESULT.match(line):
            spoken.append((at, "observation"))
        elif role := _ROLE.match(line):
            spoken.append((at, role[1].lower()))
    roles = {role for _, role in spoken}
    if roles & _TELLING or len(spoken) > 1:
        return spoken[0][0]
    return None


_LABEL = late_pattern(
    r"(?:^|(?<=[\s.?!]))(question|query|context|answer|documents?|sources?|passages?|chat history"
    r"|follow[- ]?up input|standalone question|helpful answer|existing answer)[ \t]?:(?=\s|$)",
    re.IGNORECASE,
)
_MATERIAL = late_pattern(
    r"\b(?:retrieved|following|provided|given) (?:pieces of |retrieved )?(?:context|documents?|"
    r"passages?|information|sources)\b|\bcontext information\b",
    re.IGNORECASE,
)

_MATERIAL_FOLLOWS = re.compile(
    r"[#* ]{0,4}(?:(?:retrieved|relevant|additional) )?(?:context|documents?|sources|passages"
    r"|search results|knowledge)[* ]{0,3}:[* ]{0,3}",
    re.IGNORECASE,
)
"""A first line that says where the rest comes from."""


def _prompts(lines: Sequence[str]) -> int | None:
    """Return where a prompt begins that was made of a question and documents."""
    found = [
        (at, label[1].lower()) for at, line in enumerate(lines) for label in _LABEL.finditer(line)
    ]
    alone = next((at for at, line in enumerate(lines) if line.strip()), None)
    if alone is not None and _MATERIAL_FOLLOWS.fullmatch(lines[alone].strip()):
        return alone
    material = [at for at, line in enumerate(lines) if _MATERIAL.search(line)]
    if len({label for _, label in found}) + len(material[:1]) > 1:
        return min([at for at, _ in found] + material)
    return None


_STAMP = late_pattern(
    rf"\A(?:[ \t]{{0,40}}[\[(]?(?:{DAY}[T,]?[ \t]{{0,40}})?{CLOCK}[\])Z]?(?=[ \t]|$)"
    rf"|[\w .'-]{{1,40}}(?:[ \t]{{2,40}}|[ \t]{{1,40}}[\[(—-][ \t]{{0,40}})"
    rf"(?:{DAY}[, ]{{0,4}}|today at |yesterday at )?{CLOCK}[\])]?[ \t]{{0,40}}$)",
    re.IGNORECASE,
)
_LEVEL = late_pattern(r"\b(?:TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|NOTICE)\b")


def _timed(lines: Sequence[str]) -> int | None:
    """Return where a chat begins whose lines have times; a program's log has levels too."""
    stamped = [at for at, line in enumerate(lines) if _STAMP.match(line)]
    if len(stamped) > 1 and not all(_LEVEL.search(lines[at]) for at in stamped[:2]):
        return stamped[0]
    return None


_NAME = late_pattern(
    r"[ \t]{0,40}(?:\*\*|@|<)?([\w.-]{1,20}(?: [A-Z][\w.-]{0,20}){0,2})(?:\*\*|>)?[:\uff1a][ \t]"
)


def _named(lines: Sequence[str]) -> int | None:
    """Return where people begin to talk: names before lines, of which one comes again."""
    spoken = [(at, name[1].lower()) for at, line in enumerate(lines) if (name := _NAME.match(line))]
    names = [name for _, name in spoken]
    if len(names) > 2 and len(set(names)) > 1 and len(set(names)) < len(names):
        return spoken[0][0]
    return None


_SOURCE = late_pattern(
    r"[ \t]{0,40}(?:\[\d{1,3}\]|\(?(?:source|document|doc|passage|result) \d{1,3}\)?:?)(?=\s|$)",
    re.I,
)
_FILE = late_pattern(
    r"^[ \t]{0,40}(?:=+>[ \t]{0,40}\S+[ \t]{0,40}<=+|(?:file(?:name)?|path)[ \t]?:[ \t]{0,40}\S+"
    r"|(?:\#+[ \t]{0,40}|\*\*|`)?(?:[\w.@-]+/)*[\w@-][\w.@-]*\.[A-Za-z]{1,5}(?:\*\*|`)?:)[ \t]{0,40}$",
    re.IGNORECASE,
)
_SHELL = late_pattern(
    r"[ \t]{0,40}(?:\S{0,60}[$#%\u276f\u279c])[ \t]{1,40}(?:sudo )?(?:cat|less|more|head|tail|curl|wget|bat"
    r"|type|git (?:log|show|diff|blame)|grep|rg|sed|awk|find|ls|tree|man|echo|docker|kubectl|gh)\b"
    r"|>>> \S"
)
_DIFF = late_pattern(r"diff --git |@@ -\d|--- a/|Index: \S+$")


def _files(lines: Sequence[str]) -> int | None:
    """Return where a file is printed: under its name, by a command, as a difference."""
    sources = [at for at, line in enumerate(lines) if _SOURCE.match(line)]
    shown = [
        at
        for at, line in enumerate(lines)
        if _FILE.match(line) or _SHELL.match(line) or _DIFF.match(line)
    ]
    return min([*shown, *(sources if len(sources) > 1 else ())], default=None)


_PAGE = late_pattern(
    r"skip to (?:main )?content|\b\d+ min(?:ute)? read\b|^by [A-Z]\w+ [A-Z]\w+"
    r"|^share (?:this|on)\b|^(?:related|popular|recent) (?:articles|posts)\b|all rights reserved"
    r"|^\s*(?:©|copyright)|cookie (?:policy|settings)|^subscribe\b|sign (?:in|up)$"
    r"|^\w+(?: [|\xb7\u2022\u203a\xbb] \w[\w ]*){2,}$"
    r"|^\s*https?://\S+\s*$|^posted (?:by|on)\b"
    r"|^(?:published|updated) (?:on )?\w+ \d|^advertisement$",
    re.IGNORECASE,
)
_MANUAL = late_pattern(
    r"^\s*(?:\[!\[|\#{1,3} (?:installation|usage|license|contributing|getting started|quick ?start|"
    r"features|requirements|changelog|documentation|table of contents|faq|authors?)\b)",
    re.IGNORECASE,
)
_OURS = late_pattern(
    r"^\s*#{1,2} (?:universal rules|recent sessions|language rules"
    r"|project (?:rules|decisions|context)|rules for (?:ai )?agents?"
    r"|agent (?:rules|instructions)|system prompt|instructions for .{0,30}"
    r"(?:agents?|assistants?|claude|copilot))",
    re.IGNORECASE,
)


def _pages(lines: Sequence[str]) -> int | None:
    """Return where a page, a manual or a memory's own text begins."""
    found = [at for at, line in enumerate(lines) if _PAGE.search(line)]
    manual = [at for at, line in enumerate(lines) if _MANUAL.match(line)]
    ours = [at for at, line in enumerate(lines) if _OURS.match(line)]
    begun = ours[:1]
    if len(found) > 1:
        begun.append(found[0])
    if len(manual) > 1:
        titles = [at for at in range(manual[0]) if lines[at].startswith("# ")]
        begun.append(min([*titles, manual[0]]))
    return min(begun, default=None)


_COUNTED = late_pattern(r"\d|[\u2605\u2606\xb7\u2022]|@\w")
_BULLET = late_pattern(r"[-#>+]|[*\u2022](?=\s)|\d{1,9}[.)](?=\s)")
_TIMED = late_pattern(rf"\b(?:ago|{CLOCK})(?!\w)|^\d+[smhdwy]\b|[\xb7\u2022|]")
_STRONG = late_pattern(
    r"\bago\b|[\xb7\u2022|\u2605\u2606]|@\w|[\[(][^\])\d]{0,80}\d[^\])]{0,80}[\])]"
)
_WORDS = late_pattern(r"[^\W\d_][\w'-]*")
_AROUND = frozenset(
    "a added ago am and answer answers asked at by comment commented comments day days edited found"
    " from helpful hour hours in last like likes min minutes modified month months of on out page"
    " people pm points posted published read replied replies reply retweets reviewed said sent"
    " share shared star stars this time times today updated viewed views vote votes week weeks"
    " wrote year years yesterday k m".split()
)
"""Words of lines that stand around a text: who published it, when, how many liked it."""
_SIGNED = late_pattern(
    r"[ \t]{0,40}(?:sent from my |get outlook for |von meinem |envoyé de mon )", re.I
)
_LONGEST_LINE = 80


def _furniture(lines: Sequence[str]) -> int | None:
    """Return where a text begins that has lines around it which nobody says: names and figures."""
    if sum(bool(line.strip()) for line in lines) < 2:
        return None
    found: list[int] = []
    for at, line in enumerate(lines):
        if _SIGNED.match(line):
            # It stands below what was sent, and the speaker before that.
            return next((n for n in range(at) if not lines[n].strip()), at)
        if _is_furniture(line):
            found.append(at)
            # People write "Meeting at 10:30" too, but once.
            if len(found) > 1 or _STRONG.search(line) or len(_WORDS.findall(line)) > 3:
                return found[0]
    return None


def _is_furniture(line: str) -> bool:
    line = line.strip()
    if not line or len(line) > _LONGEST_LINE or _BULLET.match(line) or line[-1] in ".!?:":
        return False
    words = _WORDS.findall(line)
    named = [word for word in words if word.lower() not in _AROUND]
    figures = _COUNTED.search(line) is not None and len(words) > 1
    unknown = [word for word in named if not word[0].isupper()]
    # A handle stands in lower case beside a time.
    return figures and len(unknown) <= (1 if _TIMED.search(line) and len(words) < 8 else 0)


_RULE = late_pattern(r"^[ \t]{0,40}([-=_*~])\1{2,}[ \t]{0,40}$")
_TEXT = (
    r"(?:e-?mails?|mails?|letters?|messages?|texts?|articles?|posts?|paragraphs?|essays?|documents?|"
    r"pages?|transcripts?|minutes|notes?|stor(?:y|ies)|poems?|excerpts?|passages?|threads?|chats?|"
    r"conversations?|reviews?|speech|abstract|quote|comments?|ticket|report|section|chapter)"
)
_HANDED_OVER = late_pattern(
    rf"\b(?:(?:translate|summari[sz]e|proofread|rewrite|rephrase|paraphrase|shorten|polish|correct"
    rf"|reply to|respond to|answer|sum up|condense|review|explain|clean up|improve|edit|check)\b"
    rf"[^.!?\n]{{0,40}}\b(?<!like )(?:this|these|the following|below)(?: {_TEXT})?"
    rf"|\b{_TEXT} (?:below|above|here)|\bthe following {_TEXT}|\bis below|\bsee below"
    r"|\b(?:thoughts|opinion|feedback|think|take)\b[^.!?\n]{0,30}\b(?:this|these))\b"
    r"[^.!?:\n]{0,40}[.!?:]?[ \t]{0,40}$",
    re.IGNORECASE,
)
_SALUTATION = late_pattern(
    r"[ \t]{0,40}(?:dear|sehr geehrte\w*|liebe[rs]?|cher|chère|estimad[oa])\b[^.!?\n]{0,60},[ \t]{0,40}$",
    re.I,
)


def _handed_over(lines: Sequence[str]) -> int | None:
    """Return where a text begins that was announced, or a letter."""
    for at, line in enumerate(lines):
        if at and _SALUTATION.match(line) and any(one.strip() for one in lines[:at]):
            return at
        if _HANDED_OVER.search(line):
            after = next((n for n in range(at + 1, len(lines)) if lines[n].strip()), None)
            # What is enclosed has come, and the speaker goes on behind it.
            if after is not None and not _is_enclosed(lines[after]):
                ruled = _RULE.match(lines[after])
                if ruled or after > at + 1 or _TEXTS.search(line):
                    return after
    return None


_TEXTS = late_pattern(rf"\b{_TEXT}\b", re.IGNORECASE)


def _is_enclosed(line: str) -> bool:
    return GONE in line or line.lstrip().startswith(">")


_FRONT = late_pattern(r"---[ \t]{0,40}$")


def _front_matter(lines: Sequence[str]) -> int | None:
    first = next((at for at, line in enumerate(lines) if line.strip()), None)
    if first is None or not _FRONT.match(lines[first]):
        return None
    until = next((at for at in range(first + 1, len(lines)) if _FRONT.match(lines[at])), None)
    within = lines[first + 1 : until] if until is not None else ()
    return first if within and all(_KEY.match(line) for line in within if line.strip()) else None


_Rule = Callable[[Sequence[str]], int | None]
_OF_ONE_LINE: tuple[_Rule, ...] = (_replies, _roles, _prompts, _files, _pages, first_referred)
OF_SEVERAL_LINES: tuple[_Rule, ...] = (
    _headers,
    _timed,
    _named,
    _furniture,
    _handed_over,
    _front_matter,
)
"""Rules that look for what comes in two lines at least, and find nothing in one."""
_RULES = (*_OF_ONE_LINE, *OF_SEVERAL_LINES)
