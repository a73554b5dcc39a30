"""What a chain puts around a person's words before its model gets them.

A human message of a template that is one variable and nothing else has the words of whoever fills
it in: the person's, unless another message of the template is another variable, for then which of
them is the person's cannot be told. Any other is the application's, as it may hold anything:
instructions, documents, what other people wrote. Which of them a message was made of is told by the
template's own text in it, so it may have been cut or moved on the way to the model.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from string import Formatter
from types import MappingProxyType
from typing import Any

from langchain_core.messages import (
    AIMessage,
    BaseMessage,
    SystemMessage,
    ToolMessage,
    convert_to_messages,
)
from langchain_core.prompts import (
    AIMessagePromptTemplate,
    BasePromptTemplate,
    ChatPromptTemplate,
    FewShotChatMessagePromptTemplate,
    MessagesPlaceholder,
    PromptTemplate,
    SystemMessagePromptTemplate,
)
from langchain_core.runnables import RunnableBranch, RunnableSequence
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable

from .flow import from_model, hands_on

Literals = tuple[str, ...]
"""A template's own text, cut where something is filled in."""
ANYTHING: Literals = ("", "")
_EMPTY: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class Upstream:
    """What stands before a model in the chain it was wrapped in."""

    known: bool = False
    """Whether there is such a chain."""
    applications: tuple[Literals, ...] = ()
    """The human messages of its templates that are the application's."""
    passed: tuple[Any, ...] = ()
    """The steps since the last template."""
    made: bool = False
    """Whether another model stands on the way."""
    holds_documents: bool = False
    """Whether a placeholder of its templates is named after documents."""
    strangers: tuple[str, ...] = ()
    """The variables of its templates that are filled in with neither the person's words nor the
    application's: documents, what other people wrote, what another model said."""

    def after(self, step: Any, *, has_model: bool, said: str | None = None) -> Upstream:
        """Return what stands before whatever follows a step.

        `said` is the variable that was named as the person's.
        """
        if has_model:
            passed = (*self.passed, step)
            return replace(self, known=True, made=True, passed=passed)
        templates = list(_templates(step))
        if not templates:
            return replace(self, known=True, passed=(*self.passed, step))
        found = [literals for one in templates for literals in _applications(one)]
        spoken = {name for one in templates for name in _sole_variables(one)}
        if not all(hands_on(self.passed, name) for name in spoken):
            found.append(ANYTHING)
        return Upstream(
            known=True,
            applications=(*self.applications, *found),
            made=self.made,
            holds_documents=self.holds_documents or any(map(_of_documents, templates)),
            strangers=(*self.strangers, *_strange_variables(templates, said)),
        )

    def from_model(self, variable: str) -> bool:
        """Say whether a template's variable is filled in with what another model said."""
        return from_model(self.passed, variable)

    @property
    def seen(self) -> bool:
        """Whether what arrives was handed on: the caller's own, or a template's that is known."""
        return hands_on(self.passed)

    def wrote(self, message: BaseMessage) -> bool:
        """Say whether a human message was made on the way, and not by the person."""
        texts = _texts(message)
        return (
            self.made
            or not self.seen
            or any(_fits(text, literals) for text in texts for literals in self.applications)
        )


def _templates(step: Any) -> Iterator[BasePromptTemplate[Any]]:
    if isinstance(step, BasePromptTemplate):
        yield step
    elif isinstance(step, RunnableSequence):
        for inner in step.steps:
            yield from _templates(inner)
    elif isinstance(step, RunnableBranch):
        for inner in (*(chosen for _, chosen in step.branches), step.default):
            yield from _templates(inner)
    elif isinstance(step, RunnableBindingBase):
        yield from _templates(step.bound)
    elif isinstance(step, DynamicRunnable):
        for inner in (step.default, *getattr(step, "alternatives", {}).values()):
            yield from _templates(inner)


def _applications(template: Any, filled: Mapping[str, Any] = _EMPTY) -> Iterator[Literals]:
    """Yield the human messages of a template, or of one of its messages, that nobody says.

    `filled` is what the application filled in already.
    """
    if isinstance(template, ChatPromptTemplate):
        filled = {**filled, **template.partial_variables}
        for message in template.messages:
            yield from _applications(message, filled)
        if len(_sole_variables(template)) > 1 or _of_documents(template):
            yield ANYTHING
    elif isinstance(template, FewShotChatMessagePromptTemplate) and template.examples is not None:
        yield from _finished(template.format_messages())
    elif isinstance(template, BaseMessage):
        yield from _finished([template])
    elif isinstance(template, MessagesPlaceholder):
        yield from _finished(convert_to_messages(filled.get(template.variable_name) or ()))
    elif isinstance(template, PromptTemplate):
        yield from _unless_one_variable(template, filled)
    elif not isinstance(template, _NOT_HUMAN):
        prompts = getattr(template, "prompt", None)
        texts = [one for one in _listed(prompts) if isinstance(one, PromptTemplate)]
        # What cannot be read may put anything around anything.
        yield from _unless_one_variable(texts[0], filled) if len(texts) == 1 else [ANYTHING]


def _sole_variables(template: Any) -> set[str]:
    """Return the variables that are human messages by themselves."""
    texts = [template]
    if isinstance(template, ChatPromptTemplate):
        human = [one for one in template.messages if not isinstance(one, _NOT_HUMAN)]
        texts = [one for message in human for one in _listed(getattr(message, "prompt", None))]
    return {
        name
        for text in texts
        if isinstance(text, PromptTemplate)
        and not _unless_one_variable(text, template.partial_variables)
        for name in text.input_variables
    }


def _strange_variables(
    templates: Iterable[BasePromptTemplate[Any]], said: str | None
) -> Iterator[str]:
    """Yield the variables that have neither the person's words nor messages of their own."""
    for template in templates:
        messages = template.messages if isinstance(template, ChatPromptTemplate) else []
        persons = {said} if said in template.input_variables else _sole_variables(template)
        listed = set(_placeholders(template)) - _of_documents(template)
        # Of two that are a message each, it cannot be told which is the person's.
        spoken = persons if len(persons) == 1 else set()
        yield from (name for name in template.input_variables if name not in spoken | listed)
        if any(getattr(one, "example_selector", None) for one in messages):
            yield "examples"


def _placeholders(template: Any) -> list[str]:
    messages = template.messages if isinstance(template, ChatPromptTemplate) else []
    return [one.variable_name for one in messages if isinstance(one, MessagesPlaceholder)]


def _of_documents(template: Any) -> set[str]:
    """Return the placeholders of a template that are named after documents, not after people."""
    return {name for name in _placeholders(template) if _DOCUMENTS & set(name.lower().split("_"))}


_DOCUMENTS = frozenset(
    "context document documents doc docs source sources passage passages result results retrieved"
    " retrieval knowledge snippet snippets article articles page pages chunk chunks evidence"
    " reference references example examples facts web search".split()
)


_NOT_HUMAN = AIMessagePromptTemplate | SystemMessagePromptTemplate


def _listed(prompts: Any) -> list[Any]:
    return prompts if isinstance(prompts, list) else [prompts]


def _finished(messages: Iterable[BaseMessage]) -> Iterator[Literals]:
    for message in messages:
        if not isinstance(message, AIMessage | SystemMessage | ToolMessage):
            yield from ((text,) for text in _texts(message))


def _unless_one_variable(template: PromptTemplate, filled: Mapping[str, Any]) -> list[Literals]:
    literals = _literals(template)
    is_one = len(literals) == 2 and not any(map(str.strip, literals))
    open_ = [name for name in template.input_variables if name not in filled]
    return [] if is_one and open_ else [literals]


_FIELD = re.compile(r"\{\{[^{}]*\}\}\}?")


def _literals(template: PromptTemplate) -> Literals:
    text = template.template
    if template.template_format == "f-string":
        parts = list(Formatter().parse(text))
        ends_in_text = not parts or parts[-1][1] is None
        return (*(literal for literal, *_ in parts), *(() if ends_in_text else ("",)))
    if "{%" in text or "{{#" in text or "{{^" in text:
        return ANYTHING
    return tuple(_FIELD.split(text))


def _texts(message: BaseMessage) -> list[str]:
    content = message.content
    if isinstance(content, str):
        return [content]
    parts = (part.get("text") if isinstance(part, dict) else part for part in content)
    return [part for part in parts if isinstance(part, str)]


def _fits(text: str, literals: Sequence[str]) -> bool:
    """Say whether a text can be a template, filled in."""
    if len(literals) == 1:
        return text == literals[0]
    first, *middle, last = literals
    if not text.startswith(first):
        return False
    at = len(first)
    for literal in middle:
        found = text.find(literal, at)
        if found < 0:
            return False
        at = found + len(literal)
    return len(text) - at >= len(last) and text.endswith(last)
