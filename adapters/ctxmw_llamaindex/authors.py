"""Who speaks in a message of a prompt, where it is not whom its role stands for.

Engines and agents print a person's words into templates, hand on tasks to each other and think
aloud in messages of their own. Only what the person said in the turn, and said before, teaches
something.
"""

from __future__ import annotations

import re
from typing import Protocol

from llama_index.core.base.llms.types import ChatMessage

DOCUMENTS = "document:context"
"""The source of what an engine or agent prints around a person's words."""
ACTION = re.compile(r"^Action: ([^\n() ]+)", re.MULTILINE)


class SaidBy(Protocol):
    """Whose words a prompt was made of."""

    by_person: bool
    asked: str
    around: frozenset[str]
    among_documents: bool


class Nobody:
    """A prompt of which nothing is known."""

    by_person = False
    asked = ""
    around: frozenset[str] = frozenset()
    among_documents = False


def brought_with(message: ChatMessage, said_by: SaidBy | None) -> dict[str, list[str]]:
    """Return what strangers' words come along with a turn's question.

    An engine that retrieves prints documents around it, or into the system prompt; a refining
    synthesizer, an agent's state and memory blocks print something around it as well.
    """
    if said_by is None or not said_by.asked:
        return {}
    along = said_by.among_documents or message.content != said_by.asked
    return {"brings": [DOCUMENTS]} if along else {}


def author_of(
    message: ChatMessage, role: str, said_by: SaidBy | None, *, is_question: bool
) -> dict[str, str]:
    """Return who speaks, where that is nobody who takes part in the conversation.

    That is the application, or the model that set a task.
    """
    text = message.content or ""
    if role == "assistant":
        # A ReAct agent thinks aloud; only its last words are for the user.
        return {"author": "application"} if ACTION.search(text) else {}
    if role != "user" or said_by is None:
        return {}
    if not said_by.asked or (text in said_by.around and not is_question):
        return {"author": "application"}
    return {} if said_by.by_person else {"author": "model"}
