"""How words come through a chain: handed on as they are, or made on the way.

What a chain is given are the person's words. Steps that pick, pass and trim hand them on. Whatever
else a step returns may be made of anything: a model's answer, documents, a function's own text.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from operator import itemgetter
from typing import Any

from langchain_core.language_models import BaseLanguageModel
from langchain_core.messages import utils
from langchain_core.prompts import BasePromptTemplate
from langchain_core.runnables import (
    RunnableAssign,
    RunnableBranch,
    RunnableGenerator,
    RunnableLambda,
    RunnableParallel,
    RunnablePassthrough,
    RunnablePick,
    RunnableSequence,
)
from langchain_core.runnables.base import RunnableBindingBase
from langchain_core.runnables.configurable import DynamicRunnable


def hands_on(steps: Iterable[Any], variable: str | None = None) -> bool:
    """Say whether steps return what they were given; of a variable, whether they leave it so."""
    return all(_hands_on(step, variable) for step in steps)


def has_model(step: Any) -> bool:
    """Say whether a model is in sight in a step."""
    # One that has a memory already keeps its model there.
    models = (step, getattr(step, "bound", None))
    is_model = any(isinstance(one, BaseLanguageModel) for one in models)
    return is_model or any(map(has_model, _inside(step)))


def from_model(steps: Iterable[Any], variable: str) -> bool:
    """Say whether a variable is filled in by a model that is in sight."""
    return any(has_model(_branch(step, variable)) for step in steps)


def _hands_on(step: Any, variable: str | None) -> bool:
    if isinstance(step, RunnableLambda | RunnableGenerator):
        return _is_known(getattr(step, "func", None))
    if isinstance(step, RunnablePassthrough | RunnablePick | BasePromptTemplate):
        return True
    if isinstance(step, RunnableParallel | RunnableAssign) and variable is not None:
        return all(_hands_on(one, None) for one in _branch_of(step, variable))
    inner = list(_inside(step))
    return bool(inner) and all(_hands_on(one, variable) for one in inner)


def _is_known(function: Any) -> bool:
    """Say whether a function picks a value, or is one of LangChain's that trim and filter."""
    if isinstance(function, itemgetter):
        return True
    return isinstance(function, partial) and function.func.__module__ == utils.__name__


def _branch(step: Any, variable: str) -> Any:
    """Return what fills in a variable: one branch of a step with several, else all of the step."""
    if isinstance(step, RunnableParallel | RunnableAssign):
        return next(iter(_branch_of(step, variable)), None)
    return step


def _branch_of(step: Any, variable: str) -> list[Any]:
    steps = step.mapper.steps__ if isinstance(step, RunnableAssign) else step.steps__
    return [steps[variable]] if variable in steps else []


def _inside(step: Any) -> Iterable[Any]:
    if isinstance(step, RunnableSequence):
        return step.steps
    if isinstance(step, RunnableParallel):
        return step.steps__.values()
    if isinstance(step, RunnableAssign):
        return step.mapper.steps__.values()
    if isinstance(step, RunnableBranch):
        return (*(chosen for _, chosen in step.branches), step.default)
    if isinstance(step, RunnableBindingBase):
        return (step.bound,)
    if isinstance(step, DynamicRunnable):
        return (step.default, *getattr(step, "alternatives", {}).values())
    return ()
