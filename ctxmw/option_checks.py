"""What a memory cannot be opened with is refused at once, by name and with what would do."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from difflib import get_close_matches
from pathlib import Path
from random import Random
from typing import Any

from .errors import InvalidValue
from .protocols import Store
from .recall.modes import Mode
from .runtime.telemetry import Tracing
from .values.argument_checks import is_listed

_STORE = ("put", "get", "query", "delete", "changes", "atomic")


def check_store(store: object) -> None:
    """Raise for what is no store, such as the path of one."""
    if isinstance(store, type) or not _has(store, _STORE):
        path = store if isinstance(store, str) and store else "memory.db"
        raise InvalidValue(
            f"store is {store!r:.60}: give a store, such as SqliteStore({path!r:.60}), or have it "
            f"opened: ContextMiddleware.open({path!r:.60})."
        )
    promised = (name for name in vars(Store) if not name.startswith("_"))
    if lacking := [name for name in promised if not hasattr(store, name)]:
        raise InvalidValue(
            f"store is {store!r:.60}, which has no {', '.join(lacking)}: give it what "
            "ctxmw.protocols.Store promises; ctxmw.testing.validate_store checks it."
        )


def check_options(options: Mapping[str, Any], known: Iterable[str]) -> None:
    """Raise for an option that is not known, or cannot be what it has to be."""
    names = list(known)
    for name, value in options.items():
        if name not in names:
            near = get_close_matches(name, names, n=1)
            hint = f"Did you mean {near[0]!r}?" if near else f"Allowed: {', '.join(names)}."
            raise InvalidValue(f"there is no option {name!r}. {hint}")
        fits, wanted = _WANTED.get(name, (_anything, ""))
        if not fits(value):
            raise InvalidValue(f"{name} is {value!r:.60}: give {wanted}.")
    for source in options.get("sources", ()):
        if not _has(source, ["items"]) or not hasattr(source, "name"):
            raise InvalidValue(f"a source is {source!r:.60}: it must have a name and items().")
    if options.get("index") and options.get("embedder") is None:
        raise InvalidValue(f"index is {options['index']!r:.60}, but there is no embedder for it.")


def _anything(_: object) -> bool:
    return True


def _has(value: object, methods: Iterable[str]) -> bool:
    return all(callable(getattr(value, method, None)) for method in methods)


def _list_of(kind: type) -> Callable[[Any], bool]:
    return lambda value: is_listed(value) and all(isinstance(one, kind) for one in value)


def _none_or(fits: Callable[[Any], bool]) -> Callable[[Any], bool]:
    return lambda value: value is None or fits(value)


def _is(kind: type) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, kind)


def _is_folder(value: Any) -> bool:
    return isinstance(value, str | Path)


# Both are loaded by whoever gives one: most give neither.
def _is_limits(value: Any) -> bool:
    from .learning.summarizers import SummarizerLimits

    return isinstance(value, SummarizerLimits)


def _is_offers(value: Any) -> bool:
    if not value:
        return is_listed(value)
    from .recall.offering.items import Offer

    return _list_of(Offer)(value)


def _is_window(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1


_WANTED: dict[str, tuple[Callable[[Any], bool], str]] = {
    "count": (_none_or(callable), "a function from a text to its number of tokens"),
    "cwd": (_none_or(_is_folder), "the path of a folder"),
    "window": (_none_or(_is_window), "the model's window in tokens"),
    "index": (_none_or(_is(str)), 'text, such as "numpy"'),
    "summarizer_limits": (_none_or(_is_limits), "SummarizerLimits()"),
    "offers": (_is_offers, "a list of Offer(...)"),
    "servers": (_is(Mapping), "a dict from the names of servers to how their tools come in"),
    "renderer": (_none_or(lambda given: hasattr(given, "frame")), "Markdown(), Xml() or Compact()"),
    "sources": (is_listed, "a list of sources"),
    "modes": (_list_of(Mode), "a list of Mode(...)"),
    "redact": (_list_of(str), "a list of regular expressions"),
    "tracing": (_none_or(_is(Tracing)), "Tracing()"),
    "strict": (_is(bool), "True or False"),
    "index_folders": (_is(bool), "True or False"),
    "on_error": (_none_or(callable), "a function that takes the stage and the error"),
    "clock": (_none_or(callable), "a function that returns the present as an aware datetime"),
    "random": (_none_or(_is(Random)), "a random.Random"),
}
