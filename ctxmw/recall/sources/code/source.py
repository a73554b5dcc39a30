"""Code that a message or an editor points at, and code that a message is about.

What is named comes with its signature, its summary and its neighbours. What a message is about is
searched for: the best files with those of their definitions that matter, with the lines that answer
where there is room, and the others as a line each, so that many fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ....code.codebase import Codebase
from ....protocols import TokenCounter
from ....text.cleaning import digest
from ....values.items import Item
from ....values.situation import Rating, Situation, Weights
from ....workspace.mentions import symbols_in
from ....workspace.triggers import Trigger, Triggers

if TYPE_CHECKING:
    from ....code.index import ProjectCode
    from ....code.ranking.search import FoundFile
    from .look import CodeLook, Looked

KINDS = ("module", "class", "function", "method", "constant", "file")
"""What code items are."""
_AS_GOOD = 0.85
"""The share of the best score with which a file is shown beside one that is named."""
_OF_A_BODY = 400
"""Tokens that the lines of what is named may take."""


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
        from .look import CodeLook

        look = CodeLook(code, situation, policy, triggers)
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
        from .look import CodeLook

        named = Trigger(
            kind="symbol",
            queries=tuple(symbols_in(situation.query, code.knows)),
            weight=1.0,
            source="message",
            expires=situation.now,
        )
        look = CodeLook(code, situation, policy, [named])
        look.freshen([named])
        own = self._named(look, situation, [named], 0.0)
        room = policy.tokens - sum(map(self._tokens, own))
        files = look.but_shown(look.searched(situation.query))
        asked = self._laid_out(look, files, situation, policy, room) if room > 0 else []
        own = self._with_lines(look, situation, own, room - sum(map(self._tokens, asked)))
        return self._within([*own, *asked][: policy.sections], policy.tokens)

    def get(self, situation: Situation, ref: str) -> Item | None:
        """Return the piece of code with this ref, if it is still as it was."""
        from .look import CodeLook

        with self._codebase.use(situation.user, situation.project) as code:
            return CodeLook(code, situation, Triggers(), ()).get(ref) if code is not None else None

    def _named(
        self, look: CodeLook, situation: Situation, triggers: Sequence[Trigger], floor: float
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

    def _asked(
        self, look: CodeLook, situation: Situation, policy: Triggers, room: int
    ) -> list[Item]:
        """Return what the message is about, the best first, in as much detail as there is room."""
        from ....code.ranking.outline import asks_for_outline

        if policy.message and policy.hits and asks_for_outline(situation.query):
            return self._outlined(look, situation, policy, room)
        return self._laid_out(look, look.but_shown(look.about()), situation, policy, room)

    def _outlined(
        self, look: CodeLook, situation: Situation, policy: Triggers, room: int
    ) -> list[Item]:
        """Return the files that are used most, each in a line with what it is and holds."""
        from .layout import OF_A_LINE, definitions_of
        from .look import Looked

        items: list[Item] = []
        for file in look.most_used(policy.sections):
            text = look.text.in_an_outline(file.path, definitions_of(file))
            room -= self._count(f"{file.path}: {text}") + OF_A_LINE
            if room < 0:
                break
            found = Looked(look.found_item(file, text, is_line=True), file.score)
            items.append(self._rated(found, "message", policy.message, situation))
        return items

    def _with_lines(
        self, look: CodeLook, situation: Situation, items: Sequence[Item], room: int
    ) -> list[Item]:
        """Return what is named, with the lines that answer where there is room."""
        from ....code.ranking.words import asked_terms

        terms = asked_terms(situation.query)
        shown = list(items)
        for at, item in enumerate(items):
            one = look.bodies.get(item.ref)
            answer = look.text.answering(one, terms) if one is not None else ""
            spent = self._count(answer) if answer else 0
            if answer and spent <= min(room, _OF_A_BODY):
                text = f"{item.text}\n{answer}"
                shown[at] = replace(item, text=text, version=digest(text)[:16])
                room -= spent
        return shown

    def _laid_out(
        self,
        look: CodeLook,
        found: Sequence[FoundFile],
        situation: Situation,
        policy: Triggers,
        room: int,
    ) -> list[Item]:
        # What is named is what matters, and what stands around it: the rest gets a line, unless
        # the message says much more than a name.
        from ....code.ranking.words import asked_terms
        from .layout import CodeLayout
        from .look import SAYS_MORE, Looked

        only = look.paths_named if look.of_this_message else None
        if only is not None and found and look.words_besides(situation.query) >= SAYS_MORE:
            only = {*only, *(file.path for file in found[:1] if file.score >= _AS_GOOD)}
        layout = CodeLayout(look.text, found, asked_terms(situation.query), self._count)
        texts = layout.out(room, look.shown, only)
        return [
            self._rated(
                Looked(look.found_item(file, text, is_line=is_line), file.score),
                "message",
                policy.message,
                situation,
            )
            for file, text, is_line in texts
        ]

    def _rated(self, found: Looked, kind: str, weight: float, situation: Situation) -> Item:
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
