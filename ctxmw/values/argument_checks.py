"""What a call cannot be made with is refused at once, by name and with what would do."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import InvalidValue
from ..text.cleaning import clean, storable
from ..text.secrets.redaction import redact_name, redact_values
from .items import Scope
from .metadata import LONGEST_METADATA, MetadataValue
from .records import SHARED, TYPES_OF_KIND


def checked_path(path: object, of: str) -> Path:
    """Return the path of a file or folder, or raise when it is none."""
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidValue(f"path is {path!r:.60}: give the path of a {of}.")
    return Path(path)


def checked_refs(refs: Sequence[str]) -> list[str]:
    """Return refs as a list; raise for anything else, such as a single one."""
    listed = isinstance(refs, Sequence) and not isinstance(refs, str)
    if not listed or not all(isinstance(ref, str) for ref in refs):
        raise InvalidValue(f"refs is {refs!r:.60}: give a list of refs, such as ['m3k7qza'].")
    return list(refs)


def whole_number(value: int, name: str) -> int:
    """Return a number of things; raise for what is none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InvalidValue(f"{name} is {value!r}: it must be a whole number, 0 or more.")
    return value


def checked_window(given: int | None) -> int | None:
    """Return a model's window in tokens, None where it is not known; raise for anything else."""
    if given is not None and (isinstance(given, bool) or not isinstance(given, int) or given < 1):
        raise InvalidValue(f"window is {given!r:.60}: give the model's window in tokens.")
    return given


def checked_since(since: datetime | None) -> datetime | None:
    """Return from when on something counts; raise for a time without its zone."""
    if since is not None and (not isinstance(since, datetime) or since.tzinfo is None):
        raise InvalidValue(f"since is {since!r:.60}: give an aware datetime.")
    return since


def types_of(kinds: Sequence[str]) -> tuple[str, ...]:
    """Return the types of records that have one of these kinds; raise for what is no kind."""
    if isinstance(kinds, str) or not isinstance(kinds, Sequence):
        raise InvalidValue(f"kinds is {kinds!r:.60}: give a list of kinds, such as ['decision'].")
    for kind in kinds:
        check_kind(kind, tuple(TYPES_OF_KIND), "record")
    return tuple({type_ for kind in kinds for type_ in TYPES_OF_KIND[kind]})


def checked_texts(values: Sequence[str], what: str) -> tuple[str, ...]:
    """Return a list of texts as a tuple; raise for anything else."""
    if not is_listed(values) or not all(isinstance(value, str) for value in values):
        raise InvalidValue(f"{what} is {values!r:.60}: give a list of texts.")
    return tuple(values)


def schemas(values: Sequence[Any]) -> Sequence[Any]:
    """Return the schemas of tools; raise for what is no list of them."""
    if not is_listed(values):
        raise InvalidValue(f"tools is {values!r:.60}: give a list of their JSON schemas.")
    return values


def tokens(value: int, what: str) -> int:
    """Return how many tokens something may have; raise for what leaves room for none."""
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise InvalidValue(f"{what} is {value!r:.60}: give a number of tokens, 1 or more.")
    return value


def flag(value: bool, what: str) -> None:
    """Raise for what is neither True nor False: any text would count as True."""
    if not isinstance(value, bool):
        raise InvalidValue(f"{what} is {value!r:.60}: give True or False.")


def is_listed(value: object) -> bool:
    """Say whether it is a list of something, and not one text or table."""
    return isinstance(value, Iterable) and not isinstance(value, str | bytes | Mapping | type)


def check_kind(kind: str, allowed: tuple[str, ...], what: str) -> None:
    """Raise unless the kind is one of those allowed."""
    if kind not in allowed:
        raise InvalidValue(f"unknown {what} kind {kind!r}. Allowed: {', '.join(allowed)}.")


def check_text(text: object, what: str) -> str:
    """Return the text, or raise when it is not text or says nothing."""
    if not isinstance(text, str):
        raise InvalidValue(f"{what} must be text, not {type(text).__name__} ({text!r:.60}).")
    if not clean(text).strip():
        raise InvalidValue(f"{what} is empty ({text!r:.60}): give some text.")
    return text


def check_name(name: object, what: str) -> str:
    """Return a name (a key, a source, a project) without secrets, or raise when it is none.

    That is when it is not text, or cannot be stored.
    """
    if not isinstance(name, str):
        raise InvalidValue(f"{what} must be text, not {type(name).__name__} ({name!r:.60}).")
    if "\0" in name or storable(name) != name:
        raise InvalidValue(f"{what} is {name!r:.60}: NUL and half surrogate pairs are not allowed.")
    return redact_name(name)


def check_scope(scope: str) -> str:
    """Return a scope without secrets in its name, or raise when it is none."""
    parsed = Scope.parse(scope)
    return str(Scope(parsed.kind, redact_name(parsed.name)))


def check_user(user: object) -> str:
    """Return the user's name without secrets, or raise when it is not text or empty."""
    if not isinstance(user, str):
        raise InvalidValue(f"user must be text, not {type(user).__name__} ({user!r:.60}).")
    if not user:
        raise InvalidValue("user is empty (''): name the person or account the memory belongs to.")
    if user == SHARED:
        raise InvalidValue(f"user is {user!r}, which is reserved: choose another name.")
    # What cannot be stored is refused by the store: replaced, two users might become one.
    return redact_name(user) if storable(user) == user else user


def checked_metadata(metadata: object) -> dict[str, MetadataValue]:
    """Return metadata without secrets; raise for what cannot be kept or filtered by."""
    if not isinstance(metadata, Mapping):
        raise InvalidValue(
            f"metadata is {metadata!r:.60}: give names and values, such as {{'team': 'web'}}."
        )
    for name, value in metadata.items():
        if not isinstance(name, str) or not name:
            raise InvalidValue(f"metadata has the name {name!r:.60}: give text.")
        infinite = isinstance(value, float) and value - value != 0
        if not isinstance(value, str | int | float | bool) or infinite:
            raise InvalidValue(
                f"metadata {name!r:.60} is {value!r:.60}: give text, a number, True or False."
            )
    if len(json.dumps(dict(metadata))) > LONGEST_METADATA:
        raise InvalidValue(
            f"metadata has more than {LONGEST_METADATA} characters: keep it elsewhere."
        )
    return {redact_name(name): redact_values(value) for name, value in metadata.items()}


def wanted_metadata(metadata: object) -> dict[str, MetadataValue]:
    """Return metadata to filter by; raise for none, which would let everything through."""
    wanted = checked_metadata(metadata)
    if not wanted:
        raise InvalidValue("metadata is empty: name what it must have, or leave it out.")
    return wanted
