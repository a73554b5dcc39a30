"""What is told to LangChain's callbacks and event streams."""

from __future__ import annotations

from contextlib import suppress

from langchain_core.callbacks.manager import adispatch_custom_event, dispatch_custom_event

from ctxmw import Prepared

COMPACTED = "ctxmw_compacted"
"""The name of the custom event of a conversation that was compacted."""


def tell_compaction(prepared: Prepared | None) -> None:
    """Tell handlers of custom events that the conversation was compacted for this call."""
    if prepared is not None and prepared.compaction is not None:
        # Outside of a run there is nobody to tell.
        with suppress(RuntimeError):
            dispatch_custom_event(COMPACTED, prepared.compaction.told())


async def atell_compaction(prepared: Prepared | None) -> None:
    """Async twin of `tell_compaction`."""
    if prepared is not None and prepared.compaction is not None:
        with suppress(RuntimeError):
            await adispatch_custom_event(COMPACTED, prepared.compaction.told())
