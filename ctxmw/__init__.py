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
    from .calls.tools import MemoryTool, memory_tools
    from .compaction.policy import Compacted, Compaction
    from .conversation.conversation import Prepared
    from .conversation.record import ContextRecord
    from .entered import current_session
    from .forgiving import ForgivingSession
    from .learning.policy import Learning
    from .learning.summarizers import SummarizerLimits
    from .memory.hits import Hit
    from .middleware import ContextMiddleware
    from .recall.modes import Mode
    from .recall.render import Compact, Markdown, Xml
    from .runtime.observing import Tracing
    from .session import Session
    from .settings.settings import Settings
    from .store.sqlite.store import SqliteStore
    from .tokens.windows import known_window
    from .values.budget import Budget, OnDemand
    from .values.items import Trust
    from .values.scoring import Floors, Weights
    from .workspace.triggers import Triggers

__version__ = "0.1.0"

__all__ = [
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
    "Learning",
    "Markdown",
    "MemoryTool",
    "MissingPackage",
    "MissingUser",
    "Mode",
    "NotFound",
    "OnDemand",
    "Overloaded",
    "Prepared",
    "Session",
    "Settings",
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
    "current_session",
    "known_window",
    "memory_tools",
]


_HOMES = {
    "Budget": "values.budget",
    "Compact": "recall.render",
    "Compacted": "compaction.policy",
    "Compaction": "compaction.policy",
    "ContextMiddleware": "middleware",
    "ContextRecord": "conversation.record",
    "Floors": "values.scoring",
    "ForgivingSession": "forgiving",
    "Hit": "memory.hits",
    "Learning": "learning.policy",
    "Markdown": "recall.render",
    "MemoryTool": "calls.tools",
    "Mode": "recall.modes",
    "OnDemand": "values.budget",
    "Prepared": "conversation.conversation",
    "Session": "session",
    "Settings": "settings.settings",
    "SqliteStore": "store.sqlite.store",
    "SummarizerLimits": "learning.summarizers",
    "Tracing": "runtime.observing",
    "Triggers": "workspace.triggers",
    "Trust": "values.items",
    "Weights": "values.scoring",
    "Xml": "recall.render",
    "current_session": "entered",
    "known_window": "tokens.windows",
    "memory_tools": "calls.tools",
}
"""The module of each public name that is loaded when it is first asked for: a command, a store or a
test that needs one of them loads no others."""


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
