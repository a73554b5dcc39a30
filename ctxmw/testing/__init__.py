"""What to test your own code with.

A clock that stands still, an embedder without a model, and `validate_store`, which tells whether a
store of your own keeps its promises.
"""

from __future__ import annotations

from .conformance import Outcome, Report, validate_store
from .doubles import FixedClock, HashEmbedder

__all__ = ["FixedClock", "HashEmbedder", "Outcome", "Report", "validate_store"]
