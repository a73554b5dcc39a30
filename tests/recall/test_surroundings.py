"""Code that arrives by itself: from a message to what stands in the prompt."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from ctxmw import Budget, ContextMiddleware, Xml
from ctxmw.recall.sources.code.source import KINDS
from ctxmw.recall.surroundings import is_small_talk
from ctxmw.workspace.triggers import Triggers

SERVICE = '''"""Logs people in."""

from shop.tokens import issue


class AuthService:
    """Handles login & logout <fast>."""

    def login(self, user: str) -> str:
        """Log somebody in and hand out a token."""
        return issue(user)

    def validate(self, token):
        """Check a token."""
'''
FILES = {
    "shop/auth/service.py": SERVICE,
    "shop/tokens.py": 'def issue(user):\n    """Make a token with a signature."""\n    return 1\n',
    "shop/api.py": (
        "from shop.auth.service import AuthService\n\n\n"
        'def login_view(request):\n    """Answer a login."""\n    return AuthService().login(1)\n'
    ),
    "tests/test_service.py": (
        "from shop.auth.service import AuthService\n\n\n"
        "def test_login():\n    assert AuthService().login('a')\n"
    ),
    "web/service.ts": "/** Shows carts. */\nexport class CartView { render() { return 1; } }\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    root = tmp_path_factory.mktemp("shop")
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return root


@pytest.fixture
def open_shop(root):
    opened = []

    def open_it(**options):
        opened.append(ContextMiddleware.open(":memory:", **options))
        opened[-1].index_code(root, project="shop")
        return opened[-1]

    yield open_it
    for ctx in opened:
        ctx.close()


@pytest.fixture
def ctx(open_shop):
    return open_shop()


def asked(ctx, text, **options):
    chat = ctx.session(project="shop", **options)
    return chat.prepare([{"role": "user", "content": text}]).context


def code_of(context):
    return [one for one in context.used if one.kind in KINDS and one.shown != "none"]


def test_a_symbol_brings_its_definition_its_summary_and_its_neighbours(ctx):
    context = asked(ctx, "How does the AuthService handle login?")
    assert "## Related Code" in context.part
    assert "- shop/auth/service.py:6-14: class AuthService" in context.part
    assert "Handles login &amp; logout &lt;fast&gt;." in context.part
    assert "has: login, validate" in context.part
    assert "called by: login_view (shop/api.py:4)" in context.part
    assert "tested by: test_login (tests/test_service.py:4)" in context.part
    assert context.stable == ""


def test_a_file_brings_its_outline_and_its_neighbours(ctx):
    context = asked(ctx, "Look at shop/auth/service.py for the implementation")
    assert "## File Context" in context.part
    assert "python, 14 lines. Logs people in." in context.part
    assert "imports: shop/tokens.py" in context.part
    assert "imported by: shop/api.py" in context.part
    assert "tested by: tests/test_service.py" in context.part


def test_a_line_brings_what_stands_there(ctx):
    assert "def AuthService.login" in asked(ctx, "See shop/auth/service.py:11").part
    trace = 'Why?\n  File "/srv/shop/tokens.py", line 2, in issue\nKeyError: 1'
    assert "def issue(user)" in asked(ctx, trace).part


def test_other_languages_arrive_as_well(ctx):
    assert "class CartView" in asked(ctx, "What is CartView?").part


def test_what_a_question_is_about_brings_code_too(ctx):
    assert "def issue(user)" in asked(ctx, "How is a token signature made?").part


@pytest.mark.parametrize(
    "text",
    [
        "thanks!",
        "How was your weekend?",
        "What is the capital of France?",
        "Now I am Working. Look!",
    ],
)
def test_ordinary_chat_brings_no_code(ctx, text):
    assert asked(ctx, text).part == ""


def test_a_conversation_without_the_project_gets_nothing_of_it(ctx):
    chat = ctx.session(project="other")
    assert chat.prepare([{"role": "user", "content": "AuthService?"}]).context.part == ""
    assert ctx.session().prepare([{"role": "user", "content": "AuthService?"}]).context.part == ""
    assert asked(ctx, "AuthService?", user="ann").part == ""


def test_the_final_score_is_the_weight_times_half_match_half_score(ctx):
    (used,) = code_of(asked(ctx, "AuthService?"))
    assert used.signals["symbol"] == 0.9
    assert used.score == pytest.approx(0.9 * (1.0 + 0.7) / 2)


def test_continuity_the_next_message_still_has_what_was_worked_on(ctx):
    chat = ctx.session("s", project="shop")
    history = [{"role": "user", "content": "Working on AuthService"}]
    chat.finish(chat.prepare(history), "Fine.")
    history += [{"role": "assistant", "content": "Fine."}]
    history += [{"role": "user", "content": "Now I need to add validation"}]
    whole = chat.prepare(history)
    assert sum("class AuthService" in str(message) for message in whole.messages) == 1
    assert "class AuthService" not in whole.context.part


def test_continuity_holds_when_the_caller_sends_only_the_last_message(ctx):
    chat = ctx.session("s", project="shop")
    chat.finish(chat.prepare([{"role": "user", "content": "Working on AuthService"}]), "Fine.")
    prepared = chat.prepare([{"role": "user", "content": "Now I need to add validation"}])
    assert "class AuthService" in prepared.context.part
    decayed = next(one for one in code_of(prepared.context) if one.kind == "class")
    assert decayed.signals["symbol"] == pytest.approx(0.9 * 0.85)


def test_what_was_worked_on_ends_after_some_turns(ctx):
    chat = ctx.session("s", project="shop")
    chat.finish(chat.prepare([{"role": "user", "content": "Working on AuthService"}]), "Fine.")
    shown = []
    for n in range(5):
        prepared = chat.prepare([{"role": "user", "content": f"Now I add step {n} of paint"}])
        shown.append("class AuthService" in prepared.context.part)
        chat.finish(prepared, "Fine.")
    assert shown == [True, True, True, False, False]


def test_small_talk_in_between_brings_nothing(ctx):
    chat = ctx.session("s", project="shop")
    chat.finish(chat.prepare([{"role": "user", "content": "Working on AuthService"}]), "Fine.")
    assert chat.prepare([{"role": "user", "content": "thanks!"}]).context.part == ""


def test_a_retry_builds_nothing_twice_and_ages_nothing(ctx):
    chat = ctx.session("s", project="shop")
    messages = [{"role": "user", "content": "Working on AuthService"}]
    first = chat.prepare(messages)
    assert chat.prepare(messages).messages == first.messages
    (state,) = ctx.sessions()
    assert [one.turns for one in state.triggers] == [1]


def test_changed_code_is_shown_anew_and_the_old_prompt_stays(ctx, root):
    chat = ctx.session("s", project="shop")
    history = [{"role": "user", "content": "What is AuthService?"}]
    first = chat.prepare(history)
    chat.finish(first, "A class.")
    file = root / "shop/auth/service.py"
    try:
        file.write_text(SERVICE.replace("Handles login", "Controls login"), encoding="utf-8")
        ctx.index_code(root, project="shop")
        history += [{"role": "assistant", "content": "A class."}]
        history += [{"role": "user", "content": "And AuthService now?"}]
        second = chat.prepare(history)
    finally:
        file.write_text(SERVICE, encoding="utf-8")
    assert "Controls login" in second.context.part
    assert second.messages[0] == first.messages[0]


@pytest.mark.parametrize("total", [0, 40, 120, 300, 1000, 4000])
def test_whatever_the_budget_it_holds(open_shop, total):
    ctx = open_shop(budget=Budget(total=total))
    text = (
        "Compare AuthService, login_view, issue(), CartView and shop/auth/service.py, shop/api.py"
    )
    context = asked(ctx, text)
    assert context.tokens <= total
    assert len(code_of(asked(open_shop(), text))) == 6


def test_code_degrades_to_what_can_be_fetched_in_full(open_shop, tmp_path):
    methods = "".join(f"    def method_number_{n}(self): pass\n" for n in range(30))
    (tmp_path / "big.py").write_text(f"class BigThing:\n{methods}", encoding="utf-8")
    ctx = open_shop(budget=Budget(total=300))
    ctx.index_code(tmp_path, project="big")
    chat = ctx.session("s", project="big")
    context = chat.prepare([{"role": "user", "content": "What is BigThing?"}]).context
    (used,) = code_of(context)
    assert used.shown == "brief"
    assert "class BigThing" in context.part
    assert "method_number_3" not in context.part
    assert "method_number_3" in chat.on_demand.get([used.ref])
    assert "No record has the id" in chat.on_demand.get(["xnothing"])


def test_a_message_brings_a_bounded_number_of_sections_and_tokens(open_shop, tmp_path):
    body = "".join(f'def name_{n}(a, b):\n    """Tell about thing {n}."""\n' for n in range(50))
    (tmp_path / "many.py").write_text(body, encoding="utf-8")
    ctx = open_shop(triggers=Triggers(sections=4))
    ctx.index_code(tmp_path, project="many")
    text = "Compare " + ", ".join(f"name_{n}" for n in range(12))
    chat = ctx.session(project="many")
    assert len(code_of(chat.prepare([{"role": "user", "content": text}]).context)) == 4
    ctx = open_shop(triggers=Triggers(tokens=30))
    ctx.index_code(tmp_path, project="many")
    few = ctx.session(project="many").prepare([{"role": "user", "content": text}]).context
    assert len(code_of(few)) < 4


def test_a_symbol_brings_at_most_three_definitions(open_shop, tmp_path):
    for n in range(6):
        (tmp_path / f"m{n}.py").write_text(f"def do_it(): return {n}\n", encoding="utf-8")
    ctx = open_shop()
    ctx.index_code(tmp_path, project="many")
    chat = ctx.session(project="many")
    assert len(code_of(chat.prepare([{"role": "user", "content": "Why do_it?"}]).context)) == 3


def test_triggers_can_be_switched_off_one_by_one(open_shop):
    assert asked(open_shop(triggers=Triggers(symbol=0)), "Working on AuthService").part == ""
    assert asked(open_shop(triggers=Triggers(path=0)), "Read shop/api.py").part == ""
    assert asked(open_shop(triggers=Triggers.off()), "How does AuthService work?").part == ""


def test_code_and_memories_share_the_part(ctx):
    chat = ctx.session("s", project="shop")
    chat.finish(chat.prepare([{"role": "user", "content": "Hello there"}]), "Hi.")
    for n in range(20):
        ctx.remember(f"Rule {n} is about gardens and rivers.", scope="project:shop")
    ctx.remember("The login got a new rule: AuthService locks after five tries.")
    context = chat.prepare(
        [{"role": "user", "content": "How does AuthService login work?"}]
    ).context
    assert "class AuthService" in context.part
    assert "new rule" in context.part


def test_code_does_not_come_up_when_memories_are_searched(ctx):
    assert ctx.search("AuthService login") == []
    chat = ctx.session("s", project="shop")
    assert "Nothing is remembered" in chat.on_demand.search("AuthService login")


def test_the_record_names_the_code_later_too(ctx):
    chat = ctx.session("s", project="shop")
    chat.finish(chat.prepare([{"role": "user", "content": "AuthService?"}]), "A class.")
    record = ctx.why("A class.")
    assert "AuthService in shop/auth/service.py:6" in record.explain()
    assert "AuthService in shop/auth/service.py:6" in record.display()
    assert "1 class" in record.summary()


def test_code_is_escaped_by_every_renderer(open_shop):
    context = asked(open_shop(renderer=Xml()), "What is AuthService?")
    assert "&lt;fast&gt;" in context.part
    assert "<fast>" not in context.part


@pytest.mark.parametrize(
    ("text", "is_talk"),
    [
        ("thanks!", True),
        ("how are you?", True),
        ("what's wrong here?", False),
        ("can you fix this?", False),
        ("explain this", False),
        ("why?", False),
        ("why", False),
        ("hm, and why not?", False),
        ("how?", False),
        ("what is wrong?", False),
        ("so what?", True),
        ("ok then", True),
        ("why thank you", True),
        ("that is nice", True),
        ("add validation", False),
        ("", True),
    ],
)
def test_small_talk_is_told_from_pointing_at_something(text, is_talk):
    assert is_small_talk(text) is is_talk


def test_a_method_is_shown_with_its_class_or_its_receiver_whatever_its_name():
    with ContextMiddleware.open(":memory:") as ctx, TemporaryDirectory() as folder:
        Path(folder, "a.py").write_text("class Shape:\n    def ef(self):\n        return 1\n")
        Path(folder, "b.go").write_text(
            "package b\n\nfunc (s *Server) Serve(n int) error { return nil }\n"
        )
        ctx.index_code(folder, project="shop")
        asked = [{"role": "user", "content": "Why do Shape.ef and Server.Serve fail?"}]
        part = ctx.session(project="shop").prepare(asked).context.part
    assert "def Shape.ef(self)" in part
    assert "func (s *Server) Serve(n int) error" in part


CLIENT = '''class Client:
    """Talks to a server."""

    def __init__(self, *, host: str = "localhost.example.org", port: int = 8080,
                 proxy: str | None = None, timeout: float = 30.0, retries: int = 3,
                 headers: dict[str, str] | None = None) -> None:
        self.proxy = proxy

    def send(self, request) -> bytes:
        """Send a request."""
        if self.retries > 3 and self.retries >= len("</ctxmw>"):
            handler = lambda: "=> done"
        return self.through(self.proxy)


class Other:
    def send(self, request):
        """Send a request through a proxy."""
'''


@pytest.fixture
def asked_of_client(tmp_path):
    (tmp_path / "client.py").write_text(CLIENT, encoding="utf-8")
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(tmp_path, project="shop")
        yield lambda text: asked(ctx, text).part


def test_a_class_that_is_named_comes_with_those_of_its_methods_that_are_meant(asked_of_client):
    part = asked_of_client("How does the Client send a request through a proxy?")
    assert part.count("class Client") == part.count("Client.__init__") == 1
    assert "def Client.send(self, request)" in part
    assert "return self.through(self.proxy)" in part
    assert "Other" not in part


def test_a_long_signature_is_told_by_the_names_of_its_parameters(asked_of_client):
    part = asked_of_client("What is the Client?")
    assert "__init__(self, *, host, port, proxy, timeout, retries, headers) → None" in part


def test_a_function_that_is_named_comes_with_its_body_and_its_signature_once(asked_of_client):
    part = asked_of_client("How does Client.send work?")
    assert part.count("send(self, request)") == part.count("Send a request.") == 1
    assert "if self.retries > 3 and self.retries >= len(" in part


def test_code_can_compare_and_still_closes_no_frame(asked_of_client):
    part = asked_of_client("How does Client.send work?")
    assert part.count("</ctxmw>") == 1
    assert "&lt;/ctxmw&gt;" in part


def test_a_name_with_much_more_said_brings_what_is_asked_in_detail(ctx):
    part = asked(ctx, "Which tokens issue a signature that AuthService makes use of?").part
    assert "class AuthService" in part
    assert "def issue(user): Make a token with a signature." in part


def test_a_file_that_is_named_with_much_more_said_brings_other_files_too(ctx):
    part = asked(ctx, "In shop/api.py make the token signature and validate the user login").part
    assert "shop/api.py" in part
    assert "shop/tokens.py" in part


def test_a_question_names_fewer_files_than_a_request(ctx):
    text = "the token with a signature is made for the user at login"
    asking, changing = (
        asked(ctx, f"{begin} {text}").part.count("\n- ") for begin in ("how is it that", "fix that")
    )
    assert 0 < asking <= changing


TALKING = '''"""Talks to servers."""


class Line:
    """A connection."""

    def __init__(self, host, retries=3):
        """Connect to a host, again and again when it refuses."""
        self.host = host
        self.retries = retries

    def _redial(self):
        for attempt in range(self.retries):
            delay = 2 ** attempt
            self.sleep(delay)

    def close(self):
        self.host = None
'''


@pytest.fixture
def asked_of_line(tmp_path):
    (tmp_path / "line.py").write_text(TALKING, encoding="utf-8")
    (tmp_path / "other.py").write_text("def unrelated():\n    return 1\n", encoding="utf-8")
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(tmp_path, project="shop")
        yield lambda text: asked(ctx, text).part


def test_a_file_that_is_named_comes_with_the_lines_that_answer(asked_of_line):
    part = asked_of_line("How long is the delay between attempts in line.py?")
    assert "4: class Line" in part
    assert "delay = 2 ** attempt" in part


def test_a_file_that_is_named_alone_comes_with_its_outline(asked_of_line):
    part = asked_of_line("Explain line.py")
    assert "4: class Line" in part
    assert "delay" not in part


def test_a_constructor_is_told_once(asked_of_line):
    part = asked_of_line("Where does it connect to a host, and retry when the host refuses?")
    assert part.count("__init__(self, host, retries=3)") == 1
    assert "Connect to a host, again and again" in part


@pytest.fixture
def ask_of_tickets(tmp_path):
    files = {
        "app/tickets.py": (
            "def tickets(key):\n    return read_ticket(key)\n\n\n"
            "def read_ticket(key):\n"
            '    """Look the ticket up in a header."""\n'
            "    header = read(key)\n    lookup = header.lookup\n    return lookup\n"
        ),
        "app/test_tickets.py": (
            "def test_header_lookup_of_tickets():\n"
            "    cookie = header = lookup = ticket = 1\n"
            "    assert ticket == header.lookup(cookie)\n"
        ),
        "app/cookies.py": "def cookie_lookup(header):\n    return header.cookie\n",
        "app/limits.py": "TICKET_LIMIT = 5\n\n\ndef lookup():\n    pass\n",
    }
    for path, text in files.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text, encoding="utf-8")
    with ContextMiddleware.open(":memory:") as ctx:
        ctx.index_code(tmp_path, project="shop")
        yield lambda text: asked(ctx, text).part


def test_tests_come_after_what_they_test(ask_of_tickets):
    part = ask_of_tickets("Change the lookup of the header and the cookie of a ticket")
    assert part.index("app/limits.py") < part.index("app/test_tickets.py")
    assert part.index("app/tickets.py") < part.index("app/test_tickets.py")


def test_a_named_function_with_much_more_said_brings_what_stands_around_it(ask_of_tickets):
    part = ask_of_tickets("`tickets()` should read the ticket with a lookup in the header too")
    assert "def tickets(key)" in part
    assert "def read_ticket(key): Look the ticket up in a header." in part


def test_a_function_is_meant_and_not_the_file_that_is_called_like_it(ask_of_tickets):
    part = ask_of_tickets("what does `tickets()` do?")
    assert "app/tickets.py:1-2" in part
    assert "module app.tickets" not in part


def test_what_stands_in_one_line_has_one_number(ask_of_tickets):
    assert "- app/limits.py:1: TICKET_LIMIT = 5" in ask_of_tickets("what is TICKET_LIMIT?")
