"""What LangGraph's stores cannot be asked is refused by name, before anything is written."""

from __future__ import annotations

from langgraph.store.base import (
    GetOp,
    ListNamespacesOp,
    Op,
    PutOp,
    SearchOp,
    TTLConfig,
    validate_op_namespace,
)

from ctxmw import InvalidValue


def check_op(op: Op) -> None:
    """Raise for what LangGraph itself lets through, and what would then be read as another."""
    if isinstance(op, GetOp | PutOp | SearchOp):
        given = op.namespace_prefix if isinstance(op, SearchOp) else op.namespace
        _check_namespace(given)
    elif isinstance(op, ListNamespacesOp):
        for condition in op.match_conditions or ():
            _check_namespace(condition.path)
            if condition.match_type not in ("prefix", "suffix"):
                raise InvalidValue(f"a match is {condition.match_type!r:.60}: prefix or suffix.")
        for name in ("max_depth", "limit", "offset"):
            _check_number(getattr(op, name), name, least=1 if name == "max_depth" else 0)
    index = op.index if isinstance(op, PutOp) else None
    paths = isinstance(index, list | tuple) and all(isinstance(path, str) for path in index)
    if not (index is None or index is False or paths):
        raise InvalidValue(f"index is {index!r:.60}: give a list of fields, or False for none.")
    validate_op_namespace(op)


def check_ttl(ttl: object) -> None:
    """Raise for what is no setting of times, as LangGraph has them."""
    if ttl is None:
        return
    known = ", ".join(TTLConfig.__annotations__)
    if not isinstance(ttl, dict) or not ttl.keys() <= TTLConfig.__annotations__.keys():
        raise InvalidValue(f"ttl is {ttl!r:.80}: give a dict of {known}.")
    minutes = ttl.get("default_ttl")
    number = isinstance(minutes, int | float) and not isinstance(minutes, bool)
    if minutes is not None and not (number and minutes > 0):
        raise InvalidValue(f"default_ttl is {minutes!r:.60}: give a number of minutes above 0.")


def _check_namespace(given: object) -> None:
    # A text is a sequence as well: "facts" would be five labels, and never be found again.
    if not isinstance(given, list | tuple):
        raise InvalidValue(f"a namespace is {given!r:.60}: give a tuple, such as ('facts',).")


def _check_number(given: object, name: str, *, least: int) -> None:
    if given is None and name == "max_depth":
        return
    if isinstance(given, bool) or not isinstance(given, int) or given < least:
        raise InvalidValue(f"{name} is {given!r:.60}: it must be a whole number, {least} or more.")
