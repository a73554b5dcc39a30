"""ctxmw: a memory for agents that arrives by itself, fits its budget, and explains itself."""

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
from .recall.modes import Mode
from .recall.render import Compact, Markdown, Xml
from .runtime.observing import Tracing
from .session import Session
from .store.sqlite.store import SqliteStore
from .tokens.windows import known_window
from .values.budget import Budget, OnDemand
from .values.items import Trust
from .values.scoring import Floors, Weights
from .workspace.triggers import Triggers

if TYPE_CHECKING:
    from .settings.settings import Settings

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


def __getattr__(name: str) -> Any:
    # Not everybody has settings, and a model of all of them takes a while to make.
    if name == "Settings":
        from .settings.settings import Settings

        return Settings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: object) -> None:
    """Answer `%load_ext ctxmw`: have the notebook know `%ctx` and `%%ctx`."""
    from .notebook.magics import register

    register(shell)
