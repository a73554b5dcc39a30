"""`with_context`: a runnable whose models have a memory.

The runnable is rebuilt around its chat models; everything else in it stays the same object. What
hides its model cannot be rebuilt, and is refused with a word on how to do it right.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from langchain_core.language_models import BaseChatModel
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
from .templates import Upstream

Input = TypeVar("Input")
Output = TypeVar("Output")
_NOTHING = Upstream()


def with_context(
    runnable: Runnable[Input, Output], ctx: ContextMiddleware, *, session: Session | None = None
) -> Runnable[Input, Output]:
    """Return the runnable with a memory around each of its chat models.

    The one given is not changed. Wrapping twice is the same as wrapping once. Conditions of a
    branch are left alone: they decide, they do not converse.
    """
    wrapping = Wrapping(Conversations(ctx, session))
    wrapped: Runnable[Input, Output] = wrapping.around(runnable)
    if not wrapping.found:
        raise InvalidValue(refusal(runnable, wrapping.leaves))
    return wrapped


class Wrapping:
    """One walk through a runnable."""

    def __init__(self, conversations: Conversations) -> None:
        self._conversations = conversations
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
        before = self.found
        changes = self._inside(runnable, upstream)
        return runnable.model_copy(update=changes) if self.found > before else runnable

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
            upstream = upstream.after(step, has_model=self.found > before)
        return walked

    def _each(self, runnables: Mapping[str, Any], upstream: Upstream) -> dict[str, Any]:
        return {name: self.around(runnable, upstream) for name, runnable in runnables.items()}

    def _again(self, model: ContextModel, upstream: Upstream) -> ContextModel:
        self.found += 1
        if model.conversations.ctx is not self._conversations.ctx:
            raise InvalidValue(
                f"{model.get_name()} already has another memory: wrap the bare model instead."
            )
        session = self._conversations.session
        conversations = self._conversations if session is not None else model.conversations
        around = upstream if upstream.known else model.upstream
        if (conversations, around) == (model.conversations, model.upstream):
            return model
        return ContextModel(bound=model.bound, conversations=conversations, upstream=around)

    def _settled(self, runnable: DynamicRunnable[Any, Any]) -> Any:
        """Return what is chosen at run time as it is: it has its memory already, or no model."""
        if self.around(runnable.default) is not runnable.default:
            raise InvalidValue(refusal(runnable))
        return runnable
