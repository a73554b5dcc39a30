"""`with_context`: a runnable whose models have a memory.

The runnable is rebuilt around its chat models; everything else in it stays the same object. What
hides its model cannot be rebuilt, and is refused with a word on how to do it right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import (
    Runnable,
    RunnableAssign,
    RunnableBranch,
    RunnableParallel,
    RunnableSequence,
    RunnableWithFallbacks,
)
from langchain_core.runnables.base import RunnableBindingBase, RunnableEachBase
from langchain_core.runnables.configurable import DynamicRunnable
from langchain_core.runnables.history import RunnableWithMessageHistory
from langchain_core.runnables.router import RouterRunnable

from ctxmw import ContextMiddleware, InvalidValue, Session

from .conversations import Conversations
from .model import ContextModel
from .refusal import refusal
from .said import SpokenPrompt
from .templates import Upstream

Input = TypeVar("Input")
Output = TypeVar("Output")
_NOTHING = Upstream()


def with_context(
    runnable: Runnable[Input, Output],
    ctx: ContextMiddleware,
    *,
    session: Session | None = None,
    project: str | None = None,
    cwd: str | Path | None = None,
    said: str | None = None,
    learn: bool = True,
) -> Runnable[Input, Output]:
    """Return the runnable with a memory around each of its chat models.

    The one given is not changed. Wrapping twice is the same as wrapping once. Conditions of a
    branch are left alone: they decide, they do not converse.

    `project` and `cwd` say where its conversations take place; a call can say it instead, with
    `config={"configurable": {"project": ...}}`.

    `said` names the variable of a template that has the person's words, where there is more to the
    template: these are captured and learned from, and nothing else of it. With `learn=False`
    nothing is learned from what is said in its calls, nor found later.
    """
    conversations = Conversations(ctx, session, learn=learn, project=project, cwd=cwd)
    wrapping = Wrapping(conversations, said)
    wrapped: Runnable[Input, Output] = wrapping.around(runnable)
    if not wrapping.found:
        raise InvalidValue(refusal(runnable, wrapping.leaves))
    if said is not None and not wrapping.spoken:
        names = ", ".join(sorted(wrapping.variables)) or "none"
        raise InvalidValue(
            f"said is {said!r:.60}, and no template of the chain has such a variable. It has: "
            f"{names}. Wrap the chain together with its template."
        )
    return wrapped


class Wrapping:
    """One walk through a runnable."""

    def __init__(self, conversations: Conversations, said: str | None = None) -> None:
        self._conversations = conversations
        self._said = said
        self.spoken = 0
        """How many templates tell what the person said in them."""
        self.variables: set[str] = set()
        """The variables of the templates."""
        self.found = 0
        """How many models have a memory now."""
        self.leaves: list[Any] = []
        """What was not looked into."""

    def around(self, runnable: Any, upstream: Upstream = _NOTHING) -> Any:
        """Return the runnable with its models wrapped; the same object when it has none.

        `upstream` is what its input has passed already.
        """
        if isinstance(runnable, BaseChatModel):
            self.found += 1
            return ContextModel(
                bound=runnable, conversations=self._conversations, upstream=upstream
            )
        if isinstance(runnable, ContextModel):
            return self._again(runnable, upstream)
        if isinstance(runnable, RunnableWithMessageHistory):
            raise InvalidValue(refusal(runnable))
        if isinstance(runnable, DynamicRunnable):
            return self._settled(runnable)
        if isinstance(runnable, BasePromptTemplate):
            return self._telling(runnable, upstream)
        before = (self.found, self.spoken)
        changes = self._inside(runnable, upstream)
        changed = (self.found, self.spoken) != before
        return runnable.model_copy(update=changes) if changed else runnable

    def _telling(self, template: BasePromptTemplate[Any], upstream: Upstream) -> Any:
        """Return a template that tells what the person said, where that was named.

        What another model made of it, such as a question that was condensed, is not the person's.
        """
        self.variables.update(template.input_variables)
        if self._said is None or self._said not in template.input_variables:
            self.leaves.append(template)
            return template
        self.spoken += 1
        if upstream.from_model(self._said):
            return template
        return SpokenPrompt(template=template, said=self._said)

    def _inside(self, runnable: Any, upstream: Upstream) -> dict[str, Any]:
        """Return the parts of a runnable that hold others, walked through."""
        if isinstance(runnable, RunnableSequence):
            first, *middle, last = self._steps(runnable.steps, upstream)
            return {"first": first, "middle": middle, "last": last}
        if isinstance(runnable, RunnableParallel):
            return {"steps__": self._each(runnable.steps__, upstream)}
        if isinstance(runnable, RouterRunnable):
            return {"runnables": self._each(runnable.runnables, upstream)}
        if isinstance(runnable, RunnableAssign):
            return {"mapper": self.around(runnable.mapper, upstream)}
        if isinstance(runnable, RunnableWithFallbacks):
            fallbacks = [self.around(fallback, upstream) for fallback in runnable.fallbacks]
            return {"runnable": self.around(runnable.runnable, upstream), "fallbacks": fallbacks}
        if isinstance(runnable, RunnableBranch):
            branches = [
                (condition, self.around(chosen, upstream))
                for condition, chosen in runnable.branches
            ]
            return {"branches": branches, "default": self.around(runnable.default, upstream)}
        if isinstance(runnable, RunnableBindingBase | RunnableEachBase):
            return {"bound": self.around(runnable.bound, upstream)}
        self.leaves.append(runnable)
        return {}

    def _steps(self, steps: Sequence[Any], upstream: Upstream) -> list[Any]:
        walked = []
        for step in steps:
            before = self.found
            walked.append(self.around(step, upstream))
            has_model = self.found > before
            upstream = upstream.after(step, has_model=has_model, said=self._said)
        return walked

    def _each(self, runnables: Mapping[str, Any], upstream: Upstream) -> dict[str, Any]:
        return {name: self.around(runnable, upstream) for name, runnable in runnables.items()}

    def _again(self, model: ContextModel, upstream: Upstream) -> ContextModel:
        self.found += 1
        if model.conversations.ctx is not self._conversations.ctx:
            raise InvalidValue(
                f"{model.get_name()} already has another memory: wrap the bare model instead."
            )
        given = self._conversations
        own = given.session or given.place or given.learn != model.conversations.learn
        conversations = given if own else model.conversations
        around = upstream if upstream.known else model.upstream
        if (conversations, around) == (model.conversations, model.upstream):
            return model
        return ContextModel(bound=model.bound, conversations=conversations, upstream=around)

    def _settled(self, runnable: DynamicRunnable[Any, Any]) -> Any:
        """Return what is chosen at run time as it is: it has its memory already, or no model."""
        if self.around(runnable.default) is not runnable.default:
            raise InvalidValue(refusal(runnable))
        return runnable
