"""Rows whose writer knows what of them others wrote: there alone a secret is looked for."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from ctxmw import ContextMiddleware
from ctxmw.conversation.record import Build, ContextRecord
from ctxmw.conversation.state import PartRef, SessionState, StoredPart
from ctxmw.protocols import Row
from ctxmw.recall.outcome import ItemOutcome
from ctxmw.text.secrets.kinds import MARKED, PREFIXED, prefixed_pattern
from ctxmw.values.records import Turn
from ctxmw.workspace.triggers import Trigger
from tests.support.secret_samples import TOKENS, Chance

SECRET = TOKENS["github"](Chance("redacting"))
NOW = datetime(2026, 5, 1, tzinfo=UTC)
WHO = {"user": "ann", "ref": "x1", "at": NOW, "session": "s1"}
CALL = {"turn": "t", "epoch": 1, "tokens": 1, "limit": 2, "exact": True, "part_build": "b2"}
USED = ItemOutcome("m1", "rule", "always", "full", 1.0, 3, "pinned", "stable", "v")
TRIGGER = Trigger(kind="path", queries=("a.py",), weight=1.0, source="message", expires=NOW)

OURS = {
    Build: {"kind", "hash", "tokens", "left_out", "lanes", "until"},
    StoredPart: {"part", "dropped"},
    ContextRecord: {
        *("turn", "epoch", "state", "reply", "tokens", "limit", "exact", "stable_build"),
        *("part_build", "replayed_tokens", "prefix_share"),
        *("reply_key", "reply_id"),  # columns of the row
        *("came_back", "over_window", "replayed", "fetched", "sent", "sent_after", "sent_same"),
        *("stable", "part", "builds", "earlier"),  # not stored
    },
    Turn: {
        *("role", "author", "position", "began", "exchange", "order", "print", "anchor"),
        *("redacted", "before", "answered", "teaches", "tainted", "rejected"),
    },
    SessionState: {
        *("opened", "ended", "epoch", "feed", "catalog_feed", "stable_build", "parts", "stamp"),
        *("views", "left", "captured", "heard", "turns", "untaught", "forgotten", "ledger"),
        *("activity_feed", "answer", "answers", "pins_seen"),
        "pins",  # not stored
    },
}
"""Fields that hold nothing but refs, hashes, figures and words of our own."""

THEIRS = {
    (Build, "fault"): SECRET,
    (Build, "used"): (USED._replace(name=SECRET),),
    (Build, "tools"): (USED._replace(name=SECRET),),
    (ContextRecord, "error"): SECRET,
    (ContextRecord, "degraded"): SECRET,
    (ContextRecord, "counter"): SECRET,
    (ContextRecord, "view"): SECRET,
    (ContextRecord, "entries"): {SECRET: "v"},
    (ContextRecord, "tools"): (SECRET,),
    (Turn, "text"): SECRET,
    (Turn, "speaker"): SECRET,
    (Turn, "message_id"): SECRET,
    (Turn, "calls"): (SECRET,),
    (Turn, "arguments"): ("a", SECRET),
    (Turn, "outdated"): (SECRET,),
    (Turn, "brings"): (SECRET,),
    (SessionState, "project"): SECRET,
    (SessionState, "language"): SECRET,
    (SessionState, "task"): SECRET,
    (SessionState, "began"): SECRET,
    (SessionState, "stale"): SECRET,
    (SessionState, "measure"): SECRET,
    (SessionState, "added"): (SECRET,),
    (SessionState, "loaded"): (SECRET,),
    (SessionState, "removed"): (SECRET,),
    (SessionState, "triggers"): (TRIGGER, replace(TRIGGER, queries=(SECRET,))),
}
NEEDED = {
    Build: {"kind": "stable"},
    ContextRecord: {**CALL, "counter": "c", "stable_build": "b1"},
    SessionState: {"opened": NOW},
    Turn: {"role": "user", "text": "Hi"},
}


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:") as ctx:
        yield ctx


@pytest.mark.parametrize(("cls", "field"), THEIRS, ids=lambda one: getattr(one, "type", one))
def test_a_secret_is_found_in_every_field_that_others_write(ctx, cls, field):
    record = cls(**WHO, **NEEDED[cls] | {field: THEIRS[cls, field]})
    ctx.store.put([record.row()])
    (stored,) = ctx.store.get("ann", ["x1"])
    assert SECRET not in stored.body
    assert "[REDACTED:github_token]" in stored.body


@pytest.mark.parametrize("cls", OURS, ids=lambda cls: cls.type)
def test_every_field_is_known_to_be_ours_or_theirs(cls):
    theirs = {field for one, field in THEIRS if one is cls}
    # These are columns of the row, which are looked at in any case, or ours.
    common = {"user", "ref", "at", "session", "scope", "source", "trust"}
    assert set(cls.model_fields) == OURS[cls] | theirs | common


def test_names_beside_what_is_ours_are_looked_at(ctx):
    part = PartRef(anchor="a", local="l", build="b1", hash="h", tokens=1, shows={})
    ctx.store.put([StoredPart(**WHO | {"session": SECRET}, part=part).row()])
    (stored,) = ctx.store.get("ann", ["x1"])
    assert SECRET not in stored.session


def test_a_row_that_somebody_else_made_is_looked_at_whole(ctx):
    body = f'{{"kind": "{SECRET}"}}'
    ctx.store.put([Row(user="ann", ref="x1", type="build", at=NOW, body=body)])
    (stored,) = ctx.store.get("ann", ["x1"])
    assert SECRET not in stored.body


def test_a_pattern_of_somebodys_own_is_looked_for_in_every_field():
    with ContextMiddleware.open(":memory:", redact=["ACME-[0-9]{4}"]) as ctx:
        used = USED._replace(kind="ACME-1234")
        ctx.store.put([Build(**WHO, kind="stable", used=(used,)).row()])
        (stored,) = ctx.store.get("ann", ["x1"])
        assert "ACME" not in stored.body


def test_a_file_that_is_called_like_a_secret_is_in_no_row(tmp_path):
    rules = tmp_path / "shop" / ".cursor" / "rules"
    rules.mkdir(parents=True)
    (rules / f"{SECRET}.md").write_text("Use tabs.", encoding="utf-8")
    with ContextMiddleware.open(tmp_path / "memory.db") as ctx:
        chat = ctx.session("s1", cwd=tmp_path / "shop")
        prepared = chat.prepare([{"role": "user", "content": "What is next?"}])
        assert "Use tabs." in prepared.context.stable
        chat.finish(prepared, "Tests.")
    for left in tmp_path.glob("memory.db*"):
        assert SECRET.encode() not in left.read_bytes()


HEX = set("0123456789abcdef")
PREFIXES = [prefix for row in PREFIXED for prefix in row.prefixes.split()]


@pytest.mark.parametrize("start", ["", *(one for one in PREFIXES if set(one) <= HEX)])
def test_a_hash_is_no_key_whatever_it_begins_with(start):
    word = (start + "0123456789abcdef" * 4)[:64]
    patterns = [prefixed_pattern()[0], *(marked.pattern for marked in MARKED)]
    assert [pattern for pattern in patterns if pattern.search(word)] == []
