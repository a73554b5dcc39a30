"""Dataclasses that never change, made in a quarter of the time.

`dataclasses` compiles six functions for each class, half a millisecond: for the hundred and more
that a first prompt needs, a sixth of all that it waits for. Here only `__init__` is compiled at
once, and what compares and shows it when it is first called, each with the body that `dataclasses`
would give it. What refuses changes is the same few lines for every class.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass  # noqa: PLC0414 - it is imported from here
else:

    def dataclass(
        *,
        frozen: bool = False,
        slots: bool = False,
        kw_only: bool = False,
        eq: bool = True,
    ) -> Callable[[type], type]:
        """Do what `dataclasses.dataclass` does; what is frozen and slotted is made sooner.

        `InitVar` is not for it.
        """
        standard = dataclasses.dataclass(frozen=frozen, slots=slots, kw_only=kw_only, eq=eq)

        def make(cls: type) -> type:
            derived = any(map(dataclasses.is_dataclass, cls.__mro__[1:]))
            return _made(cls, kw_only) if frozen and slots and eq and not derived else standard(cls)

        return make


_Fields = tuple[dataclasses.Field[Any], ...]


def _made(cls: type, kw_only: bool) -> Any:
    own = dict(vars(cls))
    if cls.__doc__ is None:
        # `dataclasses` would write the signature there, and take longer for it than for the rest.
        cls.__doc__ = f"{cls.__name__}({', '.join(own.get('__annotations__', ()))})"
    bare = dataclasses.dataclass(init=False, repr=False, eq=False, slots=True, kw_only=kw_only)
    made: Any = bare(cls)
    for name, method in _methods(made).items():
        if name not in own or (name == "__hash__" and own[name] is None and "__eq__" in own):
            setattr(made, name, method)
    params = made.__dataclass_params__
    params.init = params.repr = params.eq = params.frozen = True
    return made


def _methods(cls: Any) -> dict[str, Any]:
    """Return all that makes a class with these fields a frozen dataclass."""
    fields = dataclasses.fields(cls)
    return {"__init__": _init(cls, fields), **_compared(cls, fields), **_kept(cls, fields)}


def _compared(cls: Any, fields: _Fields) -> dict[str, Any]:
    """Return what compares, hashes and shows it: compiled when it is first called for."""
    compared = [each.name for each in fields if each.compare]
    hashed = [each.name for each in fields if (each.compare if each.hash is None else each.hash)]
    shown = ", ".join(f"{each.name}={{self.{each.name}!r}}" for each in fields if each.repr)
    equal = f"""if other.__class__ is self.__class__:
  return {_values("self", compared)} == {_values("other", compared)}
 return NotImplemented"""
    return {
        "__eq__": _late(cls, "__eq__", "self, other", equal),
        "__hash__": _late(cls, "__hash__", "self", f"return hash({_values('self', hashed)})"),
        "__repr__": _late(
            cls, "__repr__", "self", f'return f"{{self.__class__.__qualname__}}({shown})"'
        ),
    }


def _values(of: str, names: list[str]) -> str:
    return f"({''.join(f'{of}.{name},' for name in names)})"


def _late(cls: Any, name: str, parameters: str, body: str) -> Callable[..., Any]:
    """Return a method that is compiled when it is first called, and then stands in its place."""

    def first(*given: Any) -> Any:
        method = _compiled(name, parameters, body, {"__name__": cls.__module__})
        if name == "__repr__":
            method = recursive_repr()(method)
        setattr(cls, name, method)
        return method(*given)

    return first


def _compiled(name: str, parameters: str, body: str, known: dict[str, Any]) -> Any:
    exec(f"def {name}({parameters}):\n {body}", known)
    return known[name]


def _kept(cls: Any, fields: _Fields) -> dict[str, Any]:
    """Return what keeps it as it was made, also where it is copied."""
    names = [each.name for each in fields]

    def assign(self: Any, name: str, value: object) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(cls, self).__setattr__(name, value)

    def delete(self: Any, name: str) -> None:
        if type(self) is cls or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(cls, self).__delattr__(name)

    def state_of(self: Any) -> list[Any]:
        return [getattr(self, name) for name in names]

    def take_state(self: Any, state: list[Any]) -> None:
        for name, value in zip(names, state, strict=True):
            object.__setattr__(self, name, value)

    return {
        "__setattr__": assign,
        "__delattr__": delete,
        "__getstate__": state_of,
        "__setstate__": take_state,
    }


class _Factory:
    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()
"""Stands in a signature for a value that is made anew each time, as in `dataclasses`."""


def _init(cls: Any, fields: _Fields) -> Callable[..., None]:
    known: dict[str, Any] = {"__name__": cls.__module__, "_set": object.__setattr__}
    known["_FACTORY"] = _FACTORY
    positional = [_parameter(each, known) for each in fields if each.init and not each.kw_only]
    named = [_parameter(each, known) for each in fields if each.init and each.kw_only]
    parameters = ["self", *positional, *(["*", *named] if named else [])]
    body = [line for each in fields for line in _assigned(each, known)]
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    lines = "\n ".join(body or ["pass"])
    exec(f"def __init__({', '.join(parameters)}):\n {lines}", known)
    init: Any = known["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {
        **{each.name: each.type for each in fields if each.init},
        "return": None,
    }
    return init  # type: ignore[no-any-return]


def _parameter(each: dataclasses.Field[Any], known: dict[str, Any]) -> str:
    if each.default is not dataclasses.MISSING:
        known[f"_default_{each.name}"] = each.default
        return f"{each.name}=_default_{each.name}"
    return each.name if each.default_factory is dataclasses.MISSING else f"{each.name}=_FACTORY"


def _assigned(each: dataclasses.Field[Any], known: dict[str, Any]) -> Iterator[str]:
    name, value = each.name, each.name
    if each.default_factory is not dataclasses.MISSING:
        known[f"_make_{name}"] = each.default_factory
        made = f"_make_{name}()"
        value = f"{made} if {name} is _FACTORY else {name}" if each.init else made
    elif not each.init:
        return  # `__post_init__` assigns it
    yield f"_set(self, {name!r}, {value})"
