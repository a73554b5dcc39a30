"""ctxmw: a memory for agents that arrives by itself, fits its budget, and explains itself."""

from typing import TYPE_CHECKING, Any

from .budget import Budget, OnDemand
from .compaction import Compacted, Compaction
from .conversation import Prepared
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
from .hits import Hit
from .items import Trust
from .learning import Learning
from .middleware import ContextMiddleware
from .modes import Mode
from .observing import Tracing
from .provenance import ContextRecord
from .render import Compact, Markdown, Xml
from .scoring import Floors, Weights
from .session import Session
from .sqlite import SqliteStore
from .summarizers import SummarizerLimits
from .tools import MemoryTool, memory_tools
from .triggers import Triggers
from .windows import known_window

if TYPE_CHECKING:
    from .config import Settings

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
        from .config import Settings

        return Settings
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def load_ipython_extension(shell: object) -> None:
    """Answer `%load_ext ctxmw`: have the notebook know `%ctx` and `%%ctx`."""
    from .magics import register

    register(shell)
