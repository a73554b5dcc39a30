"""What an agent's tool calls tell: which files it changed, what it looked up, what failed.

The title is in words of ours and of whoever asked; a tool's own words are capped, and whatever
carries them is marked as a stranger's. Tools that only repeat our memory tell nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from ..text.cleaning import clean, one_line
from ..text.failures import failure_in, failure_key
from ..text.names import names_a_file, names_in
from ..text.prose import sentences
from ..text.secrets.redaction import redact, redact_values
from ..values.items import Trust
from ..values.messages import Message, calls_of, message_text, said_text
from ..values.records import ObservationKind
from .learner import OUR_TOOLS
from .remedies import CallOutcome, remedies

OUTPUT = 300
"""Characters that an observation keeps of a tool's output."""
TITLE = 120
MOST = 5
"""Lookups and failures that are kept of one turn."""
LOOKED_BACK = 60
"""Calls before a turn's own among which it is looked for what they mend."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """What is noticed about one turn's tool calls."""

    kind: ObservationKind
    title: str
    text: str = ""
    files: tuple[str, ...] = ()
    concepts: tuple[str, ...] = ()
    source: str = "tool"
    trust: Trust = "trusted"
    places: tuple[int, ...] = ()
    """Where the messages stand that it comes from."""
    fails: str = ""
    """Of what failed and then worked: the key of the failure."""
    instead_of: tuple[str, ...] = ()
    """Titles of what was noticed before, and is told by this now."""


def observations_in(messages: Sequence[Message], places: Sequence[int]) -> list[Observed]:
    """Return what the calls answered at these places tell.

    What failed is looked for among the calls shortly before: a turn late in a long conversation
    costs no more than an early one.
    """
    answered = [place for place in places if messages[place]["role"] == "tool"]
    if not answered:
        return []
    since = _looked_back(messages, min(answered))
    every = [call for call in _calls(messages, since) if call.name not in OUR_TOOLS]
    known = remedies([one.outcome for one in every])
    new = [one for one in known if every[one.shown].answered in places]
    mended = [([every[at] for at in one.tries], every[one.worked], every[one.shown]) for one in new]
    calls = [call for call in every if call.answered in places]
    asked = _asked(messages, calls)
    changes = [call for call in calls if call.changes]
    found = [_changed(changes, asked)] if changes else []
    found += [_mended(*calls_of_one, asked) for calls_of_one in mended]
    told_of = [call for tries, *others in mended for call in (*tries, *others)]
    others = [call for call in calls if not call.changes and call not in told_of]
    told = [call for call in others if call.failed or not call.reads]
    found += [_told(call, asked) for call in told[:MOST]]
    if not changes and (read := [call for call in others if call.reads and call.files]):
        found.append(_read(read, asked))
    return found


_CHANGES = re.compile(
    r"(?:^|[_.-])(?:write|edit|create|update|delete|remove|rename|move|insert|replace|patch|append|"
    r"save|modify|commit)(?:$|[_.-])|apply_?patch|str_?replace|(?:write|edit|create)_?file"
)
_READS = re.compile(
    r"(?:^|[_.-])(?:read|view|open|cat|ls|list|glob|grep|find|tree|stat)(?:$|[_.-])"
)
_LOOKS = re.compile(
    r"\A\s*+(?:sudo )?(?:cat|ls|ll|grep|rg|find|fd|head|tail|less|more|pwd|which|type|tree|stat|wc"
    r"|file|env|printenv|echo|git (?:status|diff|log|show|branch)"
    r"|describe|desc|show|explain|pragma|\\d\w?)(?:\s|$)"
    r"|\A\s*+select\b.{0,200}\b(?:information_schema|pg_catalog|sqlite_master|sqlite_schema)\b",
    re.IGNORECASE | re.DOTALL,
)
_FAILS = re.compile(
    r"^[ \t]*+(?:error|traceback|exception|failed|fatal|panic)\b|\b(?:exit (?:code|status):? [1-9]|"
    r"[1-9]\d* (?:failed|errors?)|command not found|no such file|permission denied|"
    r"traceback \(most recent|\w+(?:Error|Exception):)",
    re.IGNORECASE | re.MULTILINE,
)
_FILE_ARGS = ("path", "file", "file_path", "filename", "filepath", "target_file", "paths", "files")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    name: str
    args: Mapping[str, Any]
    output: str
    failed: bool
    failure: str
    """The line that names its failure; "" when it has worked, or that is not certain."""
    called: int
    answered: int

    @property
    def outcome(self) -> CallOutcome:
        """What tells whether it mended another."""
        return CallOutcome(
            name=self.name,
            args=self.args,
            failure=self.failure,
            works=not self.failed,
            looks=self.looks,
            changes=bool(_CHANGES.search(self.name.lower())),
        )

    @property
    def looks(self) -> bool:
        """Whether it only looks at something: a tool for that, or such a command."""
        commands = [value for value in self.args.values() if isinstance(value, str)]
        return self.reads or any(map(_LOOKS.match, commands[:1]))

    @property
    def changes(self) -> bool:
        return bool(_CHANGES.search(self.name.lower()) and self.files) and not self.failed

    @property
    def reads(self) -> bool:
        return bool(_READS.search(self.name.lower()))

    @property
    def files(self) -> tuple[str, ...]:
        given = [self.args.get(name) for name in _FILE_ARGS]
        flat = [one for arg in given for one in (arg if isinstance(arg, list | tuple) else [arg])]
        named = [clean(one).strip() for one in flat if isinstance(one, str)]
        return tuple(dict.fromkeys(one for one in named if one and names_a_file(one)))

    @property
    def shown(self) -> str:
        """The call, on one line."""
        args = ", ".join(f"{name}={_value(value)}" for name, value in self.args.items())
        return redact(one_line(f"{self.name}({args})", TITLE)).text


def _value(value: object) -> str:
    try:
        return one_line(json.dumps(value, ensure_ascii=False, default=str), 60)
    except (TypeError, ValueError):
        return "..."


def _looked_back(messages: Sequence[Message], place: int) -> int:
    """Return from where on calls may have to do with one that is answered at a place."""
    before = (at for at in range(place - 1, -1, -1) if messages[at]["role"] == "tool")
    since = next(islice(before, LOOKED_BACK - 1, None), 0)
    # Those that were made at once are answered one after the other.
    while since and messages[since]["role"] == "tool":
        since -= 1
    return since


def _calls(messages: Sequence[Message], since: int) -> Iterator[_Call]:
    """Yield every call from there on with its answer, in the order of the answers."""
    made: dict[str, tuple[int, Mapping[str, Any]]] = {}
    for place in range(since, len(messages)):
        message = messages[place]
        for call in calls_of(message):
            made[str(call.get("id", ""))] = (place, call)
        if message["role"] != "tool":
            continue
        called, call = made.get(str(message.get("tool_call_id", "")), (place, {}))
        output = redact(said_text(message)[: 20 * OUTPUT]).text
        args = call.get("args")
        failure = failure_in(output, failed=message.get("status") == "error")
        yield _Call(
            name=redact(str(call.get("name") or message.get("name") or "unknown")).text,
            args=redact_values(args) if isinstance(args, Mapping) else {},
            output=output,
            failed=bool(failure or _FAILS.search(output)),
            failure=failure,
            called=called,
            answered=place,
        )


def _asked(messages: Sequence[Message], calls: Sequence[_Call]) -> str:
    """Return what the user wanted when the calls were made: the first sentence of the request."""
    first = min((call.called for call in calls), default=0)
    for message in reversed(messages[:first]):
        if message["role"] == "user":
            said = sentences(redact(message_text(message)).text)
            return one_line(said[0].text, TITLE) if said else ""
    return ""


_KINDS: dict[ObservationKind, re.Pattern[str]] = {
    "bugfix": re.compile(r"\b(?:fix|bug|broken|crash|fail|wrong|error|regression)"),
    "refactor": re.compile(r"\b(?:refactor|rename|extract|clean|simplif|restructur|move|split)"),
    "feature": re.compile(r"\b(?:add|implement|create|build|support|introduce|new|write)\b"),
}


def _changed(calls: Sequence[_Call], asked: str) -> Observed:
    files = tuple(dict.fromkeys(file for call in calls for file in call.files))
    kinds = (kind for kind, pattern in _KINDS.items() if pattern.search(asked.lower()))
    where = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    return Observed(
        kind=next(kinds, "change"),
        title=one_line(
            f"{asked.rstrip('.')} ({where})" if asked else f"Changed {where}", 2 * TITLE
        ),
        files=files,
        concepts=_concepts(asked),
        places=_places(calls),
    )


def _mended(tries: Sequence[_Call], worked: _Call, shown: _Call, asked: str) -> Observed:
    """Return what is to be done when that fails again; in whose words, a tool has its part."""
    failed = tries[0]
    return Observed(
        kind="discovery",
        title=f"When {failed.shown} fails: do {worked.shown}",
        text=f"It failed with: {failed.failure}",
        files=tuple(dict.fromkeys((*failed.files, *worked.files))),
        concepts=_concepts(asked),
        source=f"tool:{failed.name}",
        trust="untrusted",
        places=_places([*tries, worked, shown]),
        fails=failure_key(failed.failure),
        instead_of=tuple(_title(one) for one in (*tries, worked)),
    )


def _told(call: _Call, asked: str) -> Observed:
    return Observed(
        kind="discovery",
        title=_title(call),
        text=_telling(call),
        files=call.files,
        concepts=_concepts(asked),
        source=f"tool:{call.name}",
        trust="untrusted",
        places=_places([call]),
    )


def _title(call: _Call) -> str:
    return f"{call.shown} failed" if call.failed else call.shown


def _read(calls: Sequence[_Call], asked: str) -> Observed:
    files = tuple(dict.fromkeys(file for call in calls for file in call.files))
    where = ", ".join(files[:3]) + (f" and {len(files) - 3} more" if len(files) > 3 else "")
    return Observed(
        kind="discovery",
        title=one_line(f"Looked at {where}" + (f" for: {asked}" if asked else ""), 2 * TITLE),
        files=files,
        concepts=_concepts(asked),
        places=_places(calls),
    )


def _telling(call: _Call) -> str:
    """Return what tells most of an output: its start, or what begins with a failure."""
    found = _FAILS.search(call.output) if call.failed else None
    return one_line(call.output[found.start() if found else 0 :], OUTPUT)


def _concepts(asked: str) -> tuple[str, ...]:
    return names_in(asked)[:5]


def _places(calls: Sequence[_Call]) -> tuple[int, ...]:
    return tuple(sorted({place for call in calls for place in (call.called, call.answered)}))
