"""LangChain: wrap any runnable, a middleware for agents, and mem_search as a tool.

    chain = with_context(prompt | model, ctx)
    agent = create_agent(model, middleware=[ContextAgentMiddleware(ctx)])

Runnables, tools and the retriever need langchain-core only; the middleware is imported when it is
asked for and needs langchain; `ContextStore` and `LangGraphSource` need langgraph.
"""

from typing import TYPE_CHECKING, Any

from ctxmw import MissingPackage

try:
    import langchain_core  # noqa: F401
except ImportError as error:
    raise MissingPackage(
        'ctxmw_langchain needs langchain-core: pip install "ctxmw[langchain]"'
    ) from error

from .hooks import PreModelHook, pre_model_hook
from .model import ContextModel
from .rating import arate, rate
from .retriever import MemoryRetriever
from .runnable import with_context
from .tools import catalog_tools, code_tools, memory_tools

if TYPE_CHECKING:
    from .middleware import ContextAgentMiddleware
    from .store import ContextStore, LangGraphSource

__all__ = [
    "ContextAgentMiddleware",
    "ContextModel",
    "ContextStore",
    "LangGraphSource",
    "MemoryRetriever",
    "PreModelHook",
    "arate",
    "catalog_tools",
    "code_tools",
    "memory_tools",
    "pre_model_hook",
    "rate",
    "with_context",
]


def __getattr__(name: str) -> Any:
    if name == "ContextAgentMiddleware":
        from .middleware import ContextAgentMiddleware

        return ContextAgentMiddleware
    if name in ("ContextStore", "LangGraphSource"):
        from . import store

        return getattr(store, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
