"""Agent Skills: told by name and description, brought by mem_get, trusted no more than rules."""

from __future__ import annotations

import os

import pytest

from ctxmw import ContextMiddleware, InvalidValue, memory_tools

BODY = "1. Open the invoice.\n2. Check the VAT number with check.py."


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "shop"
    (root / "src").mkdir(parents=True)
    (root / "pyproject.toml").write_text('[project]\nname = "shop"\n')
    return root


@pytest.fixture
def ctx():
    with ContextMiddleware.open(":memory:", index_folders=False) as opened:
        yield opened


def skill(folder, name="check-invoices", about="Checks invoices of suppliers.", more=""):
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(
        f"---\nname: {name}\ndescription: {about}\n{more}---\n{BODY}\n"
    )
    (folder / "scripts").mkdir()
    (folder / "scripts" / "check.py").write_text("print('checked')\n")
    return folder


def asked(chat, text="Please check the invoices of our suppliers."):
    return "\n".join(
        str(one["content"]) for one in chat.prepare([{"role": "user", "content": text}]).messages
    )


@pytest.mark.parametrize("place", [".claude/skills", ".github/skills", "skills"])
def test_a_folder_has_its_skills(ctx, project, place):
    skill(project / place / "check-invoices")
    chat = ctx.session("a", cwd=project / "src")
    sent = asked(chat)
    assert "skill check-invoices" in sent
    assert "Checks invoices of suppliers." in sent
    assert "VAT number" not in sent
    assert "check-invoices" not in asked(ctx.session("b", cwd=project), "Hello there.")
    assert "check-invoices" not in asked(ctx.session("c"))


def test_mem_get_brings_the_body_and_lists_its_files(ctx, project):
    skill(project / "skills" / "check-invoices")
    chat = ctx.session("a", cwd=project)
    tools = {tool.name: tool for tool in memory_tools(chat)}
    sent = asked(chat)
    ref = sent.partition("mem_get ")[2].partition(":")[0]
    answer = tools["mem_get"](ids=[ref])
    assert "Check the VAT number" in answer
    assert "skills/check-invoices/scripts/check.py" in answer


def test_the_application_adds_its_own(ctx, tmp_path):
    skill(tmp_path / "own" / "check-invoices")
    skill(tmp_path / "own" / "translate", name="translate", about="Translates letters to Greek.")
    assert ctx.catalog.add_skills(tmp_path / "own") == ["check-invoices", "translate"]
    assert "skill check-invoices" in asked(ctx.session("a"))
    assert "skill translate" in asked(ctx.session("b"), "Can you translate this letter?")


def test_two_of_one_name_in_a_folder_are_an_error_that_tells_where_they_are(ctx, tmp_path):
    skill(tmp_path / "own" / "one", name="translate", about="Translates letters to Greek.")
    skill(tmp_path / "own" / "two", name="translate", about="Translates letters to Latin.")
    with pytest.raises(InvalidValue, match=r"two skills 'translate', in one and in two"):
        ctx.catalog.add_skills(tmp_path / "own")
    assert not ctx.catalog.skills.added


def test_one_that_takes_the_place_of_another_folders_is_told(ctx, tmp_path, caplog):
    for folder, language in (("ours", "Greek"), ("theirs", "Latin")):
        about = f"Translates letters to {language}."
        skill(tmp_path / folder / "translate", name="translate", about=about)
        ctx.catalog.add_skills(tmp_path / folder)
        ctx.catalog.add_skills(tmp_path / folder)
    [warning] = [record.getMessage() for record in caplog.records]
    assert "'translate'" in warning
    assert warning.index("theirs") < warning.index("ours:")
    sent = asked(ctx.session("a"), "Can you translate this letter?")
    assert "Latin" in sent
    assert "Greek" not in sent


def test_the_applications_own_goes_before_one_that_was_found(ctx, project, tmp_path):
    skill(tmp_path / "own" / "check-invoices", about="Checks invoices of suppliers by the book.")
    skill(project / "skills" / "check-invoices", about="Checks invoices of suppliers loosely.")
    ctx.catalog.add_skills(tmp_path / "own")
    sent = asked(ctx.session("a", cwd=project))
    assert "by the book" in sent
    assert "loosely" not in sent


def test_its_head_says_how_it_comes_in(ctx, project):
    skill(project / "skills" / "a", name="style", about="House style.", more="include: always\n")
    skill(project / "skills" / "b", name="ship", about="Ships.", more="include: manual\n")
    off = "disable-model-invocation: true\n"
    skill(project / "skills" / "c", name="wipe", about="Wipes disks.", more=off)
    sent = asked(ctx.session("a", cwd=project), "Ship it and wipe the disks.")
    assert "House style." in sent
    assert "skill ship" not in sent
    assert "skill wipe" not in sent


def test_one_that_came_with_others_code_is_marked_as_theirs(ctx, project):
    there = project / "vendor" / "lib"
    skill(there / "skills" / "check-invoices")
    sent = asked(ctx.session("a", cwd=there))
    assert "skill check-invoices" in sent
    assert "untrusted" in sent


def test_a_found_skill_stands_before_the_question_and_not_in_the_system_prompt(ctx, project):
    skill(project / "skills" / "check-invoices")
    ctx.remember("I like tea.", kind="preference")
    said = [{"role": "user", "content": "Check the invoices of suppliers."}]
    system, question = ctx.session("a", cwd=project).prepare(said).messages
    assert "check-invoices" not in str(system)
    assert "check-invoices" in str(question)


def test_a_change_is_seen_with_the_next_turn(ctx, project):
    folder = skill(project / "skills" / "check-invoices")
    assert "skill check-invoices" in asked(ctx.session("a", cwd=project))
    (folder / "SKILL.md").write_text(
        "---\nname: new-name\ndescription: Checks invoices of all.\n---\n"
    )
    os.utime(folder / "SKILL.md", ns=(1, 1))
    assert "skill new-name" in asked(ctx.session("b", cwd=project))


@pytest.mark.parametrize(
    "text",
    [
        "no head at all",
        "---\nname: x\n---\nBody.",
        "---\nname: [1]\ndescription: y\n---\n",
        "---\nname: x\ndescription: y\ninclude: often\n---\n",
        "---\nname: &a x\ndescription: *a\n---\n",
        "\0binary",
    ],
)
def test_one_that_cannot_be_used_is_left_out_without_noise(ctx, project, text, caplog):
    caplog.set_level("INFO", "ctxmw")
    (project / "skills" / "bad").mkdir(parents=True)
    (project / "skills" / "bad" / "SKILL.md").write_text(text)
    skill(project / "skills" / "check-invoices")
    assert "skill check-invoices" in asked(ctx.session("a", cwd=project))
    assert "SKILL.md is left out" in caplog.text
    assert {record.levelname for record in caplog.records} == {"INFO"}


def test_links_lead_nowhere_else(ctx, project, tmp_path, caplog):
    caplog.set_level("INFO", "ctxmw")
    elsewhere = skill(tmp_path / "elsewhere", about="Checks invoices elsewhere.")
    (project / "skills").mkdir()
    (project / "skills" / "linked").symlink_to(elsewhere)
    assert "elsewhere" not in asked(ctx.session("a", cwd=project))
    assert "leads out of its folder" in caplog.text


def test_a_folder_without_skills_is_refused(ctx, tmp_path):
    with pytest.raises(InvalidValue, match=r"SKILL\.md"):
        ctx.catalog.add_skills(tmp_path)


@pytest.mark.parametrize("folder", ["nofolder", 5, None])
def test_a_folder_that_is_none_is_refused_by_its_name(ctx, folder):
    with pytest.raises(InvalidValue, match=f"there is no folder '{folder}'"):
        ctx.catalog.add_skills(folder)


def test_a_model_without_tools_is_not_told_to_use_them(ctx, project):
    skill(project / "skills" / "check-invoices")
    said = [{"role": "user", "content": "Check the invoices of suppliers."}]
    told = str(ctx.session("a", cwd=project).prepare(said, tools=[]).messages)
    assert "skill check-invoices" in told
    assert "mem_get" not in told
