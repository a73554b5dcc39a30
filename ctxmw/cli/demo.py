"""A small story over two conversations, for `ctxmw demo`: a prompt with and without a memory."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

from ..calls.tools import memory_tools
from ..errors import MissingPackage
from ..middleware import ContextMiddleware
from ..testing.doubles import FixedClock
from ..values.budget import Budget
from ..values.messages import Message

if TYPE_CHECKING:
    from ..conversation.conversation import Prepared
    from ..session import Session

_SYSTEM: Message = {"role": "system", "content": "You are a helpful coding assistant."}
_QUESTION = "How does AuthService check a login token, and what is left to do?"
_SMALL = Budget(total=240)
_WIDTH = 78


def run(show: Callable[[str], None]) -> None:
    """Tell the story on a memory that is gone afterwards; `show` prints a line."""
    calendar = FixedClock()
    with ContextMiddleware.open(":memory:", clock=calendar) as ctx:
        _monday(ctx, show)
        calendar.advance(days=1)
        _tuesday(ctx, show)
        _in_frameworks(ctx, show)


def _monday(ctx: ContextMiddleware, show: Callable[[str], None]) -> None:
    _title(show, "Monday: a conversation about the project 'shop'")
    ctx.remember("Answer in short sentences.", kind="preference")
    ctx.remember("mocks in tests where the real thing is cheap", kind="anti_pattern")
    ctx.remember("Prefer early returns.", kind="preference", scope="language:python")
    ctx.remember("Semicolons are required.", kind="rule", scope="language:javascript")
    ctx.remember("Auth uses JWT with RS256; keys rotate weekly.", kind="decision", scope=_SHOP)
    ctx.remember("Prices are integers in cents.", kind="decision", scope=_SHOP)
    ctx.remember("The ledger is append-only.", kind="decision", scope="project:bank")
    chat = ctx.session("monday", project="shop", language="python")
    said = "Where should AuthService check the token?"
    prepared = chat.prepare([_SYSTEM, {"role": "user", "content": said}])
    chat.finish(prepared, "In AuthService.verify(), before the session is read.")
    chat.note("done", "AuthService.verify() checks signature and expiry")
    chat.note("next", "refuse tokens whose key was rotated out")
    chat.observe(
        "Clock skew broke login on staging",
        kind="bugfix",
        text="Tokens were refused up to 40 s after issue. Leeway of 60 s added in verify().",
        files=["src/auth/service.py"],
    )
    chat.end("Moved the token check into AuthService.verify() and fixed clock skew.")
    show("remembered 7 things (two of them about other languages and projects),")
    show("left 2 notes, 1 observation and a summary; 2 messages captured")


def _tuesday(ctx: ContextMiddleware, show: Callable[[str], None]) -> None:
    _title(show, "Tuesday: a new conversation. The prompt before")
    chat = ctx.session("tuesday", project="shop", language="python")
    asked: list[Message] = [_SYSTEM, {"role": "user", "content": _QUESTION}]
    _prompt(show, asked)
    # Only a model that has tools to fetch is told what there is to fetch.
    memory_tools(chat)
    prepared = chat.prepare(asked)
    _title(show, "The prompt after")
    _prompt(show, prepared.messages)
    _title(show, "The budget, lane by lane")
    _lanes(show, prepared)
    _title(show, f"The same with {_SMALL.total} tokens: what matters least is left out")
    small = ctx.session("tuesday-small", project="shop", language="python", budget=_SMALL)
    _prompt(show, small.prepare(asked).messages)
    _title(show, "The record: what was considered, and why it is in or out")
    show(prepared.context.explain())
    _finish(chat, prepared, show)


def _finish(chat: Session, prepared: Prepared, show: Callable[[str], None]) -> None:
    chat.finish(prepared, "It checks signature and expiry. Left: refuse rotated-out keys.")
    record = chat.history()[-1]
    same = "to the byte" if record.text == prepared.context.text else "changed"
    show("")
    show(f"stored with the answer ({record.state}); the blocks come back {same}")


def _in_frameworks(ctx: ContextMiddleware, show: Callable[[str], None]) -> None:
    for name, (module, extra) in _FRAMEWORKS.items():
        _title(show, f"The same memory in {name}")
        try:
            story = import_module(module)
        except MissingPackage:
            show(f'not installed: pip install "ctxmw[{extra}]"')
        else:
            story.run(ctx, show)


_FRAMEWORKS = {
    "a LangChain chain": ("ctxmw_langchain.demo", "langchain"),
    "a LlamaIndex chat engine": ("ctxmw_llamaindex.demo", "llamaindex"),
}
_SHOP = "project:shop"


def _title(show: Callable[[str], None], text: str) -> None:
    show("")
    show(text)
    show("-" * min(len(text), _WIDTH))


def _prompt(show: Callable[[str], None], messages: list[Message]) -> None:
    for message in messages:
        show(f"[{message['role']}]")
        for line in str(message["content"]).rstrip("\n").split("\n"):
            show(f"  {line}")


def _lanes(show: Callable[[str], None], prepared: Prepared) -> None:
    lanes = prepared.context.lanes
    for name, (spent, limit) in lanes.items():
        bar = "#" * round(30 * spent / max(1, limit))
        show(f"{name:<12} {spent:>5} of {limit:>5}  {bar}")
    show(prepared.context.summary())
