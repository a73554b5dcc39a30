"""People with names made to be mixed up, in one memory, and everything they can look at there.

Every text carries a mark that tells whose it is. Everybody's records are called by the same refs,
so that whatever forgets to ask whose a ref is brings somebody else's words.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import quote

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from ctxmw import ContextMiddleware, Session, memory_tools
from ctxmw.testing import FixedClock, HashEmbedder
from ctxmw.tokens.counter import counter_for
from ctxmw.ui import app_for
from ctxmw_mcp import http_app, memory_server

USERS = ("u1", "u10", "u%", "u_", "U1", "u1\n", "u1 ", "u1/*", "' OR 1=1 --")
TOPICS = ("port", "release", "database", "colour")
SESSIONS = ("s1", "s%", "s1\n")
COUNT = counter_for()
TOKEN = "the-token-of-the-page"
PAGES = 15
"""How many pages somebody looks at before going home."""

_MARK = re.compile(r"owner(\d+)mark")
_LINK = re.compile(r'href="(/[^"]*)"')
_FORM = re.compile(r'name="mark" value="(\w+)"')


def text_of(owner: int, topic: str) -> str:
    return f"The {topic} is the one of owner{owner}mark."


def owners_of(shown: object) -> set[int]:
    """Return whose texts these are."""
    return set(map(int, _MARK.findall(shown if isinstance(shown, str) else repr(shown))))


class SameForAll(Random):
    """Draws the same numbers for everybody: the one who acts now has got so many of them."""

    def __init__(self) -> None:
        super().__init__(0)
        self.drawn: Counter[tuple[int, int]] = Counter()
        self.owner = 0

    def getrandbits(self, bits: int, /) -> int:
        self.drawn[self.owner, bits] += 1
        return Random(self.drawn[self.owner, bits]).getrandbits(bits)


class Neighbourhood:
    """One memory for all of them. What somebody does returns what they get to see."""

    def __init__(self, index: str = "numpy") -> None:
        self._folder = TemporaryDirectory()
        self._random = SameForAll()
        self.clock = FixedClock()
        self.ctx = ContextMiddleware.open(
            Path(self._folder.name) / "memory.db",
            user=None,
            embedder=HashEmbedder(64),
            index=index,
            clock=self.clock,
            count=COUNT,
            random=self._random,
        )

    def close(self) -> None:
        self.ctx.close()
        self._folder.cleanup()

    def does(self, owner: int, action: str, *arguments: Any) -> object:
        """Have somebody do something, and return what they see of it."""
        self._random.owner = owner
        return getattr(self, action)(owner, *arguments)

    def remember(self, owner: int, topic: str, key: str) -> object:
        options = {"user": USERS[owner], "key": key, "scope": "project:shop"}
        return self.ctx.remember(text_of(owner, topic), **options)

    def collect(self, owner: int, session: str, topic: str) -> object:
        chat = self._chat(owner, session)
        return [chat.collect("hook", topic, text_of(owner, topic)), chat.pending()]

    def talk(self, owner: int, session: str, topic: str) -> object:
        chat = self._chat(owner, session)
        waiting = chat.pending()
        prepared = chat.prepare([{"role": "user", "content": text_of(owner, topic)}])
        told = (prepared.messages, prepared.context.explain())
        return [waiting, told, chat.finish(prepared, text_of(owner, topic)).explain()]

    def ask_the_tools(self, owner: int, session: str, topic: str, refs: Sequence[str]) -> object:
        mem_search, mem_get, memory_context, *_ = memory_tools(self._chat(owner, session))
        return [
            mem_search(query=f"which {topic} has an owner mark"),
            memory_context(query=topic),
            *(mem_get(ids=[ref]) for ref in refs),
        ]

    def search(self, owner: int, topic: str, refs: Sequence[str]) -> object:
        hits = self.ctx.search(f"the {topic} of owner", user=USERS[owner], limit=50)
        found = [(hit.ref, hit.text, hit.score, hit.why) for hit in hits]
        return [found, self.ctx.get(refs, user=USERS[owner])]

    def look_back(self, owner: int, session: str) -> object:
        chat, user = self._chat(owner, session), USERS[owner]
        history = chat.history()
        return [
            [(one.text, one.explain(), chat.prompt(one)) for one in history],
            chat.transcript(),
            chat.pending(),
            chat.state,
            self.ctx.sessions(user=user),
            self.ctx.why(text_of(owner, "port"), user=user),
        ]

    def end(self, owner: int, session: str) -> object:
        return self._chat(owner, session).end()

    def export(self, owner: int) -> object:
        path = Path(self._folder.name) / "export.jsonl"
        self.ctx.export(path, user=USERS[owner])
        return path.read_text()

    def forget(self, owner: int) -> object:
        return self.ctx.forget(user=USERS[owner])

    def use_mcp(self, owner: int, topic: str, refs: Sequence[str]) -> object:
        """Use the server as a client does that has this user's token."""
        return anyio.run(self._everything_over_mcp, [owner], topic, refs)[owner]

    def use_mcp_at_once(self, owners: Sequence[int], refs: Sequence[str]) -> dict[int, list[str]]:
        """Return what each of them sees while all are connected to one server."""
        return anyio.run(self._everything_over_mcp, owners, "port", refs)

    def open_the_page(self, owner: int, topic: str, refs: Sequence[str]) -> object:
        """Remember something on the page, then follow every link there is, and some there is not.

        The page is over the same caches as everybody's, which is harder than in a process alone.
        """
        return anyio.run(self._whole_page, owner, topic, refs)

    def refs(self, owner: int) -> list[str]:
        """Return what somebody's records are called."""
        asked = "owner mark port release database colour"
        hits = self.ctx.search(asked, user=USERS[owner], limit=50)
        return sorted(hit.ref for hit in hits)

    def _chat(self, owner: int, session: str) -> Session:
        return self.ctx.session(session, user=USERS[owner], project="shop")

    async def _everything_over_mcp(
        self, owners: Sequence[int], topic: str, refs: Sequence[str]
    ) -> dict[int, list[str]]:
        tokens = {_token(owner): user for owner, user in enumerate(USERS)}
        app = http_app(memory_server(self.ctx, project="shop"), tokens=tokens)
        seen: dict[int, list[str]] = {owner: [] for owner in owners}
        async with app.router.lifespan_context(app), anyio.create_task_group() as tasks:
            for owner in owners:
                tasks.start_soon(_over_mcp, app, owner, topic, refs, seen[owner])
        return seen

    async def _whole_page(self, owner: int, topic: str, refs: Sequence[str]) -> list[str]:
        own = object.__new__(ContextMiddleware)
        vars(own).update(vars(self.ctx) | {"_user": USERS[owner]})
        seen: list[str] = []
        async with _browser(app_for(own, token=TOKEN)) as browser:
            start = (await browser.get(f"/memories?token={TOKEN}")).text
            form = {"mark": _FORM.findall(start)[0], "text": text_of(owner, topic)}
            seen.append((await browser.post("/memories", data=form)).text)
            form = {"mark": form["mark"], "message": f"which {topic}?", "project": "shop"}
            seen.append((await browser.post("/inspector", data=form)).text)
            paths = [f"/conversation?id={quote(session)}" for session in SESSIONS]
            paths += [
                f"/memories?q={topic}",
                *(f"/items/{ref}" for ref in refs),
                *_LINK.findall(start),
            ]
            for path in paths:
                if len(seen) < PAGES:
                    page = (await browser.get(path)).text
                    seen.append(page)
                    paths += [link for link in _LINK.findall(page) if link not in paths]
        return seen


async def _over_mcp(app: Any, owner: int, topic: str, refs: Sequence[str], seen: list[str]) -> None:
    file = f"src/owner{owner}mark.py"
    calls: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"text": text_of(owner, topic)}),
        ("activity", {"type": "file_edit", "filePath": file, "changedSymbols": [topic]}),
        ("mem_search", {"query": f"which {topic} has an owner mark"}),
        ("memory_context", {"query": topic}),
        *(("mem_get", {"ids": [ref]}) for ref in refs),
    ]
    headers = {"Authorization": f"Bearer {_token(owner)}"}
    async with _browser(app, **headers) as browser:
        way = streamable_http_client("http://127.0.0.1:8765/mcp", http_client=browser)
        async with Client(way) as client:
            for tool, arguments in calls:
                answer = await client.call_tool(tool, {**arguments, "session": "s1"})
                seen.append(answer.content[0].text)
            for name in ("auto", "session", f"file/{file}"):
                read = await client.read_resource(f"ctxmw://context/{name}")
                seen.append(read.contents[0].text)
            prompt = await client.get_prompt("session-start", {"message": f"Which {topic}?"})
            seen.append(prompt.messages[0].content.text)


@asynccontextmanager
async def _browser(app: Any, **headers: str) -> Any:
    options = {"base_url": "http://127.0.0.1:8765", "headers": headers, "follow_redirects": True}
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), **options) as browser:
        yield browser


def _token(owner: int) -> str:
    return f"the-token-of-user-{owner}"
