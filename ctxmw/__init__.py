"""ctxmw: a memory for agents that arrives by itself, fits its budget, and explains itself."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from .calls.tools import MemoryTool, memory_tools
from .compaction.policy import Compacted, Compaction
from .conversation.conversation import Prepared
from .conversation.record import ContextRecord
from .entered import current_session
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
from .forgiving import ForgivingSession
from .learning.policy import Learning
from .learning.summarizers import SummarizerLimits
from .memory.hits import Hit
from .middleware import ContextMiddleware
from .recall.admission import Arriving
from .recall.catalog import AgentSearch, Offer
from .recall.modes import MODES, Mode
from .recall.render import Compact, Markdown, Xml
from .runtime.observing import Tracing
from .session import Session
from .store.sqlite.store import SqliteStore
from .tokens.counter import counter_for
from .tokens.windows import known_window
from .values.budget import Budget, OnDemand
from .values.items import Item, Scope, Trust
from .values.scoring import Floors, Weights
from .values.situation import Situation, detect, task_of
from .workspace.triggers import Triggers, analyze_message

if TYPE_CHECKING:
    from .settings.settings import Settings
    from .store.postgres.store import Limits as Limits
    from .store.postgres.store import PostgresStore as PostgresStore

__version__ = "0.1.0"

__all__ = [
    "MODES",
    "AgentSearch",
    "Arriving",
    "Budget",
    "Compact",
    "Compacted",
    "Compaction",
    "ContextMiddleware",
    "ContextRecord",
    "CtxmwError",
    "Floors",
    "ForgivingSession",
    "Hit",
    "InvalidValue",
    "Item",
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
    "counter_for",
    "current_session",
    "detect",
    "known_window",
    "memory_tools",
    "task_of",
]


_WHEN_ASKED_FOR = {
    # Not everybody has settings, and a model of all of them takes a while to make.
    "Settings": ".settings.settings",
    # Not everybody has the driver: these are not in __all__, for `import *` would ask for it.
    "Limits": ".store.postgres.store",
    "PostgresStore": ".store.postgres.store",
}


def __getattr__(name: str) -> Any:
    if name not in _WHEN_ASKED_FOR:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_WHEN_ASKED_FOR[name], __name__), name)


def load_ipython_extension(shell: object) -> None:
    """Answer `%load_ext ctxmw`: have the notebook know `%ctx` and `%%ctx`."""
    from .notebook.magics import register

    register(shell)
