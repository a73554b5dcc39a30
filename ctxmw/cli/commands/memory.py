"""The memory a command works on, and the conversation."""

from __future__ import annotations

import argparse
import json
import sys
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import InvalidValue
from ...store.open import check_exists, data_folder

if TYPE_CHECKING:
    from ...middleware import ContextMiddleware
    from ...session import Session
    from ...settings.settings import Settings
    from ...workspace.project import Place


def settings_of(chosen: argparse.Namespace) -> Settings:
    """Return the settings that hold here; arguments win."""
    # Whoever is answered by another process reads no settings.
    from ...settings.settings import Settings

    where = {"store": chosen.store, "user": chosen.user, "project": chosen.project}
    return Settings.load(file=chosen.config, **where)


def opened(chosen: argparse.Namespace, **options: Any) -> ContextMiddleware:
    """Return the memory that settings and arguments name.

    A command waits for its answer unless a deadline was set: a cold start is late by itself.
    """
    settings = settings_of(chosen)
    patient = {} if settings.deadline is not None else {"deadline": None}
    # A command is over before a folder is indexed: `ctxmw index` and `ctxmw mcp` do that.
    return settings.open(**{"index_folders": False, **patient, **options})


def existing(chosen: argparse.Namespace, **options: Any) -> ContextMiddleware:
    """Return the memory as `opened` does, for reading: a path that was mistyped makes no file."""
    if chosen.store not in (None, ":memory:"):
        check_exists(chosen.store)
    return opened(chosen, **options)


def store_path(chosen: argparse.Namespace) -> Path:
    """Return the file the memory is in."""
    return Path(settings_of(chosen).store or data_folder() / "memory.db")


def here(chosen: argparse.Namespace, ctx: ContextMiddleware) -> Place:
    """Return the project and language at hand: as set, else those of the current folder.

    A folder without git and manifest is a project once it is indexed.
    """
    from ...workspace.project import Place, detect

    settings, place = settings_of(chosen), detect(Path.cwd())
    return Place(
        root=place.root,
        project=settings.project or place.project or ctx.project_at(Path.cwd(), user=settings.user),
        language=settings.language or place.language,
    )


def conversation(
    ctx: ContextMiddleware, chosen: argparse.Namespace, id_: str | None = None, **options: Any
) -> Session:
    """Return the conversation of that id, in the current folder."""
    settings = settings_of(chosen)
    where = {"project": settings.project, "language": settings.language}
    return ctx.session(id_, cwd=Path.cwd(), **{**where, **options})


def today(chosen: argparse.Namespace, ctx: ContextMiddleware) -> str:
    """Return the conversation that is meant when none is named: the project's of this day."""
    from ...values.records import utc_now

    return f"{here(chosen, ctx).project or 'anywhere'}-{utc_now().date().isoformat()}"


def day_from(text: str | None, what: str) -> date | None:
    """Return the day that an argument names; None where it is not given."""
    if text is None:
        return None
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise InvalidValue(f"{what} is {text!r:.60}: give a date such as 2026-05-17.") from error


def moment_from(text: str | None) -> datetime | None:
    """Return since when something is asked for; None where it is not given."""
    if text is None:
        return None
    try:
        at = datetime.fromisoformat(text)
    except ValueError as error:
        raise InvalidValue(f"--since is {text!r:.60}: give a date such as 2026-05-17.") from error
    return at if at.tzinfo else at.replace(tzinfo=UTC)


def metadata_from(pairs: list[str] | None) -> dict[str, Any] | None:
    """Return what NAME=VALUE arguments say; numbers, true and false as such, the rest as text."""
    if not pairs:
        return None
    found: dict[str, Any] = {}
    for pair in pairs:
        name, is_, value = pair.partition("=")
        if not name or not is_:
            raise InvalidValue(f"--metadata is {pair!r:.60}: give NAME=VALUE, such as team=web.")
        try:
            plain = json.loads(value)
        except ValueError:
            plain = value
        found[name] = plain if isinstance(plain, str | int | float | bool) else value
    return found


def text_from(words: list[str], what: str) -> str:
    """Return a text from the arguments, or from the pipe when there are none or it is "-"."""
    if words and words != ["-"]:
        return " ".join(words)
    if sys.stdin.isatty():
        raise InvalidValue(f"there is no {what}: give it after the command, or through a pipe.")
    # A pipe may carry anything; what is no UTF-8 is replaced, never a traceback.
    return sys.stdin.buffer.read().decode("utf-8", "replace").strip()
