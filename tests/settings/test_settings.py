"""Settings: where they come from, what is refused, and that each of them changes something."""

from __future__ import annotations

import os
import re
import sqlite3
import time
import tomllib
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ctxmw import ContextMiddleware, InvalidValue, Settings, memory_tools
from ctxmw.settings.file import find_file
from ctxmw.settings.reference import commented, keys
from ctxmw.testing import FixedClock, HashEmbedder
from ctxmw.tokens.counter import counter_for

ASKED = [{"role": "user", "content": "How does the AuthService check a login token?"}]


def load(folder: Path, text: str = "", environ: dict[str, str] | None = None, **arguments: Any):
    """Return the settings of a file that is named; of one that is found: test_trusting."""
    file = folder / "ctxmw.toml"
    file.write_text(text)
    return Settings.load(file=file, environ=environ or {}, **arguments)


def test_without_a_file_there_are_defaults(tmp_path):
    assert Settings.load(tmp_path, environ={}) == Settings()


def test_the_nearest_file_upwards_holds(tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    (tmp_path / "ctxmw.toml").write_text("max_tokens = 100")
    assert Settings.load(inner, environ={}).max_tokens == 100
    (tmp_path / "a" / "pyproject.toml").write_text("[tool.ctxmw]\nmax_tokens = 200")
    assert Settings.load(inner, environ={}).max_tokens == 200
    (tmp_path / "a" / "b" / "pyproject.toml").write_text("[tool.other]\nmax_tokens = 300")
    assert Settings.load(inner, environ={}).max_tokens == 200
    (tmp_path / "a" / "ctxmw.toml").write_text("max_tokens = 400")
    assert Settings.load(inner, environ={}).max_tokens == 400


def test_the_environment_wins_over_the_file_and_arguments_over_both(tmp_path):
    text = 'user = "file"\nproject = "file"\nlanguage = "file"\n[budget]\nturn = 1\nindex = 2'
    environ = {
        "CTXMW_PROJECT": "environment",
        "CTXMW_LANGUAGE": "environment",
        "CTXMW_BUDGET__TURN": "5",
        "CTXMW_HOME": "/nowhere",
        "CTXMW_SOMETHING_ELSE": "is not ours",
        "HOME": "/root",
    }
    settings = load(tmp_path, text, environ, language="argument", user=None)
    assert (settings.user, settings.project, settings.language) == (
        "file",
        "environment",
        "argument",
    )
    assert (settings.budget.turn, settings.budget.index) == (5, 2)


def test_the_environment_can_hold_lists_and_switches(tmp_path):
    environ = {
        "CTXMW_ENABLED": "false",
        "CTXMW_REDACTION": '{patterns = ["ACME-[0-9]+"]}',
        "CTXMW_TRIGGERS__FILE_OPEN": "0.5",
        "CTXMW_CATALOG": '[{kind = "rule", name = "R", content = "Be kind."}]',
    }
    settings = load(tmp_path, "", environ)
    assert settings.enabled is False
    assert settings.redaction.patterns == ("ACME-[0-9]+",)
    assert settings.triggers.file_open == 0.5
    assert settings.catalog[0].name == "R"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("max_token = 5", "there is no key 'max_token'. Did you mean 'max_tokens'?"),
        ("[budget]\nturns = 5", "there is no key 'budget.turns'. Did you mean 'turn'?"),
        ("[triggers]\nfile_opn = true", "there is no key 'triggers.file_opn'. Did you mean"),
        ('[[catalog]]\nkind = "rule"\nnmae = "x"', "'catalog.0.nmae'. Did you mean 'name'?"),
        ('[servers.files]\nincluded = "agent"', "'servers.files.included'. Did you mean 'include'"),
        ("zzz = 5", "Allowed: store, user"),
        ("max_tokens = -5", "max_tokens is -5"),
        ('max_tokens = "many"', "max_tokens is 'many'"),
        ('placement = "left"', "'split', 'system_end' or 'all_system'"),
        ("[weights]\nscope = 0.9", "they must add up to 1"),
        ("[budget]\nturn = -1", "Budget.turn is -1"),
        ("[triggers]\nfile_open = 3", "triggers.file_open"),
        ("max_tokens = ", "is not valid TOML"),
        ("user = ''", "user"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_what_is_allowed(tmp_path, text, says):
    with pytest.raises(InvalidValue) as raised:
        load(tmp_path, text)
    assert str(tmp_path / "ctxmw.toml") in str(raised.value)
    assert says in str(raised.value)


def test_a_wrong_variable_or_argument_is_named_as_such(tmp_path):
    with pytest.raises(InvalidValue, match=r"the environment: max_tokens is 'many'"):
        load(tmp_path, "", {"CTXMW_MAX_TOKENS": "many"})
    with pytest.raises(InvalidValue, match=r"CTXMW_CATALOG is '\[x'"):
        load(tmp_path, "", {"CTXMW_CATALOG": "[x"})
    with pytest.raises(InvalidValue, match=r"the arguments: there is no key 'max_toknes'"):
        load(tmp_path, "", max_toknes=5)
    with pytest.raises(InvalidValue, match="add up to 1"):
        load(tmp_path, "[weights]\nscope = 0.4\nseen = 0.3", {"CTXMW_WEIGHTS__SCOPE": "0.9"})


def test_a_file_that_is_named_must_be_there(tmp_path):
    with pytest.raises(InvalidValue, match=r"missing\.toml cannot be read"):
        Settings.load(file=tmp_path / "missing.toml")


def test_a_file_that_is_huge_or_no_text_is_refused(tmp_path):
    (tmp_path / "ctxmw.toml").write_text("#" * 100_000)
    with pytest.raises(InvalidValue, match="larger than 64 kB"):
        Settings.load(tmp_path, environ={})
    (tmp_path / "ctxmw.toml").write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidValue, match="cannot be read"):
        Settings.load(tmp_path, environ={})


@pytest.mark.parametrize(
    "text",
    [
        "catalog = " + "[" * 20_000,
        "catalog = " + "[" * 100 + "]" * 100,
        "catalog = " + "{a = " * 5_000,
        "max_tokens = " + "9" * 5_000,
        ".".join("a" * 32_000) + " = 1",
        "[servers." + ".".join("a" * 100) + "]",
    ],
    ids=["lists", "closed lists", "tables", "digits", "dots", "levels"],
)
def test_a_file_that_would_keep_the_parser_or_its_readers_busy_is_refused(tmp_path, text):
    (tmp_path / "ctxmw.toml").write_text(text)
    with pytest.raises(InvalidValue, match=r"ctxmw\.toml (is not valid TOML|has|nests)"):
        Settings.load(tmp_path, environ={})


def test_a_relative_store_counts_from_its_file(tmp_path):
    inner = tmp_path / "a"
    inner.mkdir()
    (tmp_path / "ctxmw.toml").write_text('store = "data/memory.db"')
    file = "../ctxmw.toml"
    assert Settings.load(file=inner / file).store == str(inner / ".." / "data" / "memory.db")
    (tmp_path / "ctxmw.toml").write_text('store = ":memory:"')
    assert Settings.load(file=inner / file).store == ":memory:"


def test_the_commented_file_sets_nothing_and_names_every_key(tmp_path):
    assert tomllib.loads(commented()).keys() <= set(Settings.model_fields)
    assert load(tmp_path, commented()) == Settings()
    for key in keys():
        assert f"# {key.name} = " in commented()
        assert key.says, key


def test_every_line_of_the_commented_file_can_be_taken_in(tmp_path):
    named = commented().replace("[servers.NAME]", "[servers.files]")
    setting = re.compile(r"(# )?(\[.*\]|[a-z_]+ = .*)")
    found = filter(None, map(setting.fullmatch, named.splitlines()))
    told = load(tmp_path, "\n".join(line[2] for line in found))
    assert told.budget == Settings().budget
    assert told.servers["files"].include == "agent"


def test_a_variable_names_the_file(tmp_path):
    (tmp_path / "mine.toml").write_text('user = "ada"')
    environ = {"CTXMW_CONFIG": str(tmp_path / "mine.toml")}
    assert Settings.load(tmp_path, environ=environ).user == "ada"


def test_a_pipe_that_is_called_like_a_file_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pyproject.toml")
    assert find_file(tmp_path) != tmp_path / "pyproject.toml"


def test_finding_a_file_survives_whatever_lies_around(tmp_path):
    (tmp_path / "pyproject.toml").mkdir()
    (tmp_path / "ctxmw.toml").mkdir()
    assert find_file(tmp_path) != tmp_path / "ctxmw.toml"


# Each setting, and what it changes.


class Scene:
    """A memory with something of everything, opened with the settings of a file."""

    def __init__(self, folder: Path, text: str) -> None:
        self.settings = load(folder, f'store = "memory.db"\n{text}')
        self.clock = FixedClock()
        self.ctx = self.settings.open(clock=self.clock)

    def filled(self) -> Scene:
        ctx = self.ctx
        for number in range(12):
            ctx.remember(f"Login rule {number}: tokens of AuthService expire.", kind="decision")
        ctx.remember("Answer in short sentences.", kind="preference")
        ctx.remember("Old login token fact of long ago.", kind="fact")
        for number in range(8):
            chat = ctx.session(f"s{number}")
            chat.capture([{"role": "user", "content": f"We spoke of login tokens, part {number}."}])
            chat.end(f"Summary {number} of the login work.")
            self.clock.advance(hours=1)
        return self

    def shown(self, **where: Any):
        return self.ctx.session("now", **where).prepare(ASKED).context


@pytest.fixture
def scene(tmp_path):
    made: list[Scene] = []

    def make(text: str = "") -> Scene:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Scene(folder, text))
        return made[-1]

    yield make
    for one in made:
        one.ctx.close()


def refs(context: Any, shown: tuple[str, ...] = ("full", "brief")) -> list[str]:
    return [used.ref for used in context.used if used.shown in shown]


def test_enabled_switches_it_all_off_but_tools_still_answer(scene):
    off = scene("enabled = false").filled()
    assert off.shown().text == ""
    assert off.ctx.search("login tokens")
    assert scene().filled().shown().text


def test_max_tokens_and_total_are_the_budget(scene):
    for text in ("max_tokens = 300", "[budget]\ntotal = 300"):
        context = scene(text).filled().shown()
        assert context.tokens <= context.limit == 300


def test_max_context_tokens_is_the_opening_block_alone(scene):
    context = scene("max_context_tokens = 200").filled().shown()
    assert context.limit == 1400
    stable, part = (sum(spent for spent, _ in build.lanes.values()) for build in context.builds)
    assert 0 < stable <= 200
    assert part <= 1200


def test_lanes_move_tokens_from_one_to_another(scene):
    none = scene("[budget]\nuniversal = 0\nreserve = 0").filled().shown()
    assert none.lanes["universal"] == (0, 0)


def test_min_relevance_and_the_query_floor_gate_what_a_message_brings(scene):
    for text in ("min_relevance = 1.0", "[floors]\nquery = 1.0"):
        assert scene(text).filled().settings.options()["floors"].query == 1.0
    bringing, gated = (
        scene("max_context_tokens = 0"),
        scene("max_context_tokens = 0\nmin_relevance = 1.0"),
    )
    assert bringing.filled().shown().part
    assert not gated.filled().shown().part


def test_other_floors_keep_things_out(scene):
    context = scene("[floors]\nstable = 1.0\nindex = 1.0").filled().shown()
    assert not [
        used
        for used in context.used
        if used.block == "stable" and used.kind == "decision" and used.shown != "none"
    ]


def test_weights_change_scores(scene):
    text = "[weights]\nscope = 1.0\nseen = 0.0\nrecency = 0.0\ntask = 0.0"
    scores = {used.score for used in scene(text).filled().shown().used if used.include == "always"}
    assert scores == {1.0}


def test_include_decisions_keeps_them_out_of_prompts(scene):
    off = scene("include_decisions = false").filled().shown()
    assert "Login rule" not in off.text
    assert "Login rule" in scene().filled().shown().text


def test_include_session_history_keeps_it_out_of_prompts(scene):
    off = scene("include_session_history = false").filled().shown()
    assert "Summary" not in off.text
    assert "We spoke of" not in off.text
    assert "Login rule" in off.text
    on = scene().filled().shown()
    assert "Summary" in on.text


@pytest.mark.parametrize("most", [0, 2, 5])
def test_recent_sessions_is_how_many_summaries(scene, most):
    context = scene(f"recent_sessions = {most}\nmax_tokens = 20000").filled().shown()
    summaries = [u for u in context.used if u.kind == "summary" and u.shown in ("full", "brief")]
    assert len([used for used in summaries if used.block == "stable"]) == most


def test_max_index_entries_is_how_many_lines(scene):
    def lines(text: str) -> int:
        made = scene(f"{text}\nmax_tokens = 4000\nrecent_sessions = 0")
        memory_tools(made.ctx.session("tools"))  # only who can fetch is told of ids
        for at in range(9):
            made.ctx.session(f"s{at}").end(f"Summary {at}. " + "The login work went on. " * 20)
        return len([u for u in made.shown().used if u.shown == "index" and u.block == "stable"])

    assert lines("") > 3
    assert lines("max_index_entries = 3") == 3
    assert lines("max_index_entries = 0") == 0


def test_appetite_is_how_eager_a_part_is(scene):
    def why(text: str) -> set[str]:
        made = scene(text)
        others = [f"Parcel {at} was weighed again." for at in range(80)]
        texts = ["The red parcel went to Ulm.", *others]
        said = [{"role": "user", "content": text} for text in texts]
        made.ctx.session("before").capture(said)
        asked = [{"role": "user", "content": "Where did the red parcel go?"}]
        return {one.reason for one in made.ctx.session("now").prepare(asked).context.used}

    assert "not worth its tokens" in why('appetite = "lean"')
    assert "not worth its tokens" not in why('appetite = "full"')


def test_placement_moves_the_blocks(scene):
    messages = [{"role": "system", "content": "You help."}, *ASKED]
    chat = scene('placement = "all_system"').filled().ctx.session("now")
    assert chat.prepare(messages).messages[-1] == ASKED[0]
    end = scene('placement = "system_end"').filled().ctx.session("now").prepare(messages)
    assert end.messages[0]["content"].startswith("You help.")


@pytest.mark.parametrize(
    ("name", "sign"),
    [("markdown", "\n## Instructions"), ("xml", "<section"), ("compact", "\n# Instructions")],
)
def test_renderer_writes_differently(scene, name, sign):
    assert sign in scene(f'renderer = "{name}"').filled().shown().text


def test_model_and_window_are_told(scene):
    made = scene('model = "claude-sonnet-4-5"\nwindow = 1000').filled()
    assert not made.shown().exact
    assert made.shown().limit == 250, "a quarter of the window"


def test_user_project_and_language_are_whose_and_where(tmp_path):
    settings = load(tmp_path, 'user = "ada"\nproject = "shop"\nlanguage = "python"')
    with settings.open() as ctx:
        assert ctx.user == "ada"
    assert (settings.project, settings.language) == ("shop", "python")


def test_embedder_and_index_find_by_meaning(scene):
    pytest.importorskip("wordllama")
    made = scene('embedder = "wordllama"\nindex = "numpy"').filled()
    assert made.ctx.reindex() > 0
    with pytest.raises(InvalidValue, match="no embedder"):
        scene().ctx.reindex()


class NeverAnswers(HashEmbedder):
    def embed_query(self, text: str, /) -> Any:
        time.sleep(0.2)
        return super().embed_query(text)


@pytest.mark.parametrize(("text", "late"), [("deadline = 20", True), ("deadline = 0", False)])
def test_deadline_bounds_how_long_a_search_is_waited_for(tmp_path, text, late):
    with load(tmp_path, f'store = ":memory:"\n{text}').open(embedder=NeverAnswers()) as ctx:
        ctx.session("before").capture([{"role": "user", "content": "Login tokens expire."}])
        degraded = ctx.session("now").prepare(ASKED).context.degraded
    assert ("deadline" in degraded) is late


def test_an_embedder_of_ones_own_is_imported(tmp_path, monkeypatch):
    (tmp_path / "somewhere.py").write_text("from ctxmw.testing import HashEmbedder as made")
    monkeypatch.syspath_prepend(tmp_path)
    with load(tmp_path, 'store = ":memory:"\nembedder = "somewhere:made"').open() as ctx:
        assert ctx.reindex() == 0


def test_index_folders_says_whether_code_is_indexed_by_itself(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    for text, looked in (("", 1), ("index_folders = false", 0)):
        with load(tmp_path, f'store = ":memory:"\n{text}').open() as ctx:
            ctx.session(cwd=tmp_path)
            assert len(ctx._composition.folders._looks) == looked


def test_strict_raises_what_adapters_forgive(scene):
    for text, strict in (("strict = true", True), ("strict = false", False)):
        made = scene(text)
        made.ctx.store.close()
        chat = made.ctx.session("now").forgiving()
        if strict:
            with pytest.raises(Exception, match="closed"):
                chat.prepare(ASKED)
        else:
            assert chat.prepare(ASKED).context.degraded


def test_on_demand_bounds_what_the_agent_fetches(scene):
    made = scene("[on_demand]\nsearch = 60\nqueries = 0").filled()
    answers = made.ctx.session("now").on_demand
    assert counter_for()(answers.search("login tokens")) <= 60
    assert "used up" in answers.context("login", None, None)


def test_agent_search_bounds_what_a_request_brings(scene):
    rules = "\n".join(
        f'[[catalog]]\nkind = "rule"\nname = "Login {n}"\ninclude = "agent"\n'
        f'content = "How the AuthService checks a login token, {n}."'
        for n in range(6)
    )

    def brought(text: str) -> int:
        context = scene(f"{text}\n{rules}").shown()
        return len([used for used in context.used if used.kind == "rule" and used.shown != "none"])

    assert brought("") == 5
    assert brought("[agent_search]\ntop_n = 2") == 2
    assert brought("[agent_search]\ntop_k = 1") == 1
    assert brought("[agent_search]\nmin_score = 1.0") == 0


def test_catalog_and_servers_are_on_offer_where_the_settings_hold(scene):
    text = """
    [servers.files]
    include = "manual"
    [[catalog]]
    kind = "rule"
    name = "Errors"
    content = "Raise early."
    [[catalog]]
    kind = "tool"
    name = "read_file"
    server = "files"
    [[catalog]]
    kind = "rule"
    name = "Off"
    content = "Never shown."
    enabled = false
    """
    made = scene(text).filled()
    assert "Raise early." in made.shown().text
    assert "Never shown." not in made.shown().text
    chat = made.ctx.session("now")
    assert chat.rules == ["Errors"]
    assert chat.tools == []
    chat.add("files:read_file")
    assert chat.tools == ["files:read_file"]
    with pytest.raises(InvalidValue, match="stands in the settings"):
        made.ctx.catalog.remove("Errors")
    with ContextMiddleware.open(made.settings.store) as plain:
        assert plain.catalog.items() == []


CODE = '''
class AuthService:
    """Checks tokens at the door."""

    def verify(self, token):
        """Return whether it is good."""
        return self.other(token)

    def other(self, token):
        return token
'''
SEEN = "Checks tokens at the door."


def bringing(made: Scene, said: str, activity: dict[str, Any] | None = None) -> str:
    """Return what a message brings in a project whose code is known."""
    folder = Path(str(made.settings.store)).parent
    (folder / "auth.py").write_text(CODE)
    made.ctx.index_code(folder, project="shop")
    if activity:
        made.ctx.notice(activity, project="shop")
    chat = made.ctx.session("now", project="shop")
    return chat.prepare([{"role": "user", "content": said}]).context.part


TRIGGERED: list[tuple[str, str, dict[str, Any] | None]] = [
    ("file_open", "What is this about?", {"type": "file_open", "path": "auth.py"}),
    ("file_edit", "What is this about?", {"type": "file_edit", "path": "auth.py"}),
    (
        "symbol_hover",
        "What is this about?",
        {"type": "symbol_hover", "path": "auth.py", "symbols": ["AuthService"]},
    ),
    ("session_start", "What is this about?", {"type": "session_start", "path": "auth.py"}),
    ("symbol_mention", "Explain AuthService please.", None),
    ("file_mention", "Look at auth.py please.", None),
    (
        "stack_trace",
        'Traceback (most recent call last):\n  File "auth.py", line 2, in verify\nKeyError: 1',
        None,
    ),
]


@pytest.mark.parametrize(("key", "said", "activity"), TRIGGERED, ids=lambda value: str(value)[:14])
def test_each_trigger_can_be_switched_off(scene, key, said, activity):
    others = [name for name, *_ in TRIGGERED] + ["implicit_queries"]
    alone = "\n".join(f"{name} = {str(name == key).lower()}" for name in others)
    none = "\n".join(f"{name} = false" for name in others)
    assert SEEN in bringing(scene(f"[triggers]\n{alone}"), said, activity)
    assert SEEN not in bringing(scene(f"[triggers]\n{none}"), said, activity)


def test_the_lifetimes_of_triggers_end_them(scene):
    activity = {"type": "file_edit", "path": "auth.py"}

    def later(text: str, act: Callable[[Scene, Any], None]) -> str:
        made = scene(text)
        bringing(made, "Explain AuthService please.")
        chat = made.ctx.session("other", project="shop")
        made.ctx.notice(activity, project="shop")
        act(made, chat)
        return chat.peek([{"role": "user", "content": "What is this about?"}]).context.part

    def wait(made: Scene, _: Any) -> None:
        made.clock.advance(minutes=10)

    assert SEEN in later("[triggers]\nminutes = 15", wait)
    assert SEEN not in later("[triggers]\nminutes = 5", wait)

    def speak(_: Scene, chat: Any) -> None:
        for said in ("Go on then, with the next file.", "And now the invoices of May."):
            chat.finish(chat.prepare([{"role": "user", "content": said}]), "Done.")
        chat.refresh()

    assert SEEN in later("[triggers]\nturns = 3", speak)
    assert SEEN not in later("[triggers]\nturns = 1", speak)
    assert SEEN not in later("[triggers]\nturns = 3\ndecay = 0.0", speak)


def test_max_sections_and_the_tokens_of_code_bound_it(scene):
    said = "Explain AuthService and verify() and other() please."
    whole = bringing(scene(), said)
    assert bringing(scene("max_sections = 0"), said) == ""
    assert bringing(scene("[triggers]\nhits = 0"), said) == ""
    for text in ("max_sections = 1", "[triggers]\ntokens = 20", "[triggers]\nrelated = 0"):
        assert 0 < len(bringing(scene(text), said)) < len(whole), text


def long_talk() -> list[dict[str, str]]:
    said = [f"Part {n} of the long story of the warehouse, told at length." * 4 for n in range(40)]
    roles = ("user", "assistant") * 20
    return [{"role": role, "content": text} for role, text in zip(roles, said, strict=True)]


def test_compaction_says_when_and_how_far(scene):
    talk = [*long_talk(), {"role": "user", "content": "And now?"}]

    def after(text: str) -> int:
        chat = scene(f"window = 2000\n[compaction]\n{text}").ctx.session("long")
        return len(chat.prepare(talk).messages)

    assert after("automatic = false") == len(talk)
    assert after("target = 0.2") < after("target = 0.6") < len(talk)
    roomy = scene("window = 3000\n[compaction]\ntrigger = 0.99").ctx.session("long")
    eager = scene("window = 3000\n[compaction]\ntrigger = 0.6").ctx.session("long")
    assert len(eager.prepare(talk).messages) < len(roomy.prepare(talk).messages)


def test_own_patterns_never_reach_the_disk(scene):
    made = scene('[redaction]\npatterns = ["ACME-[0-9]{4}"]')
    ctx = made.ctx
    ctx.remember("The number of the customer is ACME-4711.")
    chat = ctx.session("now")
    prepared = chat.prepare([{"role": "user", "content": "Who is ACME-4712 then?"}])
    chat.finish(prepared, "It is ACME-4713.")
    chat.collect("crm", "1", "Call ACME-4714 back.")
    ctx.catalog.add("rule", "Customers", "Greet ACME-4715.")
    chat.end("About ACME-4716.")
    assert "[REDACTED:own]" in ctx.search("number of the customer")[0].text
    assert ctx.search("4711") == []
    ctx.close()
    store = Path(str(made.settings.store))
    with sqlite3.connect(store) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.close()
    content = b"".join(path.read_bytes() for path in store.parent.glob("memory.db*")).lower()
    assert not [n for n in range(4711, 4717) if f"acme-{n}".encode() in content]
    assert not [n for n in range(4711, 4717) if str(n).encode() in content]


@pytest.mark.parametrize("pattern", ["(", "x*"])
def test_a_pattern_that_cannot_work_is_refused(tmp_path, pattern):
    settings = load(tmp_path, f"[redaction]\npatterns = ['{pattern}']")
    with pytest.raises(InvalidValue, match="pattern"):
        settings.open()


def test_retention_says_how_many_days_records_are_kept(scene):
    ctx = scene("[retention]\nturns = 30\nobservations = 0.5").ctx
    ctx.session("old").capture([{"role": "user", "content": "Hi.", "at": "2020-01-01T00:00:00Z"}])
    assert ctx.of_age() == {"turn": 1}
    assert ctx.apply_retention()[0].removed == {"turn": 1}
    assert scene("").ctx.of_age() == {}
    kept = Settings.load(environ={"CTXMW_RETENTION__NOTES": "7"}).retention
    assert kept.ages() == {"note": timedelta(days=7)}


def test_every_key_is_named_in_a_test_here():
    said = Path(__file__).read_text("utf-8")
    missing = [key for key in Settings.model_fields if key not in said]
    assert missing == []
    unnamed = [key.name for key in keys() if key.table == "[triggers]" and key.name not in said]
    assert unnamed == []
