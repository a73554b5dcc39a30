"""ctxmw: a memory for agents that arrives by itself, fits its budget, and explains itself."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .errors import (
    CtxmwError,
    InvalidValue,
    MissingPackage,
    MissingUser,
    NotFound,
    Overloaded,
    StoreError,
    SummarizerError,
    WrongUser,
)

if TYPE_CHECKING:
    from .calls.tools import MemoryTool, catalog_tools, code_tools, memory_tools
    from .compaction.compactor import Compacted, Compaction
    from .compaction.hooks import CompactionHooks
    from .conversation.conversation import Prepared
    from .conversation.record import ContextRecord
    from .entered import current_session
    from .forgiving import ForgivingSession
    from .learning.policy import Learning
    from .learning.summarizers import SummarizerLimits
    from .memory.documents import Documents, DocumentSearch, KeptDocument
    from .memory.hits import Hit
    from .memory.retention import Receipt
    from .middleware import ContextMiddleware
    from .recall.modes import MODES, Mode
    from .recall.offering.items import Offer
    from .recall.offering.view import AgentSearch
    from .recall.render import Compact, Markdown, Xml
    from .runtime.telemetry import Tracing
    from .search.feedback import Feedback
    from .session import Session
    from .settings.settings import Settings
    from .store.postgres.store import Limits as Limits
    from .store.postgres.store import PostgresStore as PostgresStore
    from .store.sqlite.store import SqliteStore
    from .tokens.counter import counter_for
    from .tokens.models import known_window
    from .values.budget import Arriving, Budget, OnDemand
    from .values.compaction_event import CompactionEvent
    from .values.items import Item, Scope, Trust
    from .values.near_names import check_names
    from .values.retention import Retention
    from .values.situation import Floors, Situation, Weights, task_of
    from .workspace.project import detect
    from .workspace.triggers import Triggers, analyze_message

__version__ = "0.1.0"

__all__ = [
    "MODES",
    "AgentSearch",
    "Arriving",
    "Budget",
    "Compact",
    "Compacted",
    "Compaction",
    "CompactionEvent",
    "CompactionHooks",
    "ContextMiddleware",
    "ContextRecord",
    "CtxmwError",
    "DocumentSearch",
    "Documents",
    "Feedback",
    "Floors",
    "ForgivingSession",
    "Hit",
    "InvalidValue",
    "Item",
    "KeptDocument",
    "Learning",
    "Markdown",
    "MemoryTool",
    "MissingPackage",
    "MissingUser",
    "Mode",
    "NotFound",
    "Offer",
    "OnDemand",
    "Overloaded",
    "Prepared",
    "Receipt",
    "Retention",
    "Scope",
    "Session",
    "Settings",
    "Situation",
    "SqliteStore",
    "StoreError",
    "SummarizerError",
    "SummarizerLimits",
    "Tracing",
    "Triggers",
    "Trust",
    "Weights",
    "WrongUser",
    "Xml",
    "analyze_message",
    "catalog_tools",
    "check_names",
    "code_tools",
    "counter_for",
    "current_session",
    "detect",
    "known_window",
    "memory_tools",
    "task_of",
]


_NAMES = {
    "calls.tools": "MemoryTool catalog_tools code_tools memory_tools",
    "compaction.compactor": "Compacted Compaction",
    "compaction.hooks": "CompactionHooks",
    "conversation.conversation": "Prepared",
    "conversation.record": "ContextRecord",
    "entered": "current_session",
    "forgiving": "ForgivingSession",
    "learning.policy": "Learning",
    "learning.summarizers": "SummarizerLimits",
    "memory.documents": "KeptDocument DocumentSearch Documents",
    "memory.hits": "Hit",
    "memory.retention": "Receipt",
    "middleware": "ContextMiddleware",
    "recall.offering.items": "Offer",
    "recall.offering.view": "AgentSearch",
    "recall.modes": "MODES Mode",
    "recall.render": "Compact Markdown Xml",
    "runtime.telemetry": "Tracing",
    "search.feedback": "Feedback",
    "session": "Session",
    "settings.settings": "Settings",
    # Not everybody has the driver: these are not in __all__, for `import *` would ask for it.
    "store.postgres.store": "Limits PostgresStore",
    "store.sqlite.store": "SqliteStore",
    "tokens.counter": "counter_for",
    "tokens.models": "known_window",
    "values.compaction_event": "CompactionEvent",
    "values.budget": "Arriving Budget OnDemand",
    "values.items": "Item Scope Trust",
    "values.near_names": "check_names",
    "values.retention": "Retention",
    "values.situation": "Floors Situation Weights task_of",
    "workspace.project": "detect",
    "workspace.triggers": "Triggers analyze_message",
}
"""The public names of each module, which is loaded when one is first asked for: a command, a store
or a test that needs one of them loads no others."""
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOMES[name]}", __name__), name)
    globals()[name] = value  # found without asking from now on
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})


def load_ipython_extension(shell: object) -> None:
    """Answer `%load_ext ctxmw`: have the notebook know `%ctx` and `%%ctx`."""
    from .notebook.magics import register

    register(shell)
