"""LangGraph's long-term memory in ours: a `BaseStore`, and an existing store as a source."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from typing import Any

from ctxmw import (
    ContextMiddleware,
    Documents,
    DocumentSearch,
    InvalidValue,
    Item,
    KeptDocument,
    MissingPackage,
    MissingUser,
    Situation,
    Trust,
    WrongUser,
)

from .callers import configurable, user_of

try:
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
    )
    from langgraph.store.base import Item as StoredItem

    from .store_checks import check_op, check_ttl
except ImportError as error:
    raise MissingPackage('stores need langgraph: pip install "ctxmw[agents]"') from error

Namespace = tuple[str, ...]


class ContextStore(BaseStore):
    """What a graph, LangMem's tools or deepagents put away, in the user's memory.

    `create_agent(..., store=ContextStore(ctx))`. Each user has a store of their own, whatever
    namespaces are used. Secrets are taken out of what is put, as everywhere. A query finds by
    words.
    """

    supports_ttl = True
    __slots__ = ("_ctx", "_user", "ttl_config")

    def __init__(
        self, ctx: ContextMiddleware, *, user: str | None = None, ttl: TTLConfig | None = None
    ) -> None:
        """Make it for a memory; without a user, each call says whose: as `with_context` takes it.

        `ttl` is LangGraph's own, such as {"default_ttl": 60, "refresh_on_read": True}. What is over
        its time is never returned; `sweep_ttl` removes it.
        """
        if not isinstance(ctx, ContextMiddleware):
            raise InvalidValue(f"ctx is {ctx!r:.60}: give a memory, ContextMiddleware.open().")
        if user is not None:
            ctx.documents(user=user)
        check_ttl(ttl)
        self._ctx = ctx
        self._user = user
        self.ttl_config = ttl

    def __repr__(self) -> str:
        return f"ContextStore({self._ctx!r}, user={self._user!r})"

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Answer all questions, then write: what is put is there for the next batch."""
        return self._batch(list(ops), self._documents())

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Async twin of `batch`; whose store it is, is read before the loop goes on."""
        return await asyncio.to_thread(self._batch, list(ops), self._documents())

    def sweep_ttl(self) -> int:
        """Remove what is over its time; say how many there were."""
        return self._documents().sweep()

    def _batch(self, ops: Sequence[Op], documents: Documents) -> list[Result]:
        for op in ops:
            check_op(op)
        # Of several for one place the last one holds.
        puts = {(tuple(op.namespace), op.key): op for op in ops if isinstance(op, PutOp)}
        with documents.atomic():
            results = [_answer(documents, op) for op in ops]
            for op in puts.values():
                _put(documents, op)
        return results

    def _documents(self) -> Documents:
        said, mine = user_of(configurable(None)), self._user or self._ctx.user
        if said is not None and mine is not None and said != mine:
            raise WrongUser(
                f"the call names the user {said!r}, but this store is for {mine!r}: open the "
                "memory with user=None, and make the store without user."
            )
        try:
            return self._ctx.documents(user=mine or said)
        except MissingUser:
            raise MissingUser(
                "this memory serves many users and the call names none: pass "
                'config={"configurable": {"user_id": "..."}}, or make ContextStore(ctx, user=...).'
            ) from None


class LangGraphSource:
    """What a LangGraph store has under a namespace, as a source of the memory's own.

    `ContextMiddleware.open(..., sources=[LangGraphSource(store, ("facts",))])`. A label of the
    namespace may be "{user}" or "{project}": then it is that of the conversation.
    """

    def __init__(
        self,
        store: BaseStore,
        namespace: Namespace,
        *,
        limit: int = 20,
        name: str = "langgraph",
        trust: Trust = "untrusted",
    ) -> None:
        """Bring at most `limit` at a time.

        Whoever wrote it was no person that this memory knows: `trust="trusted"` says that it was.
        """
        if not isinstance(store, BaseStore):
            raise InvalidValue(f"store is {store!r:.60}: give a LangGraph store.")
        if not isinstance(namespace, tuple):
            raise InvalidValue(f"namespace is {namespace!r:.60}: give a tuple, such as ('facts',).")
        self.name = name
        self._store = store
        self._namespace = tuple(namespace)
        self._limit = limit
        self._trust: Trust = trust

    def items(self, situation: Situation, /) -> list[Item]:
        """Return what the store finds for the question; nothing where there is none."""
        at = {"{user}": situation.user, "{project}": situation.project or ""}
        namespace = tuple(at.get(label, label) for label in self._namespace)
        query = situation.query.strip()
        if "" in namespace or not query:
            return []
        found = self._store.search(namespace, query=query, limit=self._limit)
        return [self._item(one) for one in found if one.value]

    def _item(self, found: SearchItem) -> Item:
        place = "/".join((*found.namespace, found.key))
        return Item(
            ref=f"{self.name}:{place}",
            kind="fact",
            text=_text_of(found.value),
            lane="turn",
            section="references",
            include="agent",
            title=found.key,
            source=f"{self.name}:{'/'.join(found.namespace)}",
            trust=self._trust,
            at=found.updated_at,
        )


def _answer(documents: Documents, op: Op) -> Result:
    if isinstance(op, GetOp):
        found = documents.get(tuple(op.namespace), op.key, refresh=op.refresh_ttl)
        return _item(found) if found else None
    if isinstance(op, SearchOp):
        asked = DocumentSearch(
            path=tuple(op.namespace_prefix),
            filter=op.filter,
            query=op.query or "",
            limit=op.limit,
            offset=op.offset,
        )
        return [_hit(*one) for one in documents.search(asked, refresh=op.refresh_ttl)]
    if isinstance(op, ListNamespacesOp):
        return _namespaces(documents.paths(), op)
    if isinstance(op, PutOp):
        return None
    raise ValueError(f"Unknown operation type: {type(op)}")


def _put(documents: Documents, op: PutOp) -> None:
    namespace = tuple(op.namespace)
    if op.value is None:
        documents.delete(namespace, op.key)
        return
    text = None
    if op.index is False:
        text = ""
    elif op.index:
        found = (get_text_at_path(op.value, tokenize_path(path)) for path in op.index)
        text = " ".join(one for texts in found for one in texts)
    documents.put(namespace, op.key, op.value, text=text, minutes=op.ttl)


def _item(document: KeptDocument) -> StoredItem:
    return StoredItem(**_fields(document))


def _hit(document: KeptDocument, score: float | None) -> SearchItem:
    return SearchItem(**_fields(document), score=score)


def _fields(document: KeptDocument) -> dict[str, Any]:
    return {
        "value": document.value,
        "key": document.name,
        "namespace": document.path,
        "created_at": document.created,
        "updated_at": document.at,
    }


def _namespaces(paths: Sequence[Namespace], op: ListNamespacesOp) -> list[Namespace]:
    wanted = op.match_conditions or ()
    found = [path for path in paths if all(_matches(path, condition) for condition in wanted)]
    if op.max_depth is not None:
        found = sorted({path[: op.max_depth] for path in found})
    return found[op.offset : op.offset + op.limit]


def _matches(path: Namespace, condition: MatchCondition) -> bool:
    asked = tuple(condition.path)
    if len(path) < len(asked):
        return False
    at_end = condition.match_type == "suffix"
    own = path[len(path) - len(asked) :] if at_end else path[: len(asked)]
    return all(want in ("*", have) for want, have in zip(asked, own, strict=True))


def _text_of(value: dict[str, Any]) -> str:
    """Return what a value says: LangMem and most others keep it under one of these names."""
    for name in ("text", "content", "memory", "data"):
        said = value.get(name)
        if isinstance(said, str) and said:
            return said
        if isinstance(said, dict):
            return _text_of(said)
    return "; ".join(f"{name}: {one}" for name, one in value.items())
