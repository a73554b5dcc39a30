"""LlamaIndex: wrap any chat engine, agent or model, a memory block, and mem_search as a tool."""

from ctxmw import MissingPackage

try:
    import llama_index.core as _core  # noqa: F401
except ImportError as error:
    raise MissingPackage(
        'ctxmw_llamaindex needs llama-index-core: pip install "ctxmw[llamaindex]"'
    ) from error

from pydantic import VERSION as _PYDANTIC

from .context import with_context
from .events import ContextPrepared, ConversationCompacted
from .memory_block import ContextMemoryBlock
from .rating import arate, rate
from .tools import (
    CatalogToolSpec,
    CodeToolSpec,
    MemoryToolSpec,
    catalog_tools,
    code_tools,
    memory_tools,
)
from .versions import warn_of_pydantic

__all__ = [
    "CatalogToolSpec",
    "CodeToolSpec",
    "ContextMemoryBlock",
    "ContextPrepared",
    "ConversationCompacted",
    "MemoryToolSpec",
    "arate",
    "catalog_tools",
    "code_tools",
    "memory_tools",
    "rate",
    "with_context",
]

warn_of_pydantic(_PYDANTIC)
