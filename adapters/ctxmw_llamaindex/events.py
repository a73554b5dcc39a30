"""What is told about a call: on the answer, and to LlamaIndex's instrumentation."""

from __future__ import annotations

from llama_index_instrumentation import get_dispatcher
from llama_index_instrumentation.base import BaseEvent

from ctxmw import CompactionEvent, ContextRecord

dispatcher = get_dispatcher("ctxmw")


class ContextPrepared(BaseEvent):
    """A prompt was prepared; the record says what went in and why."""

    record: str
    session: str
    turn: str
    summary: str
    tokens: int
    degraded: str

    @classmethod
    def class_name(cls) -> str:
        return "ContextPrepared"


class ConversationCompacted(BaseEvent):
    """A conversation was compacted: the messages that left the view are archived."""

    session: str
    view: str
    tokens: int
    archived: int

    @classmethod
    def class_name(cls) -> str:
        return "ConversationCompacted"


def announce_compaction(event: CompactionEvent | None) -> None:
    """Tell the same of a compaction, where there was one."""
    if event is not None:
        dispatcher.event(ConversationCompacted(**event.told()))


def announce(record: ContextRecord) -> None:
    """Tell whoever listens to LlamaIndex's instrumentation, within the span of the call."""
    about = record.told()
    dispatcher.event(ContextPrepared(session=record.session, turn=record.turn, **about))
