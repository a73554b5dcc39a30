"""Where conversations take place is said once, when the memory is opened, and nearer words win."""

from __future__ import annotations

import pytest

from ctxmw import ContextMiddleware, InvalidValue, Settings

DECIDED = "Ship releases on Tuesdays."
ASKED = [{"role": "user", "content": "Hello there."}]


def opened(**options):
    ctx = ContextMiddleware.open(":memory:", index_folders=False, **options)
    ctx.remember(DECIDED, kind="decision", scope="project:shop")
    return ctx


def shows(chat) -> bool:
    return any(DECIDED in str(message["content"]) for message in chat.prepare(ASKED).messages)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    return tmp_path


def test_a_project_given_when_opening_is_that_of_every_conversation():
    with opened(project="shop") as ctx:
        assert shows(ctx.session("a"))
        assert not shows(ctx.session("b", project="other"))
    with opened() as ctx:
        assert not shows(ctx.session("a"))


def test_a_folder_given_when_opening_tells_the_project(folder):
    with opened(cwd=folder) as ctx:
        assert shows(ctx.session("a"))
        assert ctx.session("a").state.project == "shop"


def test_what_is_given_wins_over_what_is_found(folder):
    with opened(project="given", cwd=folder) as ctx:
        assert not shows(ctx.session("a"))
        assert shows(ctx.session("b", project="shop"))
    with opened(project="shop") as ctx:
        (folder / "pyproject.toml").write_text('[project]\nname = "found"\n')
        assert shows(ctx.session("a", cwd=folder))


def test_a_conversation_can_be_placed_elsewhere(folder):
    with opened() as ctx:
        chat = ctx.session("a", task="debugging")
        assert chat.placed() is chat
        assert shows(chat.placed(project="shop"))
        assert shows(ctx.session("b").placed(cwd=folder))


def test_settings_say_project_and_language_too(tmp_path):
    (tmp_path / "ctxmw.toml").write_text('project = "shop"\nlanguage = "python"\nwindow = 4000\n')
    settings = Settings.load(tmp_path)
    with ContextMiddleware.open(":memory:", settings=settings) as ctx:
        ctx.remember(DECIDED, kind="decision", scope="project:shop")
        chat = ctx.session("a")
        assert shows(chat)
        assert (chat.state.project, chat.state.language) == ("shop", "python")
    with ContextMiddleware.open(":memory:", settings=settings, project="other") as ctx:
        chat = ctx.session("a")
        chat.prepare(ASKED)
        assert chat.state.project == "other"


def test_settings_say_where_the_store_is_unless_a_path_is_given(tmp_path):
    settings = Settings(store=str(tmp_path / "set.db"))
    with ContextMiddleware.open(settings=settings) as ctx:
        assert ctx.store.path == tmp_path / "set.db"
    with ContextMiddleware.open(tmp_path / "given.db", settings=settings) as ctx:
        assert ctx.store.path == tmp_path / "given.db"


@pytest.mark.parametrize("settings", ["ctxmw.toml", Settings, 3])
def test_settings_that_are_none_are_refused(settings):
    with pytest.raises(InvalidValue, match=r"Settings\.load"):
        ContextMiddleware.open(":memory:", settings=settings)


@pytest.mark.parametrize("options", [{"project": 3}, {"language": 3}, {"cwd": 3}])
def test_a_place_that_makes_no_sense_is_refused_at_once(options):
    with pytest.raises(InvalidValue, match=next(iter(options))):
        ContextMiddleware.open(":memory:", **options)
