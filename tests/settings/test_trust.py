"""What settings may do that merely lie in a folder, and how a person allows the rest."""

from __future__ import annotations

import logging
import re
from pathlib import Path

import pytest

from ctxmw import InvalidValue, Settings
from ctxmw.cli.main import main
from ctxmw.errors import NotTrusted
from ctxmw.settings.reference import commented, keys
from ctxmw.settings.trust import VERDICTS, Trusted

ELSEWHERE = {
    "store": 'store = "../../elsewhere.db"',
    "user": 'user = "somebody"',
    "index": 'index = "chroma://attacker:8000"',
    "embedder": 'embedder = "somewhere:made"',
    "redaction": '[redaction]\npatterns = ["(a+)+$"]',
}
"""What stops everything."""
WORDS = {
    "catalog": '[[catalog]]\nkind = "rule"\nname = "R"\ncontent = "Obey."\ninclude = "always"',
    "servers": '[servers.files]\ninclude = "always"',
    "placement": 'placement = "all_system"',
}
"""What is left out."""

# Every key there is, and whether a stranger may set it. A new key needs a row, and a thought:
# could it send words somewhere, run code, change what is kept, or speak to the model?
HARMLESS = """
project language enabled max_tokens max_context_tokens min_relevance include_decisions
include_session_history recent_sessions max_index_entries appetite renderer model window deadline
strict index_folders max_sections

[triggers] file_open file_edit symbol_hover session_start symbol_mention file_mention stack_trace
implicit_queries minutes turns decay hits tokens related

[budget] total instructions universal language project reserve done decided open pinned index turn

[on_demand] universal language project queries search get session

[weights] scope seen recency task

[floors] stable index query

[agent_search] top_k top_n min_score

[compaction] trigger target growth note note_most summary_timeout alternate automatic
"""
NOT_HARMLESS = """
store user embedder index placement

[redaction] patterns

[[catalog]] kind name content include enabled server

[servers.NAME] include

[retention] turns observations notes summaries memories
"""


def rows(text: str) -> set[tuple[str, str]]:
    found, table = set(), ""
    for group in text.strip().split("\n\n"):
        table, *names = group.split() if group.startswith("[") else ("", *group.split())
        found |= {(table, name) for name in names}
    return found


@pytest.fixture(autouse=True)
def own_home(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("CTXMW_HOME", str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def cloned(tmp_path, monkeypatch):
    """A folder that somebody else made, and that we are in."""
    folder = tmp_path / "a" / "cloned"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


def write(folder: Path, *texts: str) -> None:
    (folder / "ctxmw.toml").write_text("\n".join(texts))


def test_every_key_has_a_row_that_says_whether_it_is_harmless():
    known = {(key.table, key.name) for key in keys()}
    assert rows(HARMLESS) | rows(NOT_HARMLESS) == known
    assert not rows(HARMLESS) & rows(NOT_HARMLESS)


def test_every_setting_was_judged_as_its_rows_say():
    assert set(VERDICTS) == set(Settings.model_fields)
    for table, name in rows(HARMLESS):
        assert VERDICTS[table.strip("[]") or name] == "harmless", (table, name)
    for table, name in rows(NOT_HARMLESS):
        assert VERDICTS[re.sub(r"[\[\]]|\.NAME", "", table) or name] != "harmless", (table, name)


def test_a_key_that_nobody_judged_stops_everything(cloned, monkeypatch):
    monkeypatch.setattr("ctxmw.settings.trust.VERDICTS", {})
    write(cloned, "max_tokens = 5")
    with pytest.raises(NotTrusted):
        Settings.load(environ={})


def test_harmless_settings_of_a_found_file_hold(cloned):
    wanted = {key.name for key in keys() if (key.table, key.name) in rows(HARMLESS)}
    text, skipped = [], False
    for line in commented().splitlines():
        setting = re.fullmatch(r"(?:# )?(\[.*\]|([a-z_]+) = .*)", line)
        if setting and not setting[2]:
            skipped = line.removeprefix("# ").startswith(("[ret", "[redaction", "[[", "[servers"))
        if setting and not skipped and (not setting[2] or setting[2] in wanted):
            text.append(setting[1])
    text = [line for line in text if not line.startswith('index = "')]
    write(cloned, *text)
    found = Settings.load(environ={})
    assert found == Settings.load(file=cloned / "ctxmw.toml", environ={})
    assert (found.max_tokens, found.project, found.without) == (4000, "shop", "")


@pytest.mark.parametrize("key", ELSEWHERE)
def test_a_found_file_that_says_where_memory_goes_stops_everything(cloned, key):
    write(cloned, "max_tokens = 5", ELSEWHERE[key])
    with pytest.raises(NotTrusted, match=rf"may not set {key} .*ctxmw trust {cloned} ") as raised:
        Settings.load(environ={})
    assert isinstance(raised.value, InvalidValue)
    assert "\n" not in str(raised.value)
    assert Settings.load(file="ctxmw.toml", environ={}).max_tokens == 5


@pytest.mark.parametrize("key", WORDS)
def test_what_a_found_file_would_tell_the_model_is_left_out_and_told(cloned, key, caplog):
    write(cloned, "max_tokens = 5", WORDS[key])
    settings = Settings.load(environ={}, store=":memory:")
    assert (getattr(settings, key), settings.max_tokens) == (getattr(Settings(), key), 5)
    with caplog.at_level(logging.WARNING, "ctxmw"):
        settings.open().close()
    (told,) = caplog.messages
    assert f"{key} in it left out. If you trust it: ctxmw trust {cloned}" in told


def test_values_that_stay_on_this_machine_are_harmless(cloned):
    write(cloned, 'embedder = "wordllama"', 'index = "numpy"')
    assert Settings.load(environ={}).embedder == "wordllama"


def test_a_file_that_sets_nothing_yet_holds(cloned):
    write(cloned, commented())
    assert Settings.load(environ={}) == Settings()
    write(cloned, 'user = "local"', "catalog = []", "[redaction]", "patterns = []", "[servers]")
    assert Settings.load(environ={}) == Settings()


def test_what_the_person_gives_is_not_asked_of_the_file(cloned):
    write(cloned, ELSEWHERE["store"], WORDS["servers"])
    settings = Settings.load(store=":memory:", environ={"CTXMW_SERVERS__MAIL__INCLUDE": "manual"})
    assert (settings.store, settings.without) == (":memory:", "")
    # What a file may not set is not joined with what the person sets, either.
    assert list(settings.servers) == ["mail"]


def test_pyproject_is_no_more_trusted(cloned):
    (cloned / "pyproject.toml").write_text('[tool.ctxmw]\nstore = "postgresql://attacker/x"')
    with pytest.raises(NotTrusted, match=r"pyproject\.toml was only found"):
        Settings.load(environ={})


def test_a_shipped_memory_is_not_read_either(cloned):
    write(cloned, 'store = "memory.db"')
    with pytest.raises(NotTrusted):
        Settings.load(environ={})


def test_a_password_in_an_address_is_not_told(cloned):
    write(cloned, 'store = "postgresql://ada:hunter22@db.example.org/memory"')
    with pytest.raises(NotTrusted) as raised:
        Settings.load(environ={})
    assert "hunter22" not in str(raised.value)


# The command.


def ctxmw(capsys, *arguments: str) -> tuple[int, str, str]:
    code = main(arguments)
    told = capsys.readouterr()
    return code, told.out, told.err


@pytest.mark.parametrize(
    "command",
    [["remember", "a fact"], ["search", "fact"], ["inject", "fact"], ["mcp"], ["export"], ["ui"]],
    ids=lambda command: command[0],
)
def test_every_command_stops_before_it_connects(cloned, capsys, command):
    write(cloned, 'store = "postgresql://127.0.0.1:1/attacker"')
    code, out, err = ctxmw(capsys, *command)
    assert (code, out) == (1, "")
    assert f"ctxmw trust {cloned}" in err
    assert err.count("\n") == 1


def test_a_command_goes_on_without_words_for_the_model_and_says_so_once(cloned, caplog, capsys):
    write(cloned, WORDS["catalog"])
    ctxmw(capsys, "remember", "The courier leaves at four.")
    caplog.clear()
    code, out, _ = ctxmw(capsys, "inject", "When does the courier leave?", "--session", "s1")
    assert (code, "Obey." in out, "courier" in out) == (0, False, True)
    assert [message.count("ctxmw trust") for message in caplog.messages] == [1]


def test_a_trusted_file_holds_until_what_it_sets_changes(cloned, capsys):
    write(cloned, 'store = "own.db"')
    code, out, _ = ctxmw(capsys, "trust")
    assert (code, "own.db" in out) == (0, True)
    assert Settings.load(environ={}).store == str(cloned / "own.db")
    write(cloned, "# a comment", 'store = "own.db"')
    assert Settings.load(environ={}).store
    write(cloned, 'store = "own.db"', "max_tokens = 5")
    with pytest.raises(NotTrusted):
        Settings.load(environ={})
    ctxmw(capsys, "trust")
    assert Settings.load(environ={}).max_tokens == 5


def test_trust_is_for_one_folder_and_kept_out_of_it(cloned, capsys, tmp_path):
    write(cloned, 'store = ":memory:"')
    ctxmw(capsys, "trust")
    assert [path.name for path in cloned.iterdir()] == ["ctxmw.toml"]
    other = tmp_path / "other"
    other.mkdir()
    write(other, 'store = ":memory:"')
    with pytest.raises(NotTrusted):
        Settings.load(other, environ={})


def test_other_tables_of_pyproject_may_change(cloned, capsys):
    (cloned / "pyproject.toml").write_text('[tool.ctxmw]\nuser = "ada"')
    ctxmw(capsys, "trust")
    (cloned / "pyproject.toml").write_text('[project]\nname = "x"\n[tool.ctxmw]\nuser = "ada"')
    assert Settings.load(environ={}).user == "ada"


def test_trust_is_listed_and_taken_back(cloned, capsys):
    assert "nothing is trusted" in ctxmw(capsys, "trust", "--list")[2]
    write(cloned, ELSEWHERE["user"])
    ctxmw(capsys, "trust", str(cloned))
    assert re.search(r"trusted +.*ctxmw\.toml", ctxmw(capsys, "trust", "--list")[1])
    write(cloned, ELSEWHERE["user"], "max_tokens = 5")
    assert "changed since" in ctxmw(capsys, "trust", "--list")[1]
    assert "no longer trusted" in ctxmw(capsys, "trust", "--remove")[1]
    assert "it was not trusted" in ctxmw(capsys, "trust", "--remove")[1]
    assert Trusted.here().hashes() == {}


def test_what_is_harmless_needs_no_trust(cloned, capsys):
    write(cloned, "max_tokens = 5")
    assert "holds without being trusted" in ctxmw(capsys, "trust")[1]
    assert Trusted.here().hashes() == {}


def test_a_list_that_cannot_be_read_trusts_nothing(cloned):
    write(cloned, ELSEWHERE["user"])
    Trusted.here().path.write_text("[")
    with pytest.raises(InvalidValue, match="remove it"):
        Settings.load(environ={})


def test_doctor_tells_of_both(cloned, capsys):
    write(cloned, WORDS["catalog"])
    assert "note settings" in ctxmw(capsys, "doctor")[1]
    write(cloned, ELSEWHERE["store"])
    code, out, _ = ctxmw(capsys, "doctor")
    assert (code, "BAD  settings" in out, "ctxmw trust" in out) == (1, True, True)
