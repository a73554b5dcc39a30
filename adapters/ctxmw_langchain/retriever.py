"""The memory as a retriever, for chains that search by themselves."""

from __future__ import annotations

from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import RunnableConfig
from pydantic import ConfigDict, Field, PrivateAttr, ValidationError

from ctxmw import ContextMiddleware, Hit, InvalidValue, Session

from .conversations import Conversations


class MemoryRetriever(BaseRetriever):
    """Returns what was remembered or said that answers a query, best first."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    ctx: ContextMiddleware
    session: Session | None = None
    """Whose memory is searched when the call's config does not say it."""
    k: int = Field(default=5, ge=1)
    """How many documents at most; `invoke(query, k=3)` asks for another number."""
    kinds: tuple[str, ...] = ()
    """Only these kinds, such as ("decision", "turn")."""
    metadata_filter: dict[str, Any] | None = None
    """Only memories whose metadata has this, such as {"team": "web"}."""
    scope: str | None = None
    """Only this scope, such as "project:shop"."""

    _conversations: Conversations = PrivateAttr()

    def __init__(self, **fields: Any) -> None:
        # An error of ours, and not pydantic's, says what is wrong with a memory or a conversation.
        conversations = Conversations(fields.get("ctx"), fields.get("session"))  # type: ignore[arg-type]
        try:
            super().__init__(**fields)
        except ValidationError as error:
            raise InvalidValue(_first_problem(error)) from error
        self._conversations = conversations

    def invoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        user = self._conversations.of(config).user
        return super().invoke(input, config, user=user, **kwargs)

    async def ainvoke(
        self, input: str, config: RunnableConfig | None = None, **kwargs: Any
    ) -> list[Document]:
        user = self._conversations.of(config).user
        return await super().ainvoke(input, config, user=user, **kwargs)

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        user: str = "",
        k: int | None = None,
    ) -> list[Document]:
        hits = self.ctx.search(query, user=user, **self._asked(k))
        return [_document(hit) for hit in hits]

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,
        user: str = "",
        k: int | None = None,
    ) -> list[Document]:
        hits = await self.ctx.asearch(query, user=user, **self._asked(k))
        return [_document(hit) for hit in hits]

    def _asked(self, k: int | None) -> dict[str, Any]:
        return {
            "limit": self.k if k is None else k,
            "kinds": self.kinds,
            "scope": self.scope,
            "metadata": self.metadata_filter,
        }


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"]))
    return f"{place} is {first['input']!r:.60}: {first['msg']}."


def _document(hit: Hit) -> Document:
    record = hit.record
    about = {
        "ref": hit.ref,
        "score": hit.score,
        "why": hit.why,
        "at": record.at.isoformat(),
        "session": record.session,
        "scope": record.scope,
        "source": record.source,
        "past": hit.past,
    }
    return Document(page_content=hit.text, id=hit.ref, metadata=about)
