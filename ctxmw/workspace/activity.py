"""What people do in their editors, and how every open conversation of a project learns of it.

An activity is one row for each file, so a busy day of saves leaves no pile. Conversations read what
is recent when their next call is prepared, in whatever process that is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from ..errors import InvalidValue
from ..protocols import Find, Row, Store
from ..runtime.telemetry import Faults
from ..text.cleaning import clean, digest
from ..text.secrets.redaction import redact
from ..values.items import Scope
from ..values.records import Moment, Record, load_as

ActivityType = Literal[
    "file_open", "file_edit", "file_save", "file_close", "symbol_hover", "session_start"
]
RECENT = 20
"""Activities that a conversation looks at."""
_LONGEST = 400
_SYMBOLS = 20


def _shown(text: str) -> str:
    return redact(" ".join(clean(text).split())[: 2 * _LONGEST]).text[:_LONGEST]


Name = Annotated[str, AfterValidator(_shown)]


class Activity(BaseModel):
    """Something done in an editor. The names that editors use are accepted too (`filePath` ...)."""

    model_config = ConfigDict(frozen=True, extra="ignore", populate_by_name=True)

    type: ActivityType
    path: Name = Field(
        default="", validation_alias=AliasChoices("path", "filePath", "file_path", "file")
    )
    """The file, relative to the project or absolute. It is looked up, never opened."""
    symbols: tuple[Name, ...] = Field(
        default=(),
        max_length=1000,
        validation_alias=AliasChoices(
            "symbols", "changedSymbols", "changed_symbols", "symbol", "name"
        ),
    )
    """What changed, or what is looked at."""
    at: Moment | None = Field(default=None, validation_alias=AliasChoices("at", "timestamp"))
    """When; now unless given."""


class NoticedActivity(Record):
    """The last activity on one file of a project, and the last look at a symbol in it."""

    type: ClassVar[str] = "activity"

    activity: Activity

    def _columns(self) -> dict[str, Any]:
        return {"key": self.ref}


def checked_activity(activity: Activity | Mapping[str, Any]) -> Activity:
    """Return an activity, or raise when it is none."""
    given = dict(activity) if isinstance(activity, Mapping) else activity
    if isinstance(given, dict):
        for name in ("symbols", "changedSymbols", "changed_symbols", "symbol", "name"):
            if isinstance(given.get(name), str):
                given[name] = (given[name],)
    try:
        found = Activity.model_validate(given)
    except ValidationError as error:
        problem = error.errors()[0]
        where = ".".join(map(str, problem["loc"])) or "activity"
        raise InvalidValue(
            f"{where} of an activity: {problem['msg']} (given {problem['input']!r:.60}). Give a "
            'dict such as {"type": "file_open", "path": "src/app.py"}.'
        ) from None
    if not found.path and not found.symbols and found.type != "session_start":
        raise InvalidValue(f"an activity of type {found.type!r} names no file: give its path.")
    path = found.path.replace("\\", "/").removeprefix("./")
    return found.model_copy(update={"path": path, "symbols": found.symbols[:_SYMBOLS]})


def notice(store: Store, user: str, project: str | None, activity: Activity, now: datetime) -> None:
    """Keep an activity for every conversation of the user in that project; in any, without one."""
    at = min(activity.at or now, now)
    noticed = NoticedActivity(
        user=user,
        ref=f"activity:{digest(project or '', *_place(activity))[:24]}",
        at=at,
        scope=str(Scope("project", project) if project else Scope()),
        source="editor",
        activity=activity.model_copy(update={"at": at}),
    )
    store.put([noticed.row()])


def _place(activity: Activity) -> tuple[str, ...]:
    """Return what the next activity takes the place of: a glance does not undo an edit."""
    place = (activity.path or activity.type,)
    return (*place, "hover") if activity.type == "symbol_hover" else place


def recent_activity(store: Store, user: str, project: str | None, *, since: datetime) -> list[Row]:
    """Return the rows of what was done here since then, the newest first."""
    scopes = ("universal", f"project:{project}") if project else ("universal",)
    return store.query(user, Find(types=("activity",), scopes=scopes, since=since, limit=RECENT))


def read_after(rows: Sequence[Row], after: int, faults: Faults) -> tuple[list[Activity], int]:
    """Return what has come after a position of the feed, and how far it was read."""
    new = [row for row in rows if row.seq > after]
    done = faults.read(new, lambda row: load_as(row, NoticedActivity).activity)
    return done, max([after, *(row.seq for row in new)])
