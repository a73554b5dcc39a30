"""A turn late in a long conversation takes no more work than an early one."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from typing import Any

from ctxmw import ContextMiddleware

COUNTED, ALLOWED = 12, 1.5


def calls_of(work: Callable[[], object]) -> int:
    """Return how many functions are called: that is the same on every machine."""
    counted = 0

    def count(_: Any, event: str, __: Any) -> None:
        nonlocal counted
        counted += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return counted


def turns(ctx: ContextMiddleware) -> Iterator[int]:
    """Hold a conversation; yield the calls that each turn takes."""
    chat, history = ctx.session("long"), [{"role": "system", "content": "You help a zoo."}]
    for at in range(260):
        history.append({"role": "user", "content": f"What does animal {at} have for lunch?"})
        answer = {"role": "assistant", "content": f"Animal {at} has {at % 7} apples and some hay."}
        if at % 4:
            yield calls_of(lambda said=answer: chat.finish(chat.prepare(history), said))
        else:
            call = {"id": f"c{at}", "name": "look_up", "args": {"animal": at}}
            asking = {"role": "assistant", "content": "", "tool_calls": [call]}
            chat.finish(chat.prepare(history), asking)
            output = f"{at % 7} apples.\n" + f"Cage {at} is clean and dry.\n" * 20
            history += [asking, {"role": "tool", "tool_call_id": f"c{at}", "content": output}]
            chat.finish(chat.prepare(history), answer)
        history.append(answer)


def test_a_late_turn_takes_about_as_many_calls_as_an_early_one():
    # It is compacted about every tenth turn, from the first dozen on.
    with ContextMiddleware.open(":memory:", window=2_000, deadline=None) as ctx:
        counted = list(turns(ctx))
    early, late = counted[60 - COUNTED : 60], counted[-COUNTED:]
    assert statistics.median(late) < ALLOWED * statistics.median(early)
