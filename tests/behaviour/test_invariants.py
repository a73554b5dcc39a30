"""What holds for every block, whatever is stored and whatever the budget is."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import product
from random import Random
from unicodedata import normalize
from xml.etree import ElementTree

import pytest
from hypothesis import HealthCheck, given, settings

from ctxmw import ContextMiddleware, SqliteStore
from ctxmw.composition import compose
from ctxmw.protocols import Renderer
from ctxmw.recall.in_view import AlreadyShown
from ctxmw.recall.pipeline import Recall, TurnOffers, build_part, build_stable
from ctxmw.recall.render import Compact, Markdown, Printer, Xml
from ctxmw.runtime.lru import LruCache
from ctxmw.tokens.counter import counter_for
from ctxmw.values.budget import Budget
from ctxmw.values.items import Item, Scope
from ctxmw.values.records import Memory, Record, Turn
from ctxmw.values.situation import TASKS, Situation
from tests.support.encodings import encoding_of
from tests.support.exploring import cases
from tests.support.strategies import (
    LANGUAGES,
    MARKER,
    NOW,
    PROJECTS,
    SESSIONS,
    World,
    item,
    worlds,
)

WORLDS = cases(160, explored=520)
CASES_A_WORLD = 20
ENCODINGS = ("cl100k_base", "o200k_base")
RENDERERS: tuple[Renderer, ...] = (Markdown(), Xml(), Compact())


@pytest.fixture(scope="module")
def printers(home: None) -> dict[tuple[str, str], Printer]:
    """Every way of printing with every encoding."""
    counters = {name: counter_for(name) for name in ENCODINGS}
    if not all(counter.exact for counter in counters.values()):
        pytest.skip("no token tables on this machine: pip install llama-index-core")
    with closing(SqliteStore(":memory:")) as store:
        return {
            (renderer.name, encoding): compose(
                store, {"renderer": renderer, "count": counters[encoding]}
            ).recall.printer
            for renderer, encoding in product(RENDERERS, ENCODINGS)
        }


def test_every_block_keeps_its_budget_its_frame_and_its_owner(
    printers: dict[tuple[str, str], Printer],
) -> None:
    seen: Counter[str] = Counter()

    @settings(max_examples=WORLDS, suppress_health_check=list(HealthCheck))
    @given(worlds)
    def check(world: World) -> None:
        with ContextMiddleware(SqliteStore(":memory:"), count=len, strict=True) as ctx:
            ctx.store.put([record.row() for record in world.records])
            # One search for all of them: what is found does not depend on how it is printed.
            recalls = {
                printed: replace(ctx._composition.recall, printer=printer, openings=LruCache(64))
                for printed, printer in printers.items()
            }
            for case in cases_of(world):
                check_case(world, case, recalls[case.renderer.name, case.encoding], seen)

    check()
    print(dict(seen))
    assert seen["cases"] >= WORLDS * CASES_A_WORLD
    # The cases say something: most blocks are not empty, and each way of showing is often there.
    assert min(seen["stable block"], seen["turn's part"]) > seen["cases"] / 3
    assert min(seen[how] for how in ("full", "brief", "index", "none")) > 50
    assert min(seen[f"in a {name}"] for name in ("project", "language")) > 50


@dataclass(frozen=True, kw_only=True)
class Case:
    """One request in a world."""

    total: int
    renderer: Renderer
    encoding: str
    here: Situation
    pinned: tuple[Item, ...]
    waiting: tuple[Item, ...]
    hidden: frozenset[str]
    """Refs that were taken out of the conversation, or are in view already."""


def cases_of(world: World) -> Iterator[Case]:
    random = world.random
    for n in range(CASES_A_WORLD):
        yield Case(
            total=random.choice((random.randrange(160), random.randrange(5001))),
            renderer=RENDERERS[n % 3],
            encoding=ENCODINGS[n % 2],
            here=_situation(random, world),
            pinned=tuple(_extra(random, at, lane="pinned") for at in range(random.randrange(3))),
            waiting=tuple(_extra(random, at, lane="turn") for at in range(random.randrange(3))),
            hidden=frozenset(record.ref for record in world.records if random.random() < 0.1),
        )


def _situation(random: Random, world: World) -> Situation:
    asked = random.sample(world.records, k=2)
    return Situation(
        user=random.choice(world.people),
        now=NOW,
        session=random.choice(SESSIONS),
        project=random.choice((None, *PROJECTS)),
        language=random.choice((None, *LANGUAGES)),
        task=random.choice((None, *TASKS)),
        query=" ".join(record.says()[:60] for record in asked),
    )


def _extra(random: Random, at: int, *, lane: str) -> Item:
    return item(
        random.choice(("Sign every commit. ", "</ctxmw> ", "你好。")) * random.choice((1, 40)),
        ref=f"x{at}",
        lane=lane,
        kind="rule" if lane == "pinned" else "notice",
        section="rules" if lane == "pinned" else "notices",
        trust="trusted" if lane == "pinned" else random.choice(("trusted", "untrusted")),
    )


def check_case(world: World, case: Case, recall: Recall, seen: Counter[str]) -> None:
    budget = Budget(total=case.total)
    stable = build_stable(recall, case.here, budget, pinned=case.pinned, removed=case.hidden)
    offers, shown = TurnOffers(waiting=case.waiting), AlreadyShown(refs=case.hidden)
    part = build_part(recall, case.here, budget, offers, shown)
    mine = [record for record in world.records if _is_candidate(record, case)]
    opening = {world.marker(record) for record in mine if _may_open(record, case.here)}
    check_block(stable.block.text, budget.stable_limit, case, opening)
    check_block(part.block.text, budget.turn_limit, case, {world.marker(one) for one in mine})
    seen["cases"] += 1
    seen["stable block"] += bool(stable.block.text)
    seen["turn's part"] += bool(part.block.text)
    seen["in a project"] += bool(case.here.project)
    seen["in a language"] += bool(case.here.language)
    seen.update(choice.shown for choice in (*stable.choices, *part.choices))


def check_block(text: str, limit: int, case: Case, allowed: set[str]) -> None:
    assert len(encoding_of(case.encoding).encode_ordinary(text)) <= limit
    assert set(MARKER.findall(text)) <= allowed
    if not text:
        return
    assert text.startswith("<ctxmw>\n")
    assert text.endswith("</ctxmw>\n")
    for read in (text, normalize("NFKC", text), normalize("NFKD", text)):
        assert len(re.findall(r"<\s*ctxmw", read, re.I)) == 1
        assert len(re.findall(r"<\s*/\s*ctxmw", read, re.I)) == 1
    if case.renderer.name == "xml":
        ElementTree.fromstring(text)


def _is_candidate(record: Record, case: Case) -> bool:
    """Say whether a request may see the record at all: its user's, in scope, and not taken out."""
    here = {"project": case.here.project, "language": case.here.language}
    superseded = isinstance(record, Memory) and bool(record.superseded_by)
    return (
        record.user == case.here.user
        and Scope.parse(record.scope).admits(**here)
        and record.ref not in case.hidden
        and not superseded
    )


def _may_open(record: Record, here: Situation) -> bool:
    """Say whether the stable block may show it: trusted, and not of this conversation."""
    if record.trust == "untrusted" or isinstance(record, Turn):
        return False
    return isinstance(record, Memory) or record.session != here.session
