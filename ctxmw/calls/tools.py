"""What an agent can call by itself: mem_search, mem_get and memory_context.

Each is a plain function with a JSON schema and a description written for a model. An answer is
data: escaped, dated, inside our frame, within its budget. Whatever the arguments are, a tool
answers with text a model can go on with; it raises only when the store fails.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import InvalidValue
from .on_demand import OnDemandAnswers


class SearchArguments(BaseModel):
    """Arguments of mem_search."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(description="What to look for: names, words or a question.")
    kinds: list[str] = Field(
        default_factory=list,
        description="Only these kinds, such as decision, preference, turn, summary, bugfix.",
    )


class GetArguments(BaseModel):
    """Arguments of mem_get."""

    model_config = ConfigDict(extra="ignore")

    ids: list[str] = Field(description="Ids from the index or from mem_search, such as m3k7qza.")
    offset: int = Field(
        default=0, ge=0, description="Where to go on in a long text, in characters."
    )


class ContextArguments(BaseModel):
    """Arguments of memory_context."""

    model_config = ConfigDict(extra="ignore")

    query: str | None = Field(default=None, description="A topic, such as error handling.")
    scope: str | None = Field(
        default=None, description="universal, language:NAME or project:NAME; default: where we are."
    )
    kind: str | None = Field(
        default=None,
        description="preference, rule, anti_pattern, decision, correction or fact.",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryTool:
    """A function for an agent: its name, what it does, and what it takes."""

    name: str
    description: str
    arguments: type[BaseModel]
    _run: Callable[[Any], str]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON schema of the arguments."""
        return self.arguments.model_json_schema()

    def __call__(self, **arguments: Any) -> str:
        """Return the answer as text; wrong arguments are answered with what is allowed."""
        try:
            checked = self.arguments.model_validate(arguments)
        except ValidationError as error:
            return f"{self.name} could not read its arguments: {_first_problem(error)}"
        try:
            return self._run(checked)
        except InvalidValue as error:
            return f"{self.name}: {error}"


class Answering(Protocol):
    """A conversation that answers an agent's own questions, such as a `Session`."""

    @property
    def on_demand(self) -> OnDemandAnswers: ...


def memory_tools(chat: Answering) -> list[MemoryTool]:
    """Return the three tools, bound to a conversation."""
    answers = getattr(chat, "on_demand", None)
    if not isinstance(answers, OnDemandAnswers):
        raise InvalidValue(
            f"memory_tools was given {type(chat).__name__}: give a conversation, such as "
            "ctx.session('...')."
        )
    return [
        MemoryTool(
            name="mem_search",
            description=(
                "Search everything remembered from earlier conversations and work: decisions, "
                "preferences, notes, what was said. Use it when the answer may depend on something "
                "that is not in view. Returns the best passages, then ids for mem_get."
            ),
            arguments=SearchArguments,
            _run=lambda given: answers.search(given.query, given.kinds),
        ),
        MemoryTool(
            name="mem_get",
            description=(
                "Bring remembered records in full by their ids, as listed in the index or by "
                "mem_search. Long texts come in pages: call again with the offset it names."
            ),
            arguments=GetArguments,
            _run=lambda given: answers.get(given.ids, given.offset),
        ),
        MemoryTool(
            name="memory_context",
            description=(
                "Bring the rules, preferences and decisions that hold here, by topic, scope or "
                "kind. Two calls are answered in full, later ones as an index."
            ),
            arguments=ContextArguments,
            _run=lambda given: answers.context(given.query, given.scope, given.kind),
        ),
    ]


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "arguments"
    return f"{place}: {first['msg']}."
