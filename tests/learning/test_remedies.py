"""What failed and then worked is learned as one thing, and shown when it fails again."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ctxmw import ContextMiddleware
from ctxmw.learning.remedies import CallOutcome, Remedy, remedies

MISSING = "bash: pytest: command not found"


def call(name, output="ok", failed="", **args):
    return CallOutcome(name=name, args=args, failure=failed, works=not failed)


MENDED = [
    (
        call("bash", failed=MISSING, command="pytest tests"),
        call("bash", command="python -m pytest tests"),
    ),
    (call("weather", failed="city not found", city="Berln"), call("weather", city="Berlin")),
    (call("user", failed="id must be a number", id="ada"), call("user", id=7)),
    (call("deploy", failed="Error: locked", env="prod"), call("deploy", env="prod", force=True)),
    (call("read", failed="no such file", path="login.py"), call("read", path="src/login.py")),
    (call("read", failed="no such file", path="app/login.py"), call("read", path="src/login.py")),
    (call("fetch", failed="403", url="https://a.test/x"), call("browse", url="https://a.test/x")),
    (
        call("sql", failed="unknown column nme", query="select nme from users"),
        call("sql", query="select name from users"),
    ),
]
MENDED += [
    (
        call("get", failed="HTTP 401", url="https://a.test/users"),
        call("get", url="https://a.test/users", headers={"Authorization": "t"}),
    ),
    (
        call("bash", failed="ModuleNotFoundError", command="python build.py"),
        call("bash", command="uv run --with pyyaml python build.py"),
    ),
    (
        call("mail", failed="ValueError: invalid recipient", to="ada", subject="Hi"),
        call("mail", to="ada@x.test", subject="Hi"),
    ),
]
NO_REMEDY = [
    (call("bash", failed=MISSING, command="pytest tests"), call("bash", command="ls -la")),
    (call("bash", failed="exit code 1", command="npm test"), call("bash", command="npm install")),
    (call("user", failed="404 not found", id=7), call("user", id=8)),
    (call("read", failed="no such file", path="a.txt"), call("read", path="b.txt")),
    (call("weather", failed="city not found", city="Berln"), call("weather", city="Paris")),
    (call("fetch", failed="403", url="https://a.test/x"), call("browse", url="https://b.test/y")),
    (call("weather", failed="timeout", city="Berlin"), call("weather", city="Berlin")),
    (call("weather", failed="city not found", city="Berln"), call("clock", zone="CET")),
    (
        call("sql", failed="syntax error", query="selct 1"),
        call("sql", query="update users set name = 'x'"),
    ),
    (call("weather", city="Berln"), call("weather", city="Berlin")),
    (
        call("get", failed="500", url="https://a.test/users/1"),
        call("get", url="https://a.test/orders/9"),
    ),
    (
        call("bash", failed="3 failed", command="pytest tests/test_a.py"),
        call("bash", command="cat tests/test_a.py"),
    ),
]


@pytest.mark.parametrize("pair", MENDED)
def test_a_call_that_was_put_right_is_a_remedy(pair):
    assert list(remedies(pair)) == [Remedy((0,), 1, 1)]


@pytest.mark.parametrize("pair", NO_REMEDY)
def test_what_is_merely_called_next_is_none(pair):
    assert list(remedies(pair)) == []


def test_several_tries_have_one_remedy_and_calls_in_between_do_not_matter():
    tries = [
        call("weather", failed="city not found", city="Berln"),
        call("clock", zone="CET"),
        call("weather", failed="city not found", city="Berlinn"),
        call("weather", city="Berlin"),
    ]
    assert list(remedies(tries)) == [Remedy((0, 2), 3, 3)]


LOOKED = [
    [
        call("run_tests", failed="missing environment DB_URL", path="tests/test_a.py"),
        call("read_file", path="tests/test_a.py"),
        call("run_tests", path="tests/test_a.py", env="DB_URL=x"),
    ],
    [
        call("bash", failed=MISSING, command="pytest tests"),
        call("bash", command="ls .venv/bin"),
        call("bash", command=".venv/bin/pytest tests"),
    ],
    [
        call("deploy", failed="Error: missing required argument region", env="prod"),
        call("grep", pattern="prod"),
        call("deploy", env="prod", region="eu-1"),
    ],
]


@pytest.mark.parametrize("calls", LOOKED)
def test_looking_at_something_in_between_is_no_remedy(calls):
    calls = [calls[0], replace(calls[1], looks=True), calls[2]]
    assert list(remedies(calls)) == [Remedy((0,), 2, 2)]


def test_what_was_done_before_the_same_call_worked_is_the_remedy():
    calls = [
        call("bash", failed="ModuleNotFoundError: No module named 'httpx'", command="pytest"),
        replace(call("bash", command="cat setup.cfg"), looks=True),
        call("bash", command="pip install httpx"),
        call("bash", command="pytest"),
    ]
    assert list(remedies(calls)) == [Remedy((0,), 2, 3)]
    by_another_tool = [
        replace(calls[0], name="run_tests"),
        *calls[1:3],
        replace(calls[3], name="run_tests"),
    ]
    assert list(remedies(by_another_tool)) == [Remedy((0,), 2, 3)]
    came_back = [replace(one, failure="503 Service Unavailable") for one in by_another_tool[:1]]
    assert list(remedies([*came_back, *by_another_tool[1:]])) == []
    mended_by_hand = [*calls[:2], replace(calls[2], name="edit", changes=True), calls[3]]
    assert list(remedies(mended_by_hand)) == []


def test_another_number_mends_what_is_taken_and_nothing_else():
    taken, refused = "ERROR: address already in use", "ERROR: no such app"
    for failure, found in ((taken, [Remedy((0,), 1, 1)]), (refused, [])):
        calls = [
            call("bash", failed=failure, command="uvicorn app:app --port 8000"),
            call("bash", command="uvicorn app:app --port 8001"),
        ]
        assert list(remedies(calls)) == found


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", strict=True) as opened:
        yield opened


def called(id_, command, output, **more):
    made = {"id": id_, "name": "bash", "args": {"command": command}}
    return [
        {"role": "assistant", "content": "", "tool_calls": [made]},
        {"role": "tool", "name": "bash", "tool_call_id": id_, "content": output, **more},
    ]


ASKED = {"role": "user", "content": "Run the checks."}
HELLO = {"role": "user", "content": "Good morning."}
FAILS = called("c1", "pytest tests", MISSING)


def learned(ctx, session="monday"):
    works = called("c2", "python -m pytest tests", "12 passed")
    ctx.session(session).capture(
        [ASKED, *FAILS, *works, {"role": "assistant", "content": "All pass."}]
    )
    return [hit.record for hit in ctx.search("pytest", kinds=["discovery"])]


def test_it_is_one_observation_however_often_it_happens(ctx):
    (one,) = learned(ctx)
    assert one.title == (
        'When bash(command="pytest tests") fails: do bash(command="python -m pytest tests")'
    )
    assert one.text == f"It failed with: {MISSING}"
    assert (one.source, one.trust) == ("tool:bash", "untrusted")
    assert learned(ctx, "tuesday") == [one]


def test_it_is_shown_when_the_same_fails_again_and_stays_for_the_turn(ctx):
    learned(ctx)
    chat = ctx.session("wednesday")
    assert "python -m pytest" not in str(chat.prepare([HELLO]).messages)
    again = [HELLO, *FAILS]
    second = chat.prepare(again)
    assert "do bash(command=" in second.context.part
    assert "untrusted, from tool:bash" in second.context.part
    assert second.messages[-1] == again[-1]
    later = chat.prepare([*again, *called("c3", "ls", "tests")])
    assert str(later.messages).count("do bash(command=") == 1
    assert later.messages[: len(second.messages)] == second.messages
    other = ctx.session("thursday").prepare([HELLO, *called("c1", "ls", "tests  docs")])
    assert "do bash(command=" not in str(other.messages)


SEQUENCES = {
    "a look in between": (
        ("pytest tests", MISSING),
        ("ls .venv/bin", "python pytest"),
        (".venv/bin/pytest tests", "12 passed"),
    ),
    "two failures": (
        ("python manage.py migrate", "bash: python: command not found"),
        ("python3 manage.py migrate", "ModuleNotFoundError: No module named 'django'"),
        (".venv/bin/python manage.py migrate", "OK"),
    ),
    "a look at the tables": (
        ("SELECT mail FROM migrate", 'ERROR: column "mail" does not exist'),
        ("SELECT column_name FROM information_schema.columns WHERE table_name='migrate'", "email"),
        ("SELECT email FROM migrate", "a@example.org"),
    ),
    "a failure without the word": (
        ("docker run migrate", "permission denied while trying to connect to the Docker daemon"),
        ("sudo docker run migrate", "sudo: a password is required"),
        ("newgrp docker && docker run migrate", "Started"),
    ),
    "something done in between": (
        ("pytest", "ModuleNotFoundError: No module named 'httpx'"),
        ("pip install httpx", "Successfully installed"),
        ("pytest", "3 passed"),
    ),
}


@pytest.mark.parametrize("step_by_step", [True, False])
@pytest.mark.parametrize("sequence", SEQUENCES)
def test_a_sequence_of_tries_is_one_observation(ctx, sequence, step_by_step):
    chat, history = ctx.session("monday"), [ASKED]
    for at, (command, output) in enumerate(SEQUENCES[sequence]):
        step, answer = called(f"c{at}", command, output)
        if step_by_step:
            chat.finish(chat.prepare(history), step, capture=False)
        history += [step, answer]
    chat.finish(chat.prepare(history), "All pass.")
    found = [hit.record for hit in ctx.search("pytest migrate", kinds=["discovery"])]
    told = [one.title for one in found if "fail" in one.title]
    (first, _), *_, last = SEQUENCES[sequence]
    helped = "pip install httpx" if first == last[0] else last[0]
    assert told == [f'When bash(command="{first}") fails: do bash(command="{helped}")']


def test_it_is_shown_when_the_person_reports_the_failure(ctx):
    learned(ctx)
    said = {"role": "user", "content": f"I still get this:\n{MISSING}"}
    assert "do bash(command=" in ctx.session("friday").prepare([said]).context.part


def test_a_tool_that_fails_by_its_status_alone_counts(ctx):
    fails = called("c1", "deploy shop", "the shop is locked", status="error")
    works = called("c2", "deploy shop --force", "deployed")
    ctx.session("monday").capture([ASKED, *fails, *works, {"role": "assistant", "content": "Ok."}])
    asked = ctx.session("tuesday").prepare([HELLO, *fails])
    assert "deploy shop --force" in asked.context.part
    calm = called("c1", "deploy shop", "the shop is locked")
    assert "--force" not in ctx.session("friday").prepare([HELLO, *calm]).context.part
