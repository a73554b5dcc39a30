"""What a folder tells an agent: AGENTS.md, README.md, and rules for some files."""

from __future__ import annotations

import os

import pytest

from ctxmw import ContextMiddleware
from ctxmw.recall.sources.directory import applies_to, read_guides
from ctxmw.workspace.frontmatter import BadFrontmatter


@pytest.fixture
def shop(tmp_path):
    root = tmp_path / "shop"
    root.mkdir()
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\n', encoding="utf-8")
    return root


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:") as ctx:
        yield ctx


def write(root, path, text):
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")
    return file


def prepared(ctx, cwd, text="What is next?", session=None, **options):
    chat = ctx.session(session, cwd=cwd, **options)
    return chat.prepare([{"role": "user", "content": text}]).context


def test_agents_files_from_the_folder_up_to_the_root_open_the_prompt_nearest_first(ctx, shop):
    write(shop.parent, "AGENTS.md", "Outside the project.")
    write(shop, "AGENTS.md", "Root rule.")
    write(shop, "web/app/CLAUDE.md", "Near rule.")
    write(shop, "web/AGENTS.md", "Middle rule.")
    stable = prepared(ctx, shop / "web" / "app").stable
    order = [stable.index(text) for text in ("Near rule.", "Middle rule.", "Root rule.")]
    assert order == sorted(order)
    assert "Outside" not in stable
    assert "web/app/CLAUDE.md: Near rule." in stable


def test_without_a_folder_nothing_is_read(ctx, shop, monkeypatch):
    write(shop, "AGENTS.md", "Root rule.")
    monkeypatch.chdir(shop)
    assert (
        "Root rule." not in ctx.session().prepare([{"role": "user", "content": "Hi"}]).context.text
    )


def test_the_same_text_in_two_files_is_shown_once(ctx, shop):
    write(shop, "AGENTS.md", "Be brief.")
    (shop / "CLAUDE.md").symlink_to("AGENTS.md")
    assert prepared(ctx, shop).stable.count("Be brief.") == 1


def test_a_change_is_seen_at_the_next_epoch(ctx, shop):
    file = write(shop, "AGENTS.md", "Old rule.")
    assert "Old rule." in prepared(ctx, shop, session="s").stable
    file.write_text("New rule.", encoding="utf-8")
    assert "Old rule." in prepared(ctx, shop, "And then?", session="s").stable
    ctx.session("s", cwd=shop).refresh()
    assert "New rule." in prepared(ctx, shop, "And now?", session="s").stable


def test_a_long_file_shows_how_it_begins_and_can_be_fetched_in_full(ctx, shop):
    write(shop, "AGENTS.md", "Be brief.\n\n" + "More words here. " * 2000 + "The end.")
    chat = ctx.session("s", cwd=shop)
    context = chat.prepare([{"role": "user", "content": "Hi there"}]).context
    used = next(one for one in context.used if one.kind == "rule")
    assert used.shown == "brief"
    assert "Be brief." in context.stable
    assert context.tokens <= 4000
    assert "Be brief." in chat.on_demand.get([used.ref])


@pytest.mark.parametrize(
    ("path", "head"),
    [
        (".github/instructions/py.instructions.md", "applyTo: '**/*.py,**/*.pyi'"),
        (".cursor/rules/py.mdc", "description: x\nglobs: *.py\nalwaysApply: false"),
        (".claude/rules/deep/py.md", "paths:\n  - src/**/*.py\n  - lib/*.{py,pyi}"),
        (".ctxmw/rules/py.md", "globs: ['*.py']"),
    ],
)
def test_a_rule_comes_when_a_file_it_is_about_is_in_play(ctx, shop, path, head):
    write(shop, path, f"---\n{head}\n---\nType every function.")
    assert "Type every" not in prepared(ctx, shop).text
    assert "Type every" not in prepared(ctx, shop, "Look at src/app.ts").text
    named = prepared(ctx, shop, "Look at src/app.py")
    assert "Type every" in named.part
    assert "Type every" not in named.stable
    assert "Type every" in prepared(ctx, shop, files=["src/app.py"]).part


def test_a_file_named_without_its_folder_is_in_play_where_it_is_the_only_one(ctx, shop):
    write(shop, ".cursor/rules/py.mdc", "---\nglobs: src/**/*.py\n---\nUse types.")
    for path in ("src/auth.py", "src/a/same.py", "lib/same.py"):
        write(shop, path, "def login():\n    return 1\n")
    ctx.index_code(shop)
    assert "Use types." in prepared(ctx, shop, "Fix the bug in auth.py, please").part
    assert "Use types." in prepared(ctx, shop, "Fix /app/src/auth.py:2, please").part
    assert "Use types." not in prepared(ctx, shop, "Fix the bug in same.py, please").part


def test_activity_puts_files_in_play(ctx, shop):
    write(shop, ".cursor/rules/py.mdc", "---\nglobs: src/*.py\n---\nType every function.")
    ctx.notice({"type": "file_open", "path": str(shop / "src" / "app.py")}, project="shop")
    assert "Type every" in prepared(ctx, shop, "What should I do next with the parser?").part


def test_a_rule_is_shown_once_while_it_is_in_view(ctx, shop):
    write(shop, ".cursor/rules/py.mdc", "---\nglobs: *.py\n---\nType every function.")
    chat = ctx.session("s", cwd=shop)
    history = [{"role": "user", "content": "Look at a.py"}]
    chat.finish(chat.prepare(history), "Done.")
    history += [{"role": "assistant", "content": "Done."}, {"role": "user", "content": "Now b.py"}]
    again = chat.prepare(history)
    assert again.context.part == ""
    assert sum("Type every" in str(message) for message in again.messages) == 1


@pytest.mark.parametrize("head", ["alwaysApply: true", "applyTo: '**'", "globs: *\n", ""])
def test_a_rule_that_always_holds_is_pinned(ctx, shop, head):
    write(shop, ".cursor/rules/a.md", f"---\n{head}\n---\nBe kind.")
    assert "Be kind." in prepared(ctx, shop).stable


def test_rules_of_a_folder_further_down_are_about_its_files(ctx, shop):
    write(shop, "web/.cursor/rules/a.md", "---\nglobs: *.ts\n---\nUse strict types.")
    assert "strict" in prepared(ctx, shop / "web", "Look at web/app.ts").part
    assert "strict" not in prepared(ctx, shop / "web", "Look at api/app.ts").part


def test_a_readme_comes_when_a_question_is_about_it_and_never_into_the_system_prompt(ctx, shop):
    write(shop, "README.md", "# Shop\n\nDeploy with the frobnicate command.\n\nOther things.")
    context = prepared(ctx, shop, "How do I deploy with frobnicate?")
    assert "frobnicate command" in context.part
    assert "untrusted, from README.md" in context.part
    assert "Other things" not in context.part
    assert "frobnicate" not in context.stable
    assert prepared(ctx, shop, "How is the weather in Rome?").part == ""


def test_of_several_readmes_the_one_that_answers_comes(ctx, shop):
    write(shop, "README.md", "Deploy with the frobnicate command.")
    write(shop, "web/README.md", "Paint the buttons.")
    assert "frobnicate" in prepared(ctx, shop / "web", "How do I deploy with frobnicate?").part
    assert "Paint" in prepared(ctx, shop / "web", "How do we paint buttons?").part


def test_a_start_of_work_brings_how_the_readme_begins(ctx, shop):
    write(shop, "README.md", "# Shop\n\nSells things.")
    ctx.notice({"type": "session_start"}, project="shop")
    assert "Sells things." in prepared(ctx, shop, "Where should I begin with the parser?").part


def test_secrets_in_these_files_are_not_shown(ctx, shop):
    write(shop, "AGENTS.md", "Use sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD for tests.")
    assert "abcdefghij" not in prepared(ctx, shop).stable


def test_hostile_files_are_left_out_by_name_and_nothing_hangs(ctx, shop, tmp_path, caplog):
    secret = write(tmp_path, "secret.md", "secret")
    (shop / "AGENTS.md").symlink_to(secret)
    os.mkfifo(shop / "CLAUDE.md")
    with (shop / "README.md").open("wb") as file:
        file.truncate(1024**3)
    rules = shop / ".cursor" / "rules"
    rules.mkdir(parents=True)
    (rules / "outside").symlink_to(tmp_path)
    (rules / "binary.md").write_bytes(b"a\0b")
    (rules / "latin.md").write_bytes("é".encode("latin-1"))
    bomb = "a: &a [x,x]\nb: &b [*a,*a]\nc: [*b,*b]"
    write(rules, "bomb.md", f"---\n{bomb}\n---\nBoom.")
    write(rules, "list.md", "---\n- x\n---\nNo table.")
    write(rules, "number.md", "---\nglobs: 7\n---\nNo globs.")
    write(rules, "maybe.md", "---\nalwaysApply: maybe\n---\nNo answer.")
    write(rules, "good.md", "---\nalwaysApply: true\n---\nBe kind.")
    stable = prepared(ctx, shop).stable
    assert "Be kind." in stable
    assert not [text for text in ("secret", "Boom", "No ") if text in stable]
    for name in (
        "AGENTS",
        "CLAUDE",
        "README",
        "binary",
        "latin",
        "bomb",
        "list",
        "number",
        "maybe",
    ):
        assert f"{name}.md is left out" in caplog.text


def test_a_folder_of_rules_that_leads_out_is_not_walked(ctx, shop, tmp_path, caplog, monkeypatch):
    write(tmp_path, "elsewhere/rule.md", "Be rude.")
    (shop / ".cursor").mkdir()
    (shop / ".cursor" / "rules").symlink_to(tmp_path / "elsewhere")
    walked = []
    monkeypatch.setattr(os, "walk", lambda top, **_: walked.append(top) or iter(()))
    assert list(read_guides(shop, shop)) == []
    assert walked == []
    assert "rules is left out: it leads out of its folder" in caplog.text


def test_a_folder_outside_the_root_gives_nothing(shop, tmp_path):
    assert list(read_guides(tmp_path, shop)) == []


@pytest.mark.parametrize(
    ("head", "meaning"),
    [
        ({}, ((), True)),
        ({"alwaysApply": False}, ((), False)),
        ({"globs": "a, b"}, (("a", "b"), False)),
        ({"globs": "*.{ts,tsx},b"}, (("*.{ts,tsx}", "b"), False)),
        ({"paths": ["a"], "applyTo": "b"}, (("b", "a"), False)),
        ({"globs": "a", "alwaysApply": True}, (("a",), True)),
        ({"applyTo": "**/*"}, (("**/*",), True)),
    ],
)
def test_a_head_says_when_a_rule_holds(head, meaning):
    assert applies_to(head) == meaning


@pytest.mark.parametrize("head", [{"globs": 3}, {"paths": [1]}, {"alwaysApply": "no"}])
def test_a_head_that_says_nothing_clear_is_refused(head):
    with pytest.raises(BadFrontmatter):
        applies_to(head)
