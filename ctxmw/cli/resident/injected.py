"""What `ctxmw inject` and `ctxmw hook` print, by whichever process has the memory open."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...settings.settings import Settings
from ...store.open import data_folder
from ...values.budget import Budget
from .hooks import Hooks, read_moment

if TYPE_CHECKING:
    from ...conversation.conversation import Prepared
    from ...conversation.record import ContextRecord
    from ...middleware import ContextMiddleware

_OF_THE_FOLDER = ("project", "language", "store")
"""Settings in which two questions to one memory may differ; the store is compared by itself."""


def asked_settings(question: Mapping[str, Any]) -> Settings:
    """Return the settings that hold where somebody asks."""
    where = {name: question.get(name) for name in ("store", "user", "project")}
    return Settings.load(
        question["folder"], file=question.get("config"), environ=question["environ"], **where
    )


def injected(ctx: ContextMiddleware, settings: Settings, question: Mapping[str, Any]) -> str:
    """Return the block for a message, or what else is asked of it; "" when nothing matters."""
    budget, id_ = question.get("budget"), question.get("session")
    chat = ctx.session(
        id_,
        cwd=question["folder"],
        project=settings.project,
        language=settings.language,
        files=question.get("files", ()),
        budget=None if budget is None else Budget(total=budget),
    )
    messages = question["messages"]
    prepared = chat.prepare(messages) if id_ else chat.peek(messages)
    form = question.get("form")
    if form == "json":
        return json.dumps(_as_json(prepared), ensure_ascii=False, indent=2, default=str)
    if form == "explain":
        return prepared.context.explain()
    return _block(prepared.context, question.get("only")).removesuffix("\n")


def injections(
    ctx: ContextMiddleware, settings: Settings
) -> Callable[[Mapping[str, Any]], str | None]:
    """Return what answers for a memory that is open; None where another one is meant."""
    own, folder, hooks = _but_for_the_folder(settings), Path.cwd(), Hooks(ctx)

    def answer(question: Mapping[str, Any]) -> str | None:
        theirs = asked_settings(question)
        same_store = _place(theirs, Path(question["folder"])) == _place(settings, folder)
        if not same_store or _but_for_the_folder(theirs) != own:
            return None
        if "hook" in question:
            moment = read_moment(question["hook"], question["folder"])
            return hooks.answer(moment, question["client"], theirs)
        return injected(ctx, theirs, question)

    return answer


def _but_for_the_folder(settings: Settings) -> Settings:
    return settings.model_copy(update=dict.fromkeys(_OF_THE_FOLDER))


def _place(settings: Settings, folder: Path) -> object:
    """Return what is equal for two settings that mean one store."""
    store = settings.store
    if store == ":memory:":
        return object()
    if store is not None and "://" in store:
        return store
    return (folder / (store or data_folder() / "memory.db")).resolve()


def _block(context: ContextRecord, only: str | None) -> str:
    texts = {"stable": context.stable, "turn": context.part, None: context.text}
    return texts[only]


def _as_json(prepared: Prepared) -> dict[str, Any]:
    context = prepared.context
    return {
        "messages": prepared.messages,
        "stable": context.stable,
        "turn": context.part,
        "tokens": context.tokens,
        "limit": context.limit,
        "summary": context.summary(),
        "tools": list(prepared.tools),
        "used": [used.stored() | {"title": used.title} for used in context.used],
        "left_out": context.left_out,
        "degraded": context.degraded,
    }
