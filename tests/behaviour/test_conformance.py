"""What `validate_store` says: both stores keep every promise, and which one a bad store breaks."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import replace
from functools import partial

import pytest

from ctxmw.errors import InvalidValue, StoreError
from ctxmw.protocols import Find
from ctxmw.store.sqlite.store import SqliteStore
from ctxmw.testing import Outcome, Report, validate_store
from ctxmw.testing.conformance import CHECKS
from tests.support.stores import sqlite_in


def test_both_stores_keep_every_promise(factory):
    report = validate_store(factory)
    assert report.ok, report
    assert len(report.outcomes) == sum(map(len, CHECKS.values()))


class SharesSearch(SqliteStore):
    """Finds what belongs to others."""

    def search(self, user, words, find, /):
        others = [name for name in ("bob", "ada", "u1", "u10") if name != user]
        search = super().search
        return [hit for name in (user, *others) for hit in search(name, words, find)]


class ForgetsHalf(SqliteStore):
    """Leaves what was made from a row behind when the row goes."""

    def delete(self, user, refs, /):
        kept = {space: self.get_blobs(user, space, ["*"]) for space in self.blob_spaces(user)}
        removed = super().delete(user, refs)
        for space, blobs in kept.items():
            self.put_blobs(user, space, blobs)
        return removed


class NotAtomic(SqliteStore):
    """Writes at once what belongs together."""

    def atomic(self, user, /):
        return nullcontext()


class CutsTimes(SqliteStore):
    """Keeps seconds only."""

    def put(self, rows, /):
        super().put([replace(row, at=row.at.replace(microsecond=0)) for row in rows])


class LimitsFirst(SqliteStore):
    """Takes a page of everything, and picks from it then."""

    def query(self, user, find, /):
        page = super().query(user, Find(limit=find.limit, newest_first=find.newest_first))
        fits = {row.ref for row in self.every(user, find)}
        return [row for row in page if row.ref in fits]

    def every(self, user, find):
        return super().query(user, replace(find, limit=None))


class ReadsAnothers(SqliteStore):
    """Hands out the blob of somebody else."""

    def read_blob(self, user, space, take, /):
        return super().read_blob("bob", space, take)


class Evasive(SqliteStore):
    """Does not say whether it waits for a server."""

    remote = None


@pytest.mark.parametrize(
    ("store", "group", "broken"),
    [
        (SharesSearch, "isolation", "no name is another"),
        (ForgetsHalf, "deletion", "what is deleted is nowhere"),
        (NotAtomic, "atomic", "an exception undoes all of it"),
        (CutsTimes, "rows", "a row comes back exactly"),
        (LimitsFirst, "paging", "pages cover everything once"),
        (ReadsAnothers, "blobs", "the blob of all rows is read as a file"),
        (Evasive, "moving", "a store says where it is"),
    ],
)
def test_a_broken_promise_is_named(tmp_path, store, group, broken):
    report = validate_store(lambda name: store(tmp_path / name), groups=[group])
    assert not report.ok
    assert broken in [failure.check for failure in report.failures]
    assert f"FAIL {broken}\n" in str(report)


def test_a_store_that_cannot_be_opened_breaks_everything_and_says_why():
    def factory(name):
        raise StoreError(f"there is no {name}")

    report = validate_store(factory, groups=["rows", "closing"])
    assert all("StoreError: there is no" in failure.why for failure in report.failures)
    assert len(report.failures) == len(report.outcomes)


def test_what_was_not_asked_is_not_passed_off_as_kept(tmp_path):
    report = validate_store(lambda name: SqliteStore(tmp_path / name), groups=["crashes"])
    assert not report.failures
    assert not report.ok
    assert "make it a function at the top of a module" in str(report)
    assert "0 of 2 promises kept, 2 not asked" in str(report)


def test_the_report_reads_well():
    outcomes = (
        Outcome(group="rows", check="a row comes back exactly", state="kept", seconds=0.5),
        Outcome(group="rows", check="the same ref is replaced", state="broken", why="rows: 3"),
    )
    assert str(Report(outcomes=outcomes)).splitlines() == [
        "rows",
        "  ok   a row comes back exactly",
        "  FAIL the same ref is replaced",
        "         rows: 3",
        "1 of 2 promises kept, 1 broken (0.5 s)",
    ]


def test_an_unknown_group_is_refused(tmp_path):
    with pytest.raises(InvalidValue, match=r"no group 'row' of checks\. Allowed: rows, unicode"):
        validate_store(partial(sqlite_in, str(tmp_path)), groups=["row"])
