"""Whatever time it is or is said to be: it works, or an error of ours says what is wrong."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import pytest

from ctxmw import ContextMiddleware, InvalidValue
from ctxmw.values.clocks import span
from ctxmw.values.records import utc_now
from ctxmw.workspace.activity import Activity
from ctxmw.workspace.triggers import analyze_activity

EAST, WEST = timezone(timedelta(hours=9)), timezone(timedelta(hours=-9))
FIRST, LAST = datetime.min.replace(tzinfo=UTC), datetime.max.replace(tzinfo=UTC)
NO_DATE_IN_UTC = (datetime(1, 1, 1, tzinfo=EAST), datetime(9999, 12, 31, 23, tzinfo=WEST))
SAID = [{"role": "user", "content": "The courier of last month, yesterday, last Monday? See a.py."}]

DOINGS: dict[str, Callable[[ContextMiddleware], Any]] = {
    "remember": lambda ctx: ctx.remember("The courier leaves at four."),
    "capture": lambda ctx: ctx.session("s1").capture(SAID),
    "collect": lambda ctx: ctx.session("s1").collect("lint", "1", "Two warnings."),
    "prepare": lambda ctx: ctx.session("s1").prepare(SAID),
    "finish": lambda ctx: ctx.session("s1").finish(ctx.session("s1").prepare(SAID), "At four."),
    "search": lambda ctx: ctx.search("the courier of last month and of yesterday"),
    "end": lambda ctx: ctx.session("s1").end("It is done."),
}


@pytest.mark.parametrize("doing", DOINGS)
@pytest.mark.parametrize(
    "now",
    [FIRST, LAST, datetime(1, 3, 1, tzinfo=UTC), *NO_DATE_IN_UTC, datetime(2026, 1, 1), None, "x"],  # noqa: DTZ001 - without a zone
    ids=str,
)
def test_a_clock_that_cannot_be_reckoned_with_is_named(now, doing):
    with (
        ContextMiddleware.open(":memory:", clock=lambda: now) as ctx,
        pytest.raises(InvalidValue, match="the clock says"),
    ):
        DOINGS[doing](ctx)


@pytest.mark.parametrize("doing", DOINGS)
@pytest.mark.parametrize("year", [100, 1970, 9900])
@pytest.mark.parametrize("zone", [UTC, EAST, WEST], ids=str)
def test_any_other_year_will_do(year, zone, doing):
    for now in (datetime(year, 1, 1, tzinfo=zone), datetime(year, 12, 31, 23, 59, tzinfo=zone)):
        with ContextMiddleware.open(":memory:", clock=lambda now=now: now, strict=True) as ctx:
            DOINGS[doing](ctx)


def test_what_is_no_clock_is_refused_at_once():
    with pytest.raises(InvalidValue, match="clock is "):
        ContextMiddleware.open(":memory:", clock=utc_now())


@pytest.mark.parametrize("at", [FIRST, LAST], ids=str)
def test_what_was_said_at_any_time_is_kept_and_found(at):
    with ContextMiddleware.open(":memory:", strict=True) as ctx:
        ctx.session("s1").capture([{"role": "user", "content": "The courier is late."}], at=at)
        said = {"role": "user", "content": "The courier is early.", "at": at.isoformat()}
        ctx.session("s2").capture([said])
        assert len(ctx.search("the courier of yesterday", since=FIRST)) == 2
        assert "courier" in ctx.session("s3").prepare(SAID).context.text


@pytest.mark.parametrize("at", NO_DATE_IN_UTC, ids=str)
def test_what_is_no_date_in_utc_is_named(at, tmp_path):
    said = {"role": "user", "content": "The courier is late."}
    with ContextMiddleware.open(":memory:") as ctx:
        with pytest.raises(InvalidValue, match="in UTC that is no date"):
            ctx.session("s1").capture([said], at=at)
        with pytest.raises(InvalidValue, match="in UTC that is no date"):
            ctx.session("s1").capture([{**said, "at": at}])
        assert not ctx.search("courier", since=at)
        ctx.remember("The courier leaves at four.")
        ctx.export(tmp_path / "all.jsonl")
        header, line = (tmp_path / "all.jsonl").read_text().splitlines()
        row = json.loads(line)
        row["at"] = row["body"]["at"] = at.isoformat()
        (tmp_path / "all.jsonl").write_text(f"{header}\n{json.dumps(row)}\n")
        with pytest.raises(InvalidValue, match="Nothing was imported"):
            ctx.import_(tmp_path / "all.jsonl")


def test_an_activity_at_the_end_of_time_and_a_lifetime_without_one_have_an_end():
    (trigger,) = analyze_activity(Activity(type="file_open", path="a.py", at=LAST))
    assert trigger.expires == LAST
    with ContextMiddleware.open(":memory:") as ctx:
        for lifetime in (timedelta.max, timedelta.min):
            ctx.session("s1").collect("lint", "1", "Two warnings.", lifetime=lifetime)
    assert span(hours=1e300) == span(hours=float("inf")) == timedelta(days=36_500)
