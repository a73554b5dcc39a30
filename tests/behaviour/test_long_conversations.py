"""A turn late in a long conversation takes no more work than an early one."""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

from ctxmw import ContextMiddleware
from ctxmw.testing import FixedClock
from ctxmw.tokens.counter import counter_for
from ctxmw.tokens.prompt_counter import Measure

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
    chat = ctx.session("long")
    history: list[dict[str, Any]] = [{"role": "system", "content": "You help a zoo."}]

    def one_call(answer: dict[str, Any]) -> int:
        return calls_of(lambda: chat.finish(chat.prepare(history), answer))

    for at in range(260):
        history.append({"role": "user", "content": f"What does animal {at} have for lunch?"})
        answer = {"role": "assistant", "content": f"Animal {at} has {at % 7} apples and some hay."}
        if at % 4:
            yield one_call(answer)
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


def test_a_long_note_does_not_let_prompts_grow_over_the_trigger():
    measure, sizes, words = Measure(counter_for()), [], Random(3)
    fixed: dict[str, Any] = {"clock": FixedClock(), "random": Random(1), "deadline": None}
    with ContextMiddleware.open(":memory:", window=2_000, **fixed) as ctx:
        chat, history = ctx.session("s1"), []
        for at in range(100):
            asked = f"We decided that locker {at} opens with {at * 37}, and never with {at * 11}. "
            asked += "Tell me more about it. " * (at % 3)
            history.append({"role": "user", "content": asked})
            prepared = chat.prepare(history)
            sizes.append(measure.messages(prepared.messages))
            said = " ".join(
                words.choices("zebra lion hay apple cage water tree stone".split(), k=30)
            )
            history.append({"role": "assistant", "content": f"{said} {at}."})
            chat.finish(prepared, history[-1])
    # The note takes more than a quarter of the window, and the messages alone would do. Where two
    # texts are joined there may be a token more than in both.
    assert max(sizes) <= 0.85 * 2_000 + 10
