"""What is measured: evidence that came, tokens, waste, and sessions by rank."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctxmw import Budget, ContextMiddleware
from ctxmw.evaluation.figures import figures
from ctxmw.evaluation.measure import Answered, Asking, Calendar, answers, carried
from ctxmw.evaluation.transcripts import KnownQuestion, Transcript, Utterance
from ctxmw.tokens.counter import counter_for

COUNT = counter_for("cl100k_base")
NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)
SAID = (
    "Somebody called Lena moved to Porto last week.",
    "The bakery on the corner has the best rye bread.",
    "I have an appointment with the dentist on Friday.",
)


def transcript(*questions: KnownQuestion) -> Transcript:
    said = tuple(
        Utterance(
            id=str(number),
            session=f"s{number}",
            at=NOON + timedelta(days=number),
            speaker="user",
            text=text,
        )
        for number, text in enumerate(SAID)
    )
    return Transcript(name="t", said=said, questions=questions)


def question(text: str, *evidence: str, before: int = 3, sessions: tuple[str, ...] = ()):
    at = NOON + timedelta(days=9)
    held = sessions or tuple(f"s{ref}" for ref in evidence)
    return KnownQuestion(id=text, text=text, evidence=evidence, sessions=held, before=before, at=at)


def measured(*questions: KnownQuestion, part: Budget | None = None) -> list[Answered]:
    calendar = Calendar(NOON)
    asking = Asking(count=COUNT, part=part or Budget(), budgets=(5, 200))
    with ContextMiddleware.open(":memory:", clock=calendar, deadline=None) as ctx:
        return list(answers(ctx, calendar, transcript(*questions), asking))


def test_evidence_is_brought_and_found():
    (one,) = measured(question("Where does Lena live?", "0"))
    assert one.recall == 1.0
    assert one.within == {5: 0.0, 200: 1.0}
    assert one.sessions[0] == "s0"
    assert 0 < one.useful < one.tokens


def test_half_of_the_evidence_is_half():
    (one,) = measured(question("Where does Lena live?", "0", "2"))
    assert one.recall == 0.5


def test_what_is_said_later_is_not_known():
    early, late = measured(
        question("When is the dentist's appointment?", "2"),
        question("Who sells rye bread?", "1", before=1),
    )
    assert (early.question.before, early.recall, early.within[200]) == (1, 0.0, 0.0)
    assert late.recall == 1.0


def test_a_question_without_evidence_is_not_asked():
    assert measured(question("Why?")) == []


def test_sessions_alone_tell_no_recall():
    (one,) = measured(question("Where does Lena live?", sessions=("s0",)))
    assert (one.recall, one.within) == (None, {})
    told = figures([one])
    assert (told.recall, told.waste, told.within) == (None, None, {})
    assert told.sessions[5].all == 100.0


@pytest.mark.parametrize("part", [Budget(total=0), Budget().with_stable_limit(0)])
def test_any_budget_can_be_asked_with(part):
    (one,) = measured(question("Where does Lena live?", "0"), part=part)
    assert one.tokens <= part.turn_limit
    assert one.recall == float(part.total > 0)


def test_most_of_the_words_must_be_there():
    said = "one two three four five six seven eight nine ten eleven twelve"
    assert carried(said, f"[2026] Ada: {said}.", COUNT)
    assert not carried(said, said[: len(said) // 2], COUNT)
    assert carried("Yes!", "yes", COUNT)
    assert carried("!", "anything", COUNT)
    long = " ".join(f"word{number}" for number in range(200))
    assert carried(long, " ".join(f"word{number}" for number in range(90)), COUNT)


def answered(recall: float, tokens: int, useful: int, *sessions: str) -> Answered:
    asked = question("?", sessions=("a", "b"))
    return Answered(
        question=asked,
        recall=recall,
        tokens=tokens,
        useful=useful,
        within={1000: recall},
        sessions=sessions,
    )


def test_figures_sum_up():
    told = figures(
        [
            answered(1.0, 100, 50, "a", "b"),
            answered(0.5, 300, 10, "x", "a", "c", "d", "e", "b"),
            answered(0.0, 200, 0, "x"),
        ]
    )
    assert (told.questions, told.recall, told.tokens, told.waste) == (3, 50.0, 200.0, 90.0)
    assert told.tokens_at == {"p10": 100, "p50": 200, "p90": 300}
    assert told.within == {1000: 50.0}
    assert (told.sessions[5].any, told.sessions[5].all) == (66.7, 33.3)
    assert (told.sessions[10].any, told.sessions[10].all) == (66.7, 66.7)


@given(st.lists(st.tuples(st.floats(0, 1), st.integers(0, 2000), st.floats(0, 1)), max_size=8))
def test_figures_are_shares(rows):
    told = figures([answered(recall, cost, int(cost * share)) for recall, cost, share in rows])
    for value in (told.recall, told.waste, *told.within.values()):
        assert value is None or 0 <= value <= 100
    assert told.questions == len(rows)
