"""Makes wrappers: a copy of the object whose class is a subclass of its own class.

So a wrapped model, engine or agent is still what it was (isinstance, attributes, methods), and the
original stays as it is.
"""

from __future__ import annotations

import copy
from dataclasses import replace
from functools import cache
from typing import Any, TypeVar, cast

from pydantic import BaseModel, PrivateAttr

from .binding import Binding

T = TypeVar("T")


def wrapped(target: T, mixin: type, binding: Binding) -> T:
    """Return a copy of the target with the mixin's methods, bound to a memory."""
    twin: Any = _copy_as(_subclass(cast("Any", type(target)), mixin), target)
    twin._ctxmw = binding
    return cast("T", twin)


def plain(wrapper: Any) -> Any:
    """Return the wrapper as it is now, without the memory."""
    twin: Any = _copy_as(type(wrapper).__mro__[2], wrapper)
    kept: Any = twin.__pydantic_private__ if isinstance(twin, BaseModel) else vars(twin)
    kept.pop("_ctxmw")
    return twin


def _copy_as(cls: type, target: Any) -> Any:
    """Return a shallow copy of the target that has another class."""
    twin: Any = object.__new__(cls)
    state = ["__dict__", *(_PYDANTIC if isinstance(target, BaseModel) else ())]
    for name in state:
        object.__setattr__(twin, name, copy.copy(getattr(target, name)))
    return twin


_PYDANTIC = ("__pydantic_extra__", "__pydantic_fields_set__", "__pydantic_private__")


@cache
def _subclass(base: type, mixin: type) -> type:
    # A name of its own would change what workflows and serializers call it.
    names: dict[str, Any] = {
        "__module__": base.__module__,
        "__qualname__": base.__qualname__,
        "__doc__": base.__doc__,
        "__copy__": _copy,
        "__reduce__": _reduce,
    }
    if issubclass(base, BaseModel):
        names["_ctxmw"] = PrivateAttr()
    return type(base)(base.__name__, (mixin, base), names)


def _copy(self: Any) -> Any:
    return _copy_as(type(self), self)


def _reduce(self: Any) -> tuple[Any, ...]:
    # The class was made while running: elsewhere it has to be made again.
    mixin = type(self).__mro__[1]
    return _wrapped_again, (plain(self), mixin, self._ctxmw.portable())


def _wrapped_again(target: Any, mixin: type, binding: Binding) -> Any:
    return wrapped(target, mixin, replace(binding, original=target))
