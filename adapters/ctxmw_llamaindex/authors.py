"""Who wrote a message of a prompt: somebody who takes part in the conversation, or the application.

Engines and agents print a person's words into templates, hand on tasks to each other and think
aloud in messages of their own. Only what the person said in the turn, and said before, teaches
something.
"""

from __future__ import annotations

import re
from typing import Protocol

from llama_index.core.base.llms.types import ChatMessage

ACTION = re.compile(r"^Action: ([^\n() ]+)", re.MULTILINE)


class SaidBy(Protocol):
    """Whose words a prompt was made of."""

    by_person: bool
    asked: str
    around: frozenset[str]


class Nobody:
    """A prompt of which nothing is known."""

    by_person = False
    asked = ""
    around: frozenset[str] = frozenset()


def author_of(
    message: ChatMessage, role: str, said_by: SaidBy | None, *, is_question: bool
) -> dict[str, str]:
    """Return who wrote a message, where that is nobody who takes part in the conversation."""
    text = message.content or ""
    if role == "assistant":
        # A ReAct agent thinks aloud; only its last words are for the user.
        nobody = bool(ACTION.search(text))
    elif role != "user" or said_by is None:
        nobody = False
    else:
        nobody = not (said_by.by_person and said_by.asked)
        nobody = nobody or (text in said_by.around and not is_question)
    return {"author": "application"} if nobody else {}
