"""Where items come from: each source turns a situation into items and knows nothing of prompts."""

from .directory import Directory
from .memories import Memories
from .sessions import Sessions
from .shelf import Shelf

__all__ = ["Directory", "Memories", "Sessions", "Shelf"]
