"""The kinds of runnables people build, each with what it is called with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from langchain_core.messages import AIMessage, HumanMessage, SystemMessage
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.runnables import Runnable, RunnableBranch, RunnablePassthrough
from pydantic import BaseModel

from tests.langchain.models import REPLY, RecordingModel, calling

QUESTION = "How does AuthService check a login?"
PROMPT = ChatPromptTemplate([("system", "You help."), ("human", "{question}")])


class Verdict(BaseModel):
    """What a structured answer holds."""

    says: str


def find_file(name: str) -> str:
    """Find a file by its name."""
    return name


@dataclass(frozen=True, slots=True)
class Shape:
    """How a runnable is built around a model, and what goes in."""

    build: Callable[[RecordingModel], Runnable[Any, Any]]
    given: Any
    reply: AIMessage | str = REPLY
    calls: int = 1
    """Model calls of one invocation."""


def _messages() -> list[Any]:
    return [SystemMessage("You help."), HumanMessage(QUESTION)]


def _branch(model: RecordingModel) -> Runnable[Any, Any]:
    chain = PROMPT | model
    return RunnableBranch((lambda given: "question" in given, chain), PROMPT | model | str)


ASKED = {"question": QUESTION}
SHAPES: dict[str, Shape] = {
    "model": Shape(lambda model: model, _messages()),
    "prompt | model": Shape(lambda model: PROMPT | model, ASKED),
    "prompt | model | parser": Shape(lambda model: PROMPT | model | StrOutputParser(), ASKED),
    "dict | prompt | model | parser": Shape(
        lambda model: {"question": RunnablePassthrough()} | PROMPT | model | StrOutputParser(),
        QUESTION,
    ),
    "assign": Shape(lambda model: RunnablePassthrough.assign(answer=PROMPT | model), ASKED),
    "bind": Shape(lambda model: model.bind(stop=["end"]), _messages()),
    "bind_tools": Shape(
        lambda model: model.bind_tools([find_file]),
        _messages(),
        calling("find_file", {"name": "auth.py"}),
    ),
    "with_config": Shape(lambda model: (PROMPT | model).with_config(tags=["mine"]), ASKED),
    "with_retry": Shape(lambda model: model.with_retry(), _messages()),
    "with_fallbacks": Shape(lambda model: (PROMPT | model).with_fallbacks([model]), ASKED),
    "with_structured_output": Shape(
        lambda model: model.with_structured_output(Verdict),
        _messages(),
        calling("Verdict", {"says": "yes"}),
    ),
    "map": Shape(lambda model: (PROMPT | model).map(), [ASKED, ASKED], calls=2),
    "branch": Shape(_branch, ASKED),
}
