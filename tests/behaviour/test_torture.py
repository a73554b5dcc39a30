"""Writers that are killed: a short form of `make torture`."""

from __future__ import annotations

import os

import pytest

import benchmarks.torture
from benchmarks.torture import Verdict, check, said_in, torture
from ctxmw import ContextMiddleware
from ctxmw.tokens.counter import counter_for

KILLS = 30
KINDS = {"memory", "turn", "entry", "record"}


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_nothing_that_was_acknowledged_is_lost_when_writers_are_killed(tmp_path):
    def enough(kills: int) -> bool:
        # On a busy machine a process gets little done before it is killed: more are needed then.
        return kills >= KILLS and {what for what, *_ in said_in(tmp_path)} == KINDS

    verdict = torture(tmp_path, enough, processes=4, seed=3)
    assert verdict.well, verdict
    assert verdict.kills >= KILLS
    assert set(verdict.acknowledged) == KINDS


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_whatever_ends_it_no_writer_is_left(tmp_path, monkeypatch):
    started, start = [], benchmarks.torture._start

    def noticed(*args):
        started.append(start(*args))
        return started[-1]

    def interrupted(kills: int) -> bool:
        if kills == 2:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr(benchmarks.torture, "_start", noticed)
    with pytest.raises(KeyboardInterrupt):
        torture(tmp_path, interrupted, processes=3, seed=3)
    assert len(started) == 4
    for pid in started:
        with pytest.raises(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def test_the_check_notices_what_is_missing(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", user="ann") as ctx:
        kept = ctx.remember("The code of this release is word1x1.")
    lines = [f"memory ann {kept.ref} word1x1", "memory ann mgone22 word1x2", "memory ann mcut"]
    (tmp_path / "said-1").write_text("\n".join(lines))
    verdict = Verdict()
    check(tmp_path, verdict, counter_for())
    assert verdict.lost == ["mgone22"]
    assert any("word1x2" in fault for fault in verdict.faults)
