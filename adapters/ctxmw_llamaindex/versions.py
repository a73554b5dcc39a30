"""Says what does not work with which version, before it shows as a lost conversation."""

from __future__ import annotations

import warnings

BROKEN = (2, 14)
"""The first pydantic that llama-index-core's chat store cannot be stored with."""


def warn_of_pydantic(version: str) -> None:
    """Warn when the installed pydantic breaks LlamaIndex's chat store."""
    major, minor = (int(number) for number in version.split(".")[:2])
    if (major, minor) >= BROKEN:
        warnings.warn(
            f"pydantic {version} breaks llama-index-core's chat store: SimpleChatStore.persist and "
            "ChatMemoryBuffer.to_string raise, and agents forget the chat between runs. Run "
            'pip install "pydantic<2.14", or pass memory=Memory.from_defaults(...) to every run().',
            RuntimeWarning,
            stacklevel=3,
        )
