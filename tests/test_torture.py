"""Writers that are killed: a short form of `make torture`."""

from __future__ import annotations

import pytest

from benchmarks.torture import Verdict, check, torture
from ctxmw import ContextMiddleware
from ctxmw.tokens import counter_for


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_nothing_that_was_acknowledged_is_lost_when_writers_are_killed(tmp_path):
    verdict = torture(tmp_path, seconds=4, processes=4, seed=3)
    assert verdict.well, verdict
    assert verdict.kills > 10
    assert {"memory", "turn", "entry", "record"} == set(verdict.acknowledged)


def test_the_check_notices_what_is_missing(tmp_path):
    with ContextMiddleware.open(tmp_path / "memory.db", user="ann") as ctx:
        kept = ctx.remember("The code of this release is word1x1.")
    lines = [f"memory ann {kept.ref} word1x1", "memory ann mgone22 word1x2", "memory ann mcut"]
    (tmp_path / "said-1").write_text("\n".join(lines))
    verdict = Verdict()
    check(tmp_path, verdict, counter_for())
    assert verdict.lost == ["mgone22"]
    assert any("word1x2" in fault for fault in verdict.faults)
