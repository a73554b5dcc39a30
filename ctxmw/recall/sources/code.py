"""Code that a message or an editor points at, and code that a message is about.

What is named comes with its signature, its summary and its neighbours. What a message is about is
searched for: the best files with those of their definitions that matter, with the lines that answer
where there is room, and the others as a line each, so that many fit.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace

from ...code.codebase import Codebase
from ...code.files import CodeFile, Definition
from ...code.freshness import look_again
from ...code.index import ProjectCode
from ...code.ranking.outline import asks_for_outline, most_used
from ...code.ranking.search import FoundFile, search_code
from ...code.ranking.words import asked_terms
from ...code.refs import file_ref, found_ref, line_ref, symbol_ref
from ...protocols import TokenCounter
from ...text.cleaning import digest
from ...values.items import Item, Scope
from ...values.situation import Rating, Situation, Weights
from ...workspace.mentions import READ, files_mentioned, split_line, symbols_in
from ...workspace.triggers import Trigger, Triggers
from .code_text import CodeText

KINDS = ("module", "class", "function", "method", "constant", "file")
"""What code items are."""
_NAMES = re.compile(r"[\w$]++(?:\.\w++)*+")
_DETAILED = ((6, 0.0), (3, 0.75), (2, 0.85))
"""How many definitions the best files are shown with, when they are nearly as good as the first."""
_NEAR_BEST = 0.5
"""The share of the best definition's score that another one of its file has to reach."""
_LINES = (24, 10)
"""How many lines are shown of the best definition of the best files, where there is room."""
_FOR_LINES = 0.5
"""Of the tokens for code, what these may take."""
_CLOSE = 0.8
"""A second file gets lines when it is nearly as good as the best."""
_OF_A_LINE = 6
"""Tokens around an item of one line."""
_ASIDE_FROM_PLACES = 3
"""Words of the project besides the files that a message names, until it is about more than them."""
_OF_A_FUNCTION = 400
"""Tokens that the lines of a function that is named may take."""


class Code:
    """Brings the code that triggers point at, and what a message is about."""

    name = "code"

    def __init__(self, codebase: Codebase, count: TokenCounter, weights: Weights) -> None:
        self._codebase = codebase
        self._count = count
        self._weights = weights

    def brought(
        self,
        code: ProjectCode | None,
        situation: Situation,
        triggers: Sequence[Trigger],
        policy: Triggers,
        floor: float,
    ) -> list[Item]:
        """Return what is pointed at and what is asked about, within the policy's limits."""
        if code is None:
            return []
        look = _Look(code, situation, policy, triggers)
        look.freshen(triggers)
        named = self._named(look, situation, triggers, floor)
        own = [item for item in named if item.ref in look.of_this_message]
        room = policy.tokens - sum(map(self._tokens, own))
        places = max(0, policy.sections - len(own))
        asked = self._asked(look, situation, policy, room)[:places] if room > 0 else []
        older = [item for item in named if item not in own]
        own = self._with_lines(look, situation, own, room - sum(map(self._tokens, asked)))
        ranked = [*own, *asked, *older]
        return self._within(ranked[: policy.sections], policy.tokens)

    def found(self, code: ProjectCode, situation: Situation, policy: Triggers) -> list[Item]:
        """Return what fits a query that is known to be about code: names in it, then its words."""
        named = Trigger(
            kind="symbol",
            queries=tuple(symbols_in(situation.query, code.knows)),
            weight=1.0,
            source="message",
            expires=situation.now,
        )
        look = _Look(code, situation, policy, [named])
        look.freshen([named])
        own = self._named(look, situation, [named], 0.0)
        room = policy.tokens - sum(map(self._tokens, own))
        files = look.but_shown(look.searched(situation.query))
        asked = self._laid_out(look, files, situation, policy, room) if room > 0 else []
        own = self._with_lines(look, situation, own, room - sum(map(self._tokens, asked)))
        return self._within([*own, *asked][: policy.sections], policy.tokens)

    def get(self, situation: Situation, ref: str) -> Item | None:
        """Return the piece of code with this ref, if it is still as it was."""
        with self._codebase.use(situation.user, situation.project) as code:
            return _Look(code, situation, Triggers(), ()).get(ref) if code is not None else None

    def _named(
        self, look: _Look, situation: Situation, triggers: Sequence[Trigger], floor: float
    ) -> list[Item]:
        """Return what the triggers point at, the best first."""
        best: dict[str, Item] = {}
        for trigger in triggers:
            for found in look.at(trigger):
                item = self._rated(found, trigger.kind, trigger.weight, situation)
                known = best.get(item.ref)
                # What was worked on counts less with each message, and still is what it is.
                at_first = item.score / look.left_after(trigger.turns)
                if round(at_first, 4) >= floor and (known is None or known.score < item.score):
                    best[item.ref] = item
        # Of equals, what is smaller comes first: a definition before its whole file.
        return sorted(best.values(), key=lambda item: (-item.score, item.kind == "file"))

    def _asked(self, look: _Look, situation: Situation, policy: Triggers, room: int) -> list[Item]:
        """Return what the message is about, the best first, in as much detail as there is room."""
        if policy.message and policy.hits and asks_for_outline(situation.query):
            return self._outlined(look, situation, policy, room)
        return self._laid_out(look, look.but_shown(look.about()), situation, policy, room)

    def _outlined(
        self, look: _Look, situation: Situation, policy: Triggers, room: int
    ) -> list[Item]:
        """Return the files that are used most, each in a line with what it is and holds."""
        items: list[Item] = []
        for file in look.most_used(policy.sections):
            text = look.text.in_an_outline(file.path, _definitions(file))
            room -= self._count(f"{file.path}: {text}") + _OF_A_LINE
            if room < 0:
                break
            found = _Found(look.found_item(file, text, is_line=True), file.score)
            items.append(self._rated(found, "message", policy.message, situation))
        return items

    def _with_lines(
        self, look: _Look, situation: Situation, items: Sequence[Item], room: int
    ) -> list[Item]:
        """Return what is named, functions with the lines that answer where there is room."""
        terms = asked_terms(situation.query)
        shown = list(items)
        for at, item in enumerate(items):
            one = look.functions.get(item.ref)
            answer = look.text.answering(one, terms) if one is not None else ""
            spent = self._count(answer) if answer else 0
            if answer and spent <= min(room, _OF_A_FUNCTION):
                text = f"{item.text}\n{answer}"
                shown[at] = replace(item, text=text, version=digest(text)[:16])
                room -= spent
        return shown

    def _laid_out(
        self,
        look: _Look,
        found: Sequence[FoundFile],
        situation: Situation,
        policy: Triggers,
        room: int,
    ) -> list[Item]:
        texts = _Laid(look.text, found, asked_terms(situation.query), self._count).out(
            # What is named is what matters, and what stands around it: the rest gets a line.
            room,
            look.shown,
            only=look.paths_named if look.of_this_message else None,
        )
        return [
            self._rated(
                _Found(look.found_item(file, text, is_line=is_line), file.score),
                "message",
                policy.message,
                situation,
            )
            for file, text, is_line in texts
        ]

    def _rated(self, found: _Found, kind: str, weight: float, situation: Situation) -> Item:
        """Return the item with its final score: the weight times half match, half score."""
        rating = Rating.of(situation, self._weights)
        item = rating.matched(found.item, match=found.match, reasons=())
        final = round(weight * item.score, 4)
        return replace(item, score=final, reasons=((kind, round(weight, 4)), *item.reasons))

    def _within(self, items: Sequence[Item], tokens: int) -> list[Item]:
        """Return the items that fit, the first in any case."""
        kept: list[Item] = []
        for item in items:
            tokens -= self._tokens(item)
            if kept and tokens < 0:
                break
            kept.append(item)
        return kept

    def _tokens(self, item: Item) -> int:
        return self._count(item.text)


@dataclass(frozen=True, slots=True)
class _Found:
    item: Item
    match: float


class _Look:
    """Looks for what triggers name, and for what a message is about, in one project's code."""

    def __init__(
        self,
        code: ProjectCode,
        situation: Situation,
        policy: Triggers,
        triggers: Sequence[Trigger],
    ) -> None:
        self._code = code
        self._situation = situation
        self._policy = policy
        self.text = CodeText(code, policy.related)
        self.of_this_message: set[str] = set()
        """Refs of what this message points at, and not an earlier one or the editor."""
        self.paths_named: set[str] = set()
        """The files these stand in."""
        self._classes: list[str] = []
        """The full names of classes that are named."""
        self.shown: set[str] = set()
        """The full names of definitions that are shown with these."""
        self.functions: dict[str, Definition] = {}
        """Those of them that have lines to show, by ref."""
        self._said = _NAMES.findall(situation.query[:READ])
        said = [
            trigger for trigger in triggers if trigger.source == "message" and not trigger.turns
        ]
        self._symbols = [name for one in said if one.kind == "symbol" for name in one.queries]
        self._is_traced = any(one.kind == "trace" for one in said)
        self._places = [
            query for one in said if one.kind in ("path", "trace") for query in one.queries
        ]

    def left_after(self, turns: int) -> float:
        """Return what is left of a trigger's weight after so many messages."""
        return self._policy.decay**turns or 1.0

    def freshen(self, triggers: Sequence[Trigger]) -> None:
        """Look again at the files that triggers are about."""
        paths = {
            one.entity_path
            for trigger in triggers
            for query in trigger.queries
            for one in self._pointed_at(query, ())
        }
        look_again(self._code, paths)

    def at(self, trigger: Trigger) -> Iterator[_Found]:
        """Yield what a trigger points at; the subject of a question is searched for."""
        if trigger.kind == "message":
            return
        around = {*trigger.queries, trigger.source, *self._situation.files, *self._said}
        for query in trigger.queries:
            for one in self._pointed_at(query, around):
                item = self._item_of(one)
                if trigger.source == "message" and not trigger.turns:
                    self.of_this_message.add(item.ref)
                    self.paths_named.add(one.file.path)
                    if one.definition is not None:
                        self._is_shown(item.ref, one.definition)
                elif one.definition is not None:
                    # What was worked on stands in view, or comes with this message.
                    self.shown |= {each.full_name for each in self.text.shown_with(one.definition)}
                yield _Found(item, one.sure)

    def but_shown(self, files: Sequence[FoundFile]) -> list[FoundFile]:
        """Return files without what is shown already; of one that is named, what its class holds.

        Whoever names a class and asks for more means what is in it.
        """
        others: list[FoundFile] = []
        for file in files:
            if file.path not in self.paths_named:
                others.append(file)
            elif inside := [pair for pair in file.definitions if self._is_inside(pair[0])]:
                others.append(replace(file, definitions=tuple(inside)))
        return others

    def most_used(self, most: int) -> list[FoundFile]:
        """Return the files that others use most, with what is used most of each."""
        files = most_used(self._code, most)
        if look_again(self._code, [file.path for file in files]):
            files = most_used(self._code, most)
        return files

    def about(self) -> list[FoundFile]:
        """Return the files that the message is about; none when it is about something else."""
        query = self._situation.query
        policy = self._policy
        if not query or not policy.message or not policy.hits or self._is_answered(query):
            return []
        return self.searched(query, gate=True)

    def searched(self, query: str, *, gate: bool = False) -> list[FoundFile]:
        """Return the files that fit a query, as they are now; with `gate` when it is about code."""
        found = search_code(self._code, query)
        if gate and found.about <= 0:
            return []
        if look_again(self._code, [file.path for file in found.files]):
            found = search_code(self._code, query)
        return [file for file in found.files if file.path in self._code.files]

    def get(self, ref: str) -> Item | None:
        """Return the piece of code that has this ref."""
        for path, file in list(self._code.files.items()):
            if file_ref(file) == ref or line_ref(path) == ref:
                look_again(self._code, [path])
                now = self._code.files.get(path)
                return self.file_item(now) if now is not None else None
            for one in self._code.in_file(path):
                if ref in (symbol_ref(path, one.entity), found_ref(path, one.entity)):
                    if look_again(self._code, [path]):
                        return self.get(ref)
                    return self.symbol_item(one)
        return None

    def symbol_item(self, one: Definition) -> Item:
        """Return what is shown of a definition."""
        entity = one.entity
        return replace(
            self._item(symbol_ref(one.path, entity), one.path, self.text.of_symbol(one)),
            kind=entity.kind,
            section="code",
            label=f"{one.path}:{entity.line}-{entity.end}",
            title=f"{entity.name} in {one.place}",
        )

    def file_item(self, file: CodeFile) -> Item:
        """Return what is shown of a whole file: its outline and its neighbours."""
        return self._item(file_ref(file), file.path, self.text.of_file(file))

    def found_item(self, file: FoundFile, text: str, *, is_line: bool) -> Item:
        """Return a file that was found, with what is shown of it."""
        best = file.definitions[0][0].entity if file.definitions else None
        ref = line_ref(file.path) if is_line or best is None else found_ref(file.path, best)
        return replace(self._item(ref, file.path, text), section="code")

    def _pointed_at(self, query: str, around: Sequence[str] | set[str]) -> Iterator[_Pointed]:
        path, line = split_line(query)
        files = self._code.paths(path) if "." in path else []
        for file, sure in files[: self._policy.hits]:
            here = self._code.at_line(file.path, line) if line is not None else None
            yield _Pointed(file, here, sure)
        if not files:
            for one, sure in self._code.symbol(query, around)[: self._policy.hits]:
                yield _Pointed(self._code.files[one.path], one, sure)

    def _is_inside(self, one: Definition) -> bool:
        outer = tuple(f"{name}." for name in self._classes)
        return one.full_name.startswith(outer) and one.full_name not in self.shown

    def _is_shown(self, ref: str, one: Definition) -> None:
        self.shown |= {each.full_name for each in self.text.shown_with(one)}
        if one.entity.kind == "class":
            self._classes.append(one.full_name)
        elif one.entity.kind in ("function", "method"):
            self.functions[ref] = one

    def _item_of(self, pointed: _Pointed) -> Item:
        if pointed.definition is not None:
            return self.symbol_item(pointed.definition)
        return self.file_item(pointed.file)

    def _is_answered(self, query: str) -> bool:
        """Say whether a message is about nothing but what it names: files, or symbols alone."""
        placed = any(any(self._pointed_at(place, ())) for place in self._places)
        if placed and self._is_traced:
            return True
        names = (*self._symbols, *symbols_in(query), *self._places, *files_mentioned(query))
        named = asked_terms(" ".join(names)).keys()
        view = self._code.columns
        other = [term for term in asked_terms(query) if term not in named]
        known = sum(term in view.named or len(view.held(term)[0]) > 0 for term in other)
        if placed:
            return known <= _ASIDE_FROM_PLACES
        if known:
            return False
        return bool(self.of_this_message) or not (self._policy.symbol and self._policy.path)

    def _item(self, ref: str, path: str, text: str) -> Item:
        """Return what is shown of a whole file, or with some changes of what is in it."""
        return Item(
            ref=ref,
            kind="file",
            text=text,
            lane="turn",
            section="files",
            label=path,
            title=path,
            scope=Scope("project", self._situation.project or ""),
            include="agent",
            # Whoever wrote a docstring need not be one who may instruct the agent.
            tainted=True,
            source=path,
            version=digest(text)[:16],
        )


@dataclass(frozen=True, slots=True)
class _Pointed:
    """A file that is pointed at, or a definition in it."""

    file: CodeFile
    definition: Definition | None
    sure: float

    @property
    def entity_path(self) -> str:
        return self.file.path


class _Laid:
    """Lays out the files that were found: the best in detail, the others as a line."""

    def __init__(
        self,
        text: CodeText,
        files: Sequence[FoundFile],
        terms: dict[str, float],
        count: TokenCounter,
    ) -> None:
        self._text = text
        self._files = files
        self._terms = terms
        self._count = count

    def out(
        self, room: int, shown: Collection[str] = (), only: Collection[str] | None = None
    ) -> list[tuple[FoundFile, str, bool]]:
        """Return the files that fit, what is shown of each, and whether that is but a line.

        What is `shown` already is not shown again. With `only`, no other files get more than a
        line.
        """
        lines = [self._text.in_a_line(file.path, _definitions(file, shown)) for file in self._files]
        costs = [self._cost(file, line) for file, line in zip(self._files, lines, strict=True)]
        kept = len(costs)
        while kept > 1 and sum(costs[:kept]) > room:
            kept -= 1
        texts, left = lines[:kept], room - sum(costs[:kept])
        detailed: set[int] = set()
        for at, (most, least) in enumerate(_DETAILED[:kept]):
            if self._files[at].score < least:
                break
            if only is not None and self._files[at].path not in only:
                continue
            text = self._text.of_definitions(_matter(self._files[at], most, shown), shown)
            more = self._count(text) - self._count(texts[at])
            if text and more <= left:
                texts[at], left = text, left - more
                detailed.add(at)
        share = int(_FOR_LINES * room)
        for at, most in enumerate(_LINES[:kept]):
            file = self._files[at]
            if at not in detailed or (at and file.score < _CLOSE):
                continue
            answer = self._fitting(_matter(file, 1, shown)[0], most, min(left, share))
            if answer:
                spent = self._count(answer)
                texts[at], left, share = f"{texts[at]}\n{answer}", left - spent, share - spent
        rows = zip(self._files[:kept], texts, strict=True)
        return [(file, text, at not in detailed) for at, (file, text) in enumerate(rows)]

    def _fitting(self, one: Definition, most: int, tokens: int) -> str:
        """Return as many of the lines that answer as there is room for."""
        for lines in (most, most // 2):
            answer = self._text.answering(one, self._terms, lines)
            if answer and self._count(answer) <= tokens:
                return answer
        return ""

    def _cost(self, file: FoundFile, text: str) -> int:
        return self._count(f"{file.path}: {text}") + _OF_A_LINE


def _definitions(file: FoundFile, shown: Collection[str] = ()) -> list[Definition]:
    return [one for one, _ in file.definitions if one.full_name not in shown]


def _matter(file: FoundFile, most: int, shown: Collection[str] = ()) -> list[Definition]:
    """Return those definitions of a file that are nearly as good as its best, but for the shown."""
    ranked = [
        (one, score)
        for one, score in file.definitions
        if one.entity.kind != "module" and one.full_name not in shown
    ]
    least = _NEAR_BEST * ranked[0][1] if ranked else 0.0
    return [one for one, score in ranked[:most] if score >= least]
