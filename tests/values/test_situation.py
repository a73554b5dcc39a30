import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw.values.situation import TASK_WORDS, TASKS, task_of


class TestTask:
    @pytest.mark.parametrize(
        ("texts", "task"),
        [
            (["Implement the login function"], "coding"),
            (["Please create two classes and write them to auth.py"], "coding"),
            (["Why does this test fail? There is an error."], "debugging"),
            (["I am debugging AuthError"], "debugging"),
            (["Explain the README.md and add docs"], "documentation"),
            (["How should we structure the modules? Which pattern?"], "architecture"),
            (["thanks!"], None),
            (["The doctor has a classic contest"], None),
            (["explain this error"], None),
            ([""], None),
            ([], None),
        ],
    )
    def test_is_told_by_words(self, texts, task):
        assert task_of(texts) == task

    def test_is_that_of_the_later_messages(self):
        assert task_of(["design the modules", "ok", "now fix the bug"]) == "debugging"

    def test_is_that_of_the_last_five_messages_alone(self):
        assert task_of(["fix the error"] + ["go on"] * 4) == "debugging"
        assert task_of(["fix the error"] + ["go on"] * 5) is None

    def test_counts_a_word_once_a_message(self):
        assert task_of(["error " * 500 + "write a function"]) == "coding"

    def test_is_found_after_a_long_paste(self):
        assert task_of(["x " * 50_000 + "fix this error"]) == "debugging"

    def test_has_words_for_each(self):
        assert tuple(TASK_WORDS) == TASKS
        for task in TASKS:
            assert task_of([" ".join(TASK_WORDS[task])]) == task

    @given(st.lists(st.text()))
    def test_never_raises(self, texts):
        assert task_of(texts) in (None, *TASKS)
