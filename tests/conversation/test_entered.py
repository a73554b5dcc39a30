"""`with chat:` holds for what is called inside of it, and for nobody else."""

from __future__ import annotations

import asyncio
import contextvars
import gc
import threading
from contextlib import ExitStack, aclosing, asynccontextmanager, contextmanager

import pytest

from ctxmw import ContextMiddleware, InvalidValue, current_session


@pytest.fixture
def server():
    with ContextMiddleware.open(":memory:", user=None, strict=True) as memory:
        yield memory


@pytest.fixture
def alice(server):
    return server.session("main", user="alice")


@pytest.fixture
def bob(server):
    return server.session("main", user="bob")


def numbers(chat, seen):
    """Enter a conversation, and look between two steps which one is current."""
    with chat:
        for number in range(3):
            seen.append(current_session())
            yield number


async def anumbers(chat, seen):
    with chat:
        for number in range(3):
            await asyncio.sleep(0)
            seen.append(current_session())
            yield number


# --- generators ---


def test_who_iterates_a_generator_is_not_in_the_conversation_it_has_entered(alice):
    seen = []
    for _ in numbers(alice, seen):
        assert current_session() is None
    assert seen == [alice] * 3
    assert current_session() is None


async def test_who_iterates_an_async_generator_is_not_in_the_conversation_it_has_entered(alice):
    seen = []
    async for _ in anumbers(alice, seen):
        assert current_session() is None
    assert seen == [alice] * 3
    assert current_session() is None


def test_generators_that_take_turns_are_each_in_their_own_conversation(alice, bob):
    of_alice, of_bob = [], []
    for _ in zip(numbers(alice, of_alice), numbers(bob, of_bob), strict=True):
        assert current_session() is None
    assert of_alice == [alice] * 3
    assert of_bob == [bob] * 3


async def test_async_generators_that_take_turns_are_each_in_their_own_conversation(alice, bob):
    of_alice, of_bob = [], []
    one, two = anumbers(alice, of_alice), anumbers(bob, of_bob)
    for _ in range(3):
        await anext(one)
        await anext(two)
        assert current_session() is None
    await one.aclose()
    assert [current_session(), await anext(two, None), current_session()] == [None, None, None]
    assert of_alice == [alice] * 3
    assert of_bob == [bob] * 3


async def test_a_generator_that_is_closed_first_takes_its_own_entry_along(alice, bob):
    one = anumbers(alice, [])
    await anext(one)
    with bob:
        assert current_session() is bob
        await one.aclose()
        assert current_session() is bob
    assert current_session() is None


async def test_a_generator_inside_of_a_conversation_hides_it_only_for_itself(alice, bob):
    seen = []
    with bob:
        async for _ in anumbers(alice, seen):
            assert current_session() is bob
        assert current_session() is bob
    assert seen == [alice] * 3


async def test_a_generator_that_goes_on_in_another_conversation_stays_in_its_own(alice, bob):
    seen = []
    steps = anumbers(alice, seen)
    await anext(steps)
    with bob:
        await anext(steps)
        assert current_session() is bob
    await steps.aclose()
    assert seen == [alice] * 2


async def test_an_abandoned_generator_leaves_nobody_in_its_conversation(alice):
    async for _ in anumbers(alice, []):
        break
    assert current_session() is None
    # The loop closes it in a task of its own.
    await asyncio.sleep(0)
    assert current_session() is None
    assert await asyncio.create_task(current()) is None


async def test_an_abandoned_generator_that_another_function_began_is_left_when_it_is_closed(alice):
    async def begin():
        steps = anumbers(alice, [])
        await anext(steps)
        return steps

    steps = await begin()
    await asyncio.create_task(closed(steps))
    assert current_session() is None
    assert await asyncio.create_task(current()) is None


def test_a_generator_that_is_forgotten_in_a_cycle_is_left_when_it_is_collected(alice):
    class Holder:
        pass

    def begin():
        holder = Holder()
        holder.self, holder.steps = holder, numbers(alice, [])
        next(holder.steps)

    begin()
    contextvars.copy_context().run(gc.collect)
    assert current_session() is None


async def test_what_was_entered_since_stays_when_an_older_one_is_left_elsewhere(alice, bob):
    steps = anumbers(alice, [])
    await anext(steps)
    with bob:
        await asyncio.create_task(closed(steps))
        assert current_session() is bob
        assert await asyncio.create_task(current()) is bob
    assert current_session() is None


async def test_a_generator_over_another_one_is_in_its_own_conversation(alice, bob):
    async def outer():
        with bob:
            async for number in anumbers(alice, []):
                seen.append(current_session())
                yield number

    seen = []
    async with aclosing(outer()) as steps:
        async for _ in steps:
            assert current_session() is None
    assert seen == [bob] * 3


# --- tasks and threads ---


async def test_a_task_started_inside_belongs_to_it_also_after_it_was_left(alice):
    go_on = asyncio.Event()

    async def work():
        await go_on.wait()
        return current_session()

    with alice:
        task = asyncio.create_task(work())
    assert current_session() is None
    go_on.set()
    assert await task is alice


async def test_a_task_that_a_generator_starts_is_in_the_generators_conversation(alice):
    async def stream():
        with alice:
            yield await asyncio.create_task(current())
            yield await asyncio.to_thread(current_session)

    assert [chat async for chat in stream()] == [alice, alice]


async def test_one_conversation_entered_twice_is_left_twice(alice):
    with alice:
        with alice:
            assert current_session() is alice
        assert current_session() is alice
    assert current_session() is None


async def test_one_conversation_is_entered_in_two_tasks_at_the_same_time(alice):
    both = asyncio.Barrier(2)

    async def work(steps):
        for _ in range(steps):
            with alice:
                await both.wait()
                assert current_session() is alice
            assert current_session() is None

    await asyncio.gather(work(3), work(3))


async def test_one_conversation_entered_by_two_generators_is_left_by_each(alice):
    of_one, of_two = [], []
    one, two = anumbers(alice, of_one), anumbers(alice, of_two)
    await anext(one)
    await anext(two)
    await asyncio.create_task(closed(one))
    await anext(two)
    await two.aclose()
    assert of_two == [alice] * 2
    assert current_session() is None


async def test_a_task_of_generators_that_take_turns_is_refused_where_it_cannot_be_told(alice, bob):
    async def stream(chat):
        with chat:
            yield 1
            yield await asyncio.create_task(current())

    one, two = stream(alice), stream(bob)
    await anext(one)
    await anext(two)
    with pytest.raises(InvalidValue, match=r"alice.*bob.*a task of its own"):
        await anext(one)
    assert await anext(two) is bob
    await two.aclose()


async def test_a_task_that_names_its_user_is_told_apart_from_a_generator_of_another(alice, bob):
    async def whose(user):
        return current_session(user)

    async def stream(chat):
        with chat:
            yield 1
            yield await asyncio.create_task(whose(chat.user))

    one, two = stream(alice), stream(bob)
    for steps in (one, two):
        await anext(steps)
    assert await anext(one) is alice
    assert await anext(two) is bob
    await one.aclose()
    await two.aclose()


def test_the_current_conversation_of_a_user_is_the_innermost_of_theirs(server, alice, bob):
    with alice, bob:
        assert current_session("alice") is alice
        assert current_session("bob") is bob
        assert current_session("carol") is None


async def test_a_task_is_in_the_conversation_entered_after_a_generator_was_abandoned(alice, bob):
    steps = anumbers(alice, [])
    await anext(steps)
    with bob:
        assert await asyncio.create_task(current()) is bob
    await steps.aclose()


def test_a_thread_with_the_callers_context_is_in_the_callers_conversation(alice):
    found = []
    with alice:
        context = contextvars.copy_context()
    thread = threading.Thread(target=lambda: found.append(context.run(current_session)))
    thread.start()
    thread.join()
    assert found == [alice]


# --- context managers ---


def test_a_context_manager_enters_for_whoever_uses_it(alice, bob):
    @contextmanager
    def as_alice():
        with alice:
            yield

    @contextmanager
    def twice():
        with bob, as_alice():
            yield

    with bob:
        with as_alice():
            assert current_session() is alice
        assert current_session() is bob
        with twice():
            assert current_session() is alice
    assert current_session() is None


async def test_an_async_context_manager_enters_for_whoever_uses_it(alice):
    @asynccontextmanager
    async def as_alice():
        with alice:
            yield

    async with as_alice():
        assert current_session() is alice
        assert await asyncio.create_task(current()) is alice
    assert current_session() is None


def test_a_stack_of_context_managers_enters_until_it_is_closed(alice, bob):
    def opened(stack):
        stack.enter_context(alice)
        stack.enter_context(bob)

    with ExitStack() as stack:
        opened(stack)
        assert current_session() is bob
    assert current_session() is None


def test_a_generator_that_others_use_as_a_context_manager_enters_for_them(alice):
    # As fixtures do: who began it has returned, and others run in between.
    def begin(steps):
        return next(steps)

    steps = numbers(alice, [])
    begin(steps)
    assert current_session() is alice
    steps.close()
    assert current_session() is None


async def current():
    return current_session()


async def closed(steps):
    await steps.aclose()
