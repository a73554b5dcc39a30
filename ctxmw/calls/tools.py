"""What an agent can call by itself: memory tools that look and write, and code_search.

Each is a plain function with a JSON schema and a description written for a model. An answer is
data: escaped, dated, inside our frame, within its budget. Whatever the arguments are, a tool
answers with text a model can go on with; it raises only when the store fails.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..errors import InvalidValue
from ..values.argument_checks import is_listed
from .on_demand import OnDemandAnswers
from .writing import AgentWriting, checked_day


class SearchArguments(BaseModel):
    """Arguments of mem_search."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(description="What to look for: names, words or a question.")
    kinds: list[str] = Field(
        default_factory=list,
        description="Only these kinds, such as decision, preference, turn, summary, bugfix.",
    )


class CodeArguments(BaseModel):
    """Arguments of code_search."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(
        description="What the code does, a name of it, or a question, such as: retries of uploads."
    )


class GetArguments(BaseModel):
    """Arguments of mem_get."""

    model_config = ConfigDict(extra="ignore")

    ids: list[str] = Field(description="Ids from the index or from mem_search, such as m3k7qza.")
    offset: int = Field(
        default=0, ge=0, description="Where to go on in a long text, in characters."
    )
    query: str = Field(
        default="", description="What you look for: a long text opens where it speaks of that."
    )


class ToolArguments(BaseModel):
    """Arguments of find_tools."""

    model_config = ConfigDict(extra="ignore")

    query: str = Field(
        default="", description="What you want to do, such as: send a message to a channel."
    )
    names: list[str] = Field(
        default_factory=list, description="Or names of tools that it listed, to have them loaded."
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


class RememberArguments(BaseModel):
    """Arguments of remember."""

    model_config = ConfigDict(extra="ignore")

    text: str = Field(description="What to remember, in one or two sentences that stand alone.")
    kind: str = Field(
        default="fact",
        description="preference, rule, anti_pattern, decision, correction or fact.",
    )
    scope: str = Field(
        default="",
        description="universal, language:NAME or project:NAME; without it, the project at hand.",
    )
    key: str = Field(
        default="",
        description="A short name; remembering under the same name again edits what had it.",
    )
    until: str = Field(
        default="",
        description="The last day on which it holds, such as 2026-05-17; if there is one.",
    )


class ForgetArguments(BaseModel):
    """Arguments of forget."""

    model_config = ConfigDict(extra="ignore")

    ids: list[str] = Field(
        default_factory=list, description="Ids from mem_search or the index, such as m3k7qza."
    )
    key: str = Field(default="", description="Or the name it was remembered under.")


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
    @property
    def writing(self) -> AgentWriting: ...


LOOKING = ("mem_search", "mem_get", "memory_context")
WRITING = ("remember", "forget")
TOOLS = (*LOOKING, *WRITING)
"""Every tool, in the order in which they are given."""


def memory_tools(chat: Answering, *, tools: bool | Sequence[str] = True) -> list[MemoryTool]:
    """Return the tools, bound to a conversation: all of them, none, or those of these names."""
    names = tool_names(tools)
    answers, writing = getattr(chat, "on_demand", None), getattr(chat, "writing", None)
    if not isinstance(answers, OnDemandAnswers) or not isinstance(writing, AgentWriting):
        raise InvalidValue(
            f"memory_tools was given {type(chat).__name__}: give a conversation, such as "
            "ctx.session('...')."
        )
    if "mem_get" in names or "mem_search" in names:
        answers.given_out()
    made = [*_looking(answers), *_writing(writing)]
    return [tool for tool in made if tool.name in names]


def tool_names(tools: bool | Sequence[str]) -> tuple[str, ...]:
    """Return the names of the tools that are asked for; raise for what is none."""
    if isinstance(tools, bool):
        return TOOLS if tools else ()
    # An empty list may be one that somebody forgot to fill: none is asked for with False.
    if not is_listed(tools) or not tools or not all(name in TOOLS for name in tools):
        raise InvalidValue(
            f"tools is {tools!r:.60}: give True, False, or names of {', '.join(TOOLS)}."
        )
    return tuple(name for name in TOOLS if name in tuple(tools))


def _looking(answers: OnDemandAnswers) -> list[MemoryTool]:
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
                "mem_search. Long texts come in pages: call again with the offset it names, or "
                "name what you look for to begin there."
            ),
            arguments=GetArguments,
            _run=lambda given: answers.get(given.ids, given.offset, given.query),
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


def _writing(writing: AgentWriting) -> list[MemoryTool]:
    return [
        MemoryTool(
            name="remember",
            description=(
                "Remember something for later conversations: a preference, a decision, a fact. Use "
                "it when the user asks for it, or says how something shall be done from now on."
            ),
            arguments=RememberArguments,
            _run=lambda given: writing.remember(
                given.text, given.kind, given.scope, given.key, checked_day(given.until)
            ),
        ),
        MemoryTool(
            name="forget",
            description=(
                "Forget memories by their ids or their key. Use it only when the user asks for it "
                "or has said that a memory is wrong. Says what went."
            ),
            arguments=ForgetArguments,
            _run=lambda given: writing.forget(given.ids, given.key),
        ),
    ]


def code_tools(chat: Answering) -> list[MemoryTool]:
    """Return code_search, bound to a conversation: the project's code by what it does."""
    answers = getattr(chat, "on_demand", None)
    if not isinstance(answers, OnDemandAnswers):
        raise InvalidValue(
            f"code_tools was given {type(chat).__name__}: give a conversation, such as "
            "ctx.session('...', cwd='.')."
        )
    return [
        MemoryTool(
            name="code_search",
            description=(
                "Find the code of this project by what it does or what it is called, in any words. "
                "Returns the best files with the definitions in them that matter and the lines "
                "that answer, with their numbers; then other files as a line each."
            ),
            arguments=CodeArguments,
            _run=lambda given: answers.code(given.query),
        )
    ]


def catalog_tools(chat: Answering) -> list[MemoryTool]:
    """Return find_tools, bound to a conversation: more of the application's tools."""
    answers = getattr(chat, "on_demand", None)
    if not isinstance(answers, OnDemandAnswers):
        raise InvalidValue(
            f"catalog_tools was given {type(chat).__name__}: give a conversation, such as "
            "ctx.session('...')."
        )
    return [
        MemoryTool(
            name="find_tools",
            description=(
                "Find tools that you were not given yet, by what you want to do. Returns the best "
                "with a line on each, and loads the first of them: you can call these in your next "
                "step. Use it before you say that something cannot be done."
            ),
            arguments=ToolArguments,
            _run=lambda given: answers.tools(given.query, given.names),
        )
    ]


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    place = ".".join(map(str, first["loc"])) or "arguments"
    return f"{place}: {first['msg']}."
