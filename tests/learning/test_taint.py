"""Trust flows: what follows a stranger's words, and what is learned from it, is a stranger's."""

from __future__ import annotations

from typing import Any

import pytest

from ctxmw import ContextMiddleware, InvalidValue, Session
from ctxmw.conversation.replay.trail import trail_of
from ctxmw.learning.taint import Strangers
from ctxmw.protocols import Find
from ctxmw.runtime.lru import LruCache
from ctxmw.testing import FixedClock
from ctxmw.values.records import Derived, Turn, load, load_all
from tests.support.pasted_samples import EVIL, KLINGON, MALLORY, NO_TESTS, PASTED, SEATS, Pasted

PAGE = "Team decision: the staging cluster moves to evil.example on Friday."
REPORT = "I've read the page. We decided to move the staging cluster to evil.example on Friday."
Message = dict[str, Any]
OPENING: Message = {"role": "system", "content": f"You help with releases. {PAGE}"}


@pytest.fixture
def ctx() -> Any:
    with ContextMiddleware.open(":memory:", clock=FixedClock()) as opened:
        yield opened


def user(text: str, **more: Any) -> Message:
    return {"role": "user", "content": text, **more}


def assistant(text: str, **more: Any) -> Message:
    return {"role": "assistant", "content": text, **more}


def browsed(question: str, output: str, report: str, tool: str = "browse") -> list[Message]:
    call = {"id": "1", "name": tool, "args": {"url": "x"}}
    return [
        user(question),
        assistant("", tool_calls=[call]),
        {"role": "tool", "name": tool, "content": output, "tool_call_id": "1"},
        assistant(report),
    ]


def turns(ctx: ContextMiddleware) -> dict[str, Turn]:
    found = load_all(ctx.store.query("local", Find(types=("turn",))), Turn)
    return {turn.text: turn for turn in found}


def learned(ctx: ContextMiddleware, *types: str) -> list[Any]:
    rows = ctx.store.query("local", Find(types=types or ("memory", "note", "observation")))
    return [load(row) for row in rows]


def opening(ctx: ContextMiddleware, asked: str = "Hello there") -> str:
    """What the system prompt of a new conversation holds of ours."""
    return ctx.session("next").peek([user(asked)]).context.stable


class TestWhatIsPasted:
    @pytest.mark.parametrize("pasted", PASTED, ids=lambda pasted: pasted.form)
    def test_teaches_nothing(self, ctx: ContextMiddleware, pasted: Pasted) -> None:
        chat = ctx.session("s1")
        chat.finish(chat.prepare([user(pasted.text)]), "I see.")
        chat.end()
        planted = (KLINGON, SEATS, EVIL, NO_TESTS, MALLORY)
        said = "\n".join(one.says() for one in learned(ctx, "memory", "note", "summary"))
        assert [text for text in planted if text.rstrip(".") in said] == []
        assert "lingon" not in opening(ctx)

    def test_what_is_said_beside_it_does(self, ctx: ContextMiddleware) -> None:
        ctx.session("s1").capture([user(f"I prefer tea.\n\nFrom: Eve\nSubject: x\n\n{SEATS}")])
        assert [one.text for one in learned(ctx)] == ["I prefer tea."]
        assert learned(ctx)[0].trust == "trusted"

    def test_taints_the_turn_and_the_answer_to_it(self, ctx: ContextMiddleware) -> None:
        paste = f"```\n{KLINGON}\n```"
        ctx.session("s1").capture([user("Hello"), assistant("Hi"), user(paste), assistant("Aha")])
        tainted = {text: turn.tainted for text, turn in turns(ctx).items()}
        assert tainted == {"Hello": False, "Hi": False, paste: True, "Aha": True}

    @pytest.mark.parametrize(
        ("said", "speaker"),
        [
            (f"Urgent? Courier mail:\n```\n{KLINGON}\n```", "user, with pasted text: Urgent?"),
            (f"Subject: courier\nFrom: Eve\n\n{KLINGON}", "pasted by user: Subject: courier"),
        ],
    )
    def test_is_not_told_later_as_what_the_user_said(
        self, ctx: ContextMiddleware, said: str, speaker: str
    ) -> None:
        ctx.session("s1").capture([user(said), assistant("I see.")])
        part = ctx.session("s2").peek([user("What about the courier? Klingon?")]).context.part
        assert speaker in part
        assert "- user: " not in part


class TestWhatAnAssistantSaysAfterATool:
    def test_is_no_more_trusted_than_the_tool_and_names_it(self, ctx: ContextMiddleware) -> None:
        ctx.session("s1").capture(browsed("What is new?", PAGE, REPORT))
        (note,) = learned(ctx, "note")
        assert note.trust == "untrusted"
        assert set(note.derived_from) == {turns(ctx)[REPORT].ref, turns(ctx)[PAGE].ref}

    def test_stands_in_no_system_prompt(self, ctx: ContextMiddleware) -> None:
        chat = ctx.session("s1")
        chat.capture(browsed("What is new?", PAGE, REPORT))
        chat.end()
        assert "evil.example" not in opening(ctx)
        assert "evil.example" not in opening(ctx, "Where does the staging cluster move?")

    def test_nor_when_it_is_said_again_later(self, ctx: ContextMiddleware) -> None:
        chat = ctx.session("s1")
        later = [user("And then?"), assistant(f"Done. {REPORT}")]
        chat.capture([*browsed("What is new?", PAGE, "I've read it."), *later])
        chat.end()
        assert "evil.example" not in opening(ctx)
        note = next(one for one in learned(ctx, "note") if "evil" in one.text)
        assert turns(ctx)[PAGE].ref in note.derived_from

    def test_is_trusted_when_the_tool_is(self) -> None:
        trust = {"tool:browse": "trusted"}
        with ContextMiddleware.open(":memory:", trust=trust) as ctx:  # type: ignore[arg-type]
            ctx.session("s1").capture(browsed("What is new?", PAGE, REPORT))
            assert learned(ctx, "note")[0].trust == "trusted"

    def test_what_a_person_says_next_is_theirs(self, ctx: ContextMiddleware) -> None:
        ctx.session("s1").capture([*browsed("News?", PAGE, REPORT), user("I prefer tea.")])
        (memory,) = learned(ctx, "memory")
        assert (memory.text, memory.trust) == ("I prefer tea.", "trusted")

    def test_observations_of_a_tool_are_the_tools(self, ctx: ContextMiddleware) -> None:
        call = {"id": "1", "name": "write_file", "args": {"path": f"src/{KLINGON}.py"}}
        ctx.session("s1").capture(
            [
                user("Add a file."),
                assistant("", tool_calls=[call]),
                {"role": "tool", "name": "write_file", "content": "ok", "tool_call_id": "1"},
            ]
        )
        assert [one.trust for one in learned(ctx, "observation")] == ["untrusted"]


class TestNotesOfWorkWithTools:
    DECIDED = "We decided to move the staging cluster to another region."
    DONE = "I've finished moving the staging cluster."

    def begun(self, ctx: ContextMiddleware, asked: str, report: str, project: str | None) -> str:
        """What a later conversation's first message brings of the notes."""
        ctx.session("s1", project=project).capture(browsed("What is new?", "No news.", report))
        chat = ctx.session("s2", project=project)
        return chat.peek([user(asked)]).context.part

    def test_come_with_the_first_message_of_later_work(self, ctx: ContextMiddleware) -> None:
        part = self.begun(ctx, "Let us write the release plan for June", self.DECIDED, None)
        assert "## Session Notes" in part

    @pytest.mark.parametrize("said", ["thanks!", "yes please", "good morning"])
    def test_do_not_come_with_small_talk(self, ctx: ContextMiddleware, said: str) -> None:
        assert not self.begun(ctx, said, self.DECIDED, "shop")

    @pytest.mark.parametrize(("project", "told"), [("shop", True), (None, False)])
    def test_tell_what_is_done_in_its_project_only(
        self, ctx: ContextMiddleware, project: str | None, told: bool
    ) -> None:
        part = self.begun(ctx, "Let us write the release plan for June", self.DONE, project)
        assert ("## Session Notes" in part) is told


def test_an_answer_after_strangers_words_that_we_showed_is_tainted_by_them(
    ctx: ContextMiddleware,
) -> None:
    shown = ctx.remember(PAGE, kind="fact", trust="untrusted", source="web")
    chat = ctx.session("s1")
    prepared = chat.prepare([user("When does the staging cluster move?")])
    assert PAGE in prepared.context.part
    chat.finish(prepared, REPORT)
    assert turns(ctx)[REPORT].tainted
    (note,) = learned(ctx, "note")
    assert (note.trust, shown.ref in note.derived_from) == ("untrusted", True)


class TestWhatCameAlongWithAMessage:
    @pytest.mark.parametrize("role", ["user", "system"])
    def test_taints_the_answer_and_not_the_person(self, ctx: ContextMiddleware, role: str) -> None:
        along = {"brings": ["document:handbook"]}
        opening = {"role": "system", "content": "Help.", **(along if role == "system" else {})}
        asked = user("I prefer tea. News?", **(along if role == "user" else {}))
        chat = ctx.session("s1")
        chat.finish(chat.prepare([opening, asked]), REPORT)
        answer = turns(ctx)[REPORT]
        assert (answer.tainted, answer.brings) == (True, ("document:handbook",))
        assert not turns(ctx)["I prefer tea. News?"].tainted
        (note,) = learned(ctx, "note")
        assert note.trust == "untrusted"
        assert note.derived_from == (answer.ref, turns(ctx)["I prefer tea. News?"].ref)
        assert [one.text for one in learned(ctx, "memory")] == ["I prefer tea."]

    def test_is_forgotten_by_its_source(self, ctx: ContextMiddleware) -> None:
        chat = ctx.session("s1")
        asked = user("I prefer tea. News?", brings=["document:handbook"])
        chat.finish(chat.prepare([asked]), REPORT)
        again = [user("I prefer tea. News?"), assistant(REPORT), user("Really?")]
        chat.finish(chat.prepare(again), f"Yes. {REPORT} Lunch is at noon.")
        chat.end()
        ctx.forget(source="document:handbook")
        kept = [row.body for row in ctx.store.query("local", Find(live=None))]
        assert not [body for body in kept if "evil.example" in body]
        assert any("Lunch is at noon." in body for body in kept)
        assert [one.text for one in learned(ctx, "memory")] == ["I prefer tea."]

    def test_has_names(self, ctx: ContextMiddleware) -> None:
        for wrong in ("document:x", [7], [""]):
            with pytest.raises(InvalidValue, match=r"messages\[0\] brings"):
                ctx.session("s1").prepare([user("News?", brings=wrong)])


class TestASystemPromptOfTheCallers:
    def test_taints_what_repeats_it(self, ctx: ContextMiddleware) -> None:
        ctx.session("s1").capture([OPENING, user("News?"), assistant(REPORT)])
        assert turns(ctx)[REPORT].brings == ("system",)
        assert learned(ctx, "note")[0].trust == "untrusted"

    @pytest.mark.parametrize(
        "answer",
        [
            "We decided that staging goes to evil.example.",
            "We decided to move the staging cluster on Friday.",
        ],
    )
    def test_taints_what_has_an_address_or_most_words_of_it(
        self, ctx: ContextMiddleware, answer: str
    ) -> None:
        ctx.session("s1").capture([OPENING, user("News?"), assistant(answer)])
        assert turns(ctx)[answer].tainted

    @pytest.mark.parametrize(
        "answer",
        [
            "I've fixed the login and all tests pass.",
            "I've added an endpoint and run the checks.",
            "We decided on Kafka.",
        ],
    )
    def test_words_that_stand_far_apart_in_it_are_no_repetition(
        self, ctx: ContextMiddleware, answer: str
    ) -> None:
        rules = (
            "Fix what is asked. Add tests. Run all checks before you commit. Never skip a login."
        )
        long = {"role": "system", "content": f"{rules} Every endpoint needs a decision. " * 40}
        ctx.session("s1").capture([long, user("Go on."), assistant(answer)])
        assert not turns(ctx)[answer].tainted

    def test_taints_nothing_else(self, ctx: ContextMiddleware) -> None:
        other = "I've fixed the login test and pushed the branch."
        ctx.session("s1").capture([OPENING, user("Fix it."), assistant(other)])
        assert learned(ctx, "note")[0].trust == "trusted"

    def test_nor_what_the_person_said_too(self, ctx: ContextMiddleware) -> None:
        asked = user("Move the staging cluster to evil.example on Friday, as the page says.")
        ctx.session("s1").capture([OPENING, asked, assistant(REPORT)])
        assert learned(ctx, "note")[0].trust == "trusted"

    def test_is_believed_where_the_application_says_so(self) -> None:
        with ContextMiddleware.open(":memory:", trust={"system": "trusted"}) as ctx:
            ctx.session("s1").capture([OPENING, user("News?"), assistant(REPORT)])
            assert learned(ctx, "note")[0].trust == "trusted"


class TestForgettingASource:
    def test_reaches_what_an_assistant_made_of_it(self, ctx: ContextMiddleware) -> None:
        chat = ctx.session("s1")
        chat.capture(browsed("What is new?", PAGE, f"{REPORT} Lunch is at noon."))
        chat.end()
        ctx.forget(source="tool:browse")
        kept = [row.body for row in ctx.store.query("local", Find(live=None))]
        assert not [body for body in kept if "evil.example" in body]
        assert any("Lunch is at noon." in body for body in kept)
        assert ctx.search("staging cluster evil.example") == []

    def test_leaves_what_was_said_after_it_about_something_else(
        self, ctx: ContextMiddleware
    ) -> None:
        other = "I've fixed the login test and pushed the branch."
        ctx.session("s1").capture(browsed("Fix it. News?", PAGE, other))
        ctx.forget(source="tool:browse")
        assert [one.text for one in learned(ctx, "note")] != []
        assert turns(ctx)[other].text == other


class TestASystemPromptThatHoldsEverything:
    def test_has_no_turn_that_strangers_words_are_in(self, ctx: ContextMiddleware) -> None:
        paste = f"The courier deadline is in this mail.\n\nFrom: Eve\nSubject: x\n\n{KLINGON}"
        ctx.session("s1").capture([user(paste), assistant("Noted.")])
        chat = ctx.session("s2", placement="all_system")
        sent = chat.prepare([user("When is the courier deadline? Which mail?")])
        assert KLINGON in sent.context.part
        system = [one["content"] for one in sent.messages if one["role"] == "system"]
        assert not any(KLINGON in text for text in system)

    def test_has_no_docstring(self, tmp_path: Any) -> None:
        (tmp_path / "pay.py").write_text(f'def settle_invoice(order):\n    """{KLINGON}"""\n')
        with ContextMiddleware.open(":memory:") as ctx:
            ctx.index_code(tmp_path, project="shop")
            chat = ctx.session("s1", project="shop", placement="all_system")
            sent = chat.prepare([user("What does settle_invoice in pay.py do?")])
            assert KLINGON in sent.context.part
            system = [one["content"] for one in sent.messages if one["role"] == "system"]
            assert not any(KLINGON in text for text in system)

    def test_has_no_rule_of_a_vendored_folder(self, tmp_path: Any) -> None:
        folder = tmp_path / "vendor" / "left-pad"
        folder.mkdir(parents=True)
        (tmp_path / "pyproject.toml").write_text('[project]\nname = "shop"\n')
        (tmp_path / "AGENTS.md").write_text("Run make check.")
        (folder / "AGENTS.md").write_text(KLINGON)
        with ContextMiddleware.open(":memory:") as ctx:
            stable = ctx.session("s1", cwd=folder).prepare([user("Hello")]).context.stable
        assert "Run make check." in stable
        assert KLINGON not in stable


class TestWhoSpeaks:
    @pytest.mark.parametrize("author", ["application", "model", "document"])
    def test_only_the_person_teaches(self, ctx: ContextMiddleware, author: str) -> None:
        chat = ctx.session("s1")
        chat.finish(chat.prepare([user(SEATS, author=author)]), "We decided on aisle seats.")
        chat.end()
        assert learned(ctx, "memory", "note", "summary") == []
        assert {turn.trust for turn in turns(ctx).values()} == {"untrusted"}
        assert turns(ctx)[SEATS].author == author

    def test_a_document_is_found_as_one_and_marked(self, ctx: ContextMiddleware) -> None:
        ctx.session("s1").capture([user(f"Handbook. {SEATS}", author="document", name="hr.pdf")])
        part = ctx.session("s2").peek([user("Which seats? What about the handbook?")]).context.part
        assert "[untrusted, from document:hr.pdf] hr.pdf: Handbook." in part
        assert ctx.forget(source="document:hr.pdf") == 1

    def test_everybody_is_told_by_their_role(self, ctx: ContextMiddleware) -> None:
        ctx.session("s1").capture(browsed("News?", PAGE, REPORT))
        authors = {turn.role: turn.author for turn in turns(ctx).values()}
        assert authors == {"user": "person", "assistant": "assistant", "tool": "tool"}

    def test_somebody_else_by_name_is_not_the_user(self) -> None:
        with ContextMiddleware.open(":memory:", user="ada") as ctx:
            chat = ctx.session("s1")
            chat.capture([user(SEATS, name="bob"), user("I prefer tea.", name="Ada")])
            assert [one.text for one in ctx.search("seats tea", kinds=["preference"])] == [
                "I prefer tea."
            ]


@pytest.mark.parametrize(
    "said",
    [
        "Remember that my email is [REDACTED_EMAIL].",
        "Remember that my card is ****-1234.",
        "Remember that my mail is <email_hash:a1b2c3d4>.",
    ],
)
def test_a_sentence_that_something_private_was_taken_out_of_is_no_fact(
    ctx: ContextMiddleware, said: str
) -> None:
    ctx.session("s1").capture([user(said)])
    assert learned(ctx) == []


class TestWithoutLearning:
    def heard(self, chat: Session) -> None:
        chat.finish(chat.prepare([user(SEATS)]), "Noted.")

    def test_nothing_is_learned_found_or_summed_up(self, ctx: ContextMiddleware) -> None:
        self.heard(ctx.session("s1", learn=False))
        assert ctx.session("s1").end() is None
        assert learned(ctx) == []
        assert ctx.search("aisle seats") == []
        assert [turn.teaches for turn in turns(ctx).values()] == [False, False]

    def test_it_holds_for_the_call_and_not_for_the_next(self, ctx: ContextMiddleware) -> None:
        chat = ctx.session("s1")
        self.heard(chat.without_learning())
        history = [user(SEATS), assistant("Noted."), user("I prefer tea.")]
        chat.finish(chat.prepare(history), "Fine.")
        assert [one.text for one in learned(ctx)] == ["I prefer tea."]

    def test_a_subagents_conversation_is_its_own_and_teaches_nothing(
        self, ctx: ContextMiddleware
    ) -> None:
        child = ctx.session("s1").child("research")
        self.heard(child)
        assert (child.id, learned(ctx)) == ("s1|research", [])


def test_records_that_are_learned_name_what_they_come_from(ctx: ContextMiddleware) -> None:
    ctx.session("s1").capture([user("I prefer tea."), *browsed("News?", PAGE, REPORT)])
    assert all(one.derived_from for one in learned(ctx) if isinstance(one, Derived))


def test_a_long_conversation_is_looked_through_once_for_strangers(monkeypatch):
    looked: list[int] = []
    speak_at = Strangers.speak_at

    def told(strangers: Strangers, place: int) -> bool:
        looked.append(place)
        return speak_at(strangers, place)

    monkeypatch.setattr(Strangers, "speak_at", told)
    messages = [said for n in range(60) for said in (user(f"Question {n}?"), assistant(f"{n}."))]
    strangers = Strangers(messages, trail_of(messages), {}, LruCache(10), "local")
    assert not any(strangers.taint(at) for at in range(1, 120, 2))
    assert [strangers.before(at) for at in (1, 60, 119)] == [[], [], []]
    assert sorted(looked) == list(range(119))


def test_strangers_are_told_of_from_wherever_it_is_asked():
    messages = [user("Hi."), user("A page.", author="document"), assistant("So."), user("More?")]
    messages += [user("Another page.", author="document"), assistant("And so.")]
    for first in (5, 2, 0):
        strangers = Strangers(messages, trail_of(messages), {}, LruCache(10), "local")
        assert strangers.before(first) == [at for at in (1, 4) if at < first]
        assert strangers.before(6) == [1, 4]
        assert strangers.before(2) == [1]
        assert strangers.taint(2)
        assert strangers.taint(5)
