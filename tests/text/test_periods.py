"""From when and until when a text holds, told against the day it was said: a table of cases."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from ctxmw.text.periods import OPEN_ENDED, period_in

WEDNESDAY = datetime(2026, 11, 18, 15, 30, tzinfo=UTC)

ENDS = [
    ("Use the staging server until Friday.", "2026-11-20"),
    ("Until Friday, call me Bob.", "2026-11-20"),
    ("I'm in Berlin till next Tuesday", "2026-11-24"),
    ("Answer in German until the end of the week.", "2026-11-22"),
    ("Answer in German until the end of November.", "2026-11-30"),
    ("Keep replies short until tomorrow", "2026-11-19"),
    ("Deploys are frozen through December 3rd.", "2026-12-03"),
    ("Deploys are frozen until 2027-01-08.", "2027-01-08"),
    ("We use the old API until 8 January 2027", "2027-01-08"),
    ("We use the old API until January.", "2026-12-31"),
    ("I'm on vacation until the 30th", "2026-11-30"),
    ("I am in Lisbon next week.", "2026-11-29"),
    ("I'm travelling this week", "2026-11-22"),
    ("I'm on call this weekend.", "2026-11-22"),
    ("I'm working from Paris next month.", "2026-12-31"),
    ("Be brief today, please.", "2026-11-18"),
    ("Use formal language for today", "2026-11-18"),
    ("Write in British English for the rest of the month.", "2026-11-30"),
    ("No meetings for the next two weeks", "2026-12-02"),
    ("Skip the tests for the next 3 days.", "2026-11-21"),
    ("I'm at my parents' tomorrow", "2026-11-19"),
    ("I'm off on Friday this week", "2026-11-22"),
    ("My flatmate is away over the next ten days.", "2026-11-28"),
    ("The build is broken until Monday, so skip CI.", "2026-11-23"),
    ("I'm on parental leave until March 2027", "2027-02-28"),
    ("Please write to me in French up to and including Sunday.", "2026-11-22"),
    ("Treat me as a beginner for the rest of the day", "2026-11-18"),
    ("Use my work address until Christmas.", "2026-12-25"),
    ("Until further notice from me on Monday, hold releases until Monday.", "2026-11-23"),
    ("No sugar for me this month", "2026-11-30"),
    ("My team is short-staffed until the new year.", "2026-12-31"),
    ("Don't schedule anything this Friday.", "2026-11-20"),
    ("Let's use the old logo this quarter.", "2026-12-31"),
    ("I'm in Tokyo through Saturday, so answer in JST.", "2026-11-21"),
    ("For the next month, I want vegetarian recipes only.", "2026-12-18"),
    ("Wir nutzen den alten Server bis Freitag.", "2026-11-20"),
    ("Nous utilisons l'ancien serveur jusqu'à vendredi.", "2026-11-20"),
    ("Usa el servidor viejo hasta el viernes.", "2026-11-20"),
    ("Ich bin nächste Woche in Wien.", "2026-11-29"),
]
STARTS = [
    ("From Monday we deploy with Kamal.", "2026-11-23", None),
    ("Starting next week, standup is at ten.", "2026-11-23", None),
    ("As of tomorrow, use port 9000", "2026-11-19", None),
    ("Call me Robert from now on.", None, None),
    ("Beginning December 1st we use Postgres.", "2026-12-01", None),
    ("We are on the new plan as of 2026-12-01.", "2026-12-01", None),
    ("I'm in Rome from Friday until Sunday.", "2026-11-20", "2026-11-22"),
    ("I'm in Rome from 3 December to 10 December.", "2026-12-03", "2026-12-10"),
    ("The office is closed between December 24 and January 2.", "2026-12-24", "2027-01-02"),
    ("As of today we only ship on Thursdays.", "2026-11-18", None),
    ("Starting in January, we use Go 1.24.", "2027-01-01", None),
    ("I will be living in Madrid from January to March.", "2027-01-01", "2027-03-31"),
    ("Ab Montag nutzen wir Kamal.", "2026-11-23", None),
]
FOR_A_WHILE = [
    "For this trip, prefer trains over planes.",
    "Use dollars during this trip.",
    "While I'm on vacation, send me only summaries.",
    "For this sprint, leave the parser alone.",
    "Use the beta API for the rest of this sprint.",
]
NEVER_ENDS = [
    "I prefer tabs.",
    "I work from Monday to Friday.",
    "The shop is open until 6 pm.",
    "I'm at the office until 5pm every day.",
    "I lived in Berlin until 2019.",
    "I've been a vegetarian for three years.",
    "Keep backups for 30 days.",
    "Retry for two minutes before giving up.",
    "Today we decided to use Kafka.",
    "I started a new job this week.",
    "We moved to Postgres last month.",
    "Every Friday I bake bread.",
    "Don't deploy on Fridays.",
    "Never merge until the tests pass.",
    "Wait until the build is green.",
    "I go running from 7 to 8.",
    "My name is May.",
    "I was born in March 1990.",
    "My birthday is on May 3rd.",
    "Use Friday as the name of the service.",
    "Finish the report by Friday.",
    "Until further notice, freeze deploys.",
    "This week's numbers were good.",
    "Each week we review the budget.",
    "From a to z, sort everything.",
    "Read the file from line 3 to line 10.",
    "I have had this bike since 2019.",
    "My shift ends at 6.",
    "I usually work until late on Fridays.",
    "Since Monday I have a cold.",
    "Treat prices as of 2025 as outdated.",
    "I ran a marathon today.",
    "He told her, and she quit the next day.",
    "I had a great time this Tuesday!",
    "I didn't try it until January of 2018.",
    "Use the format day-month-year, such as 3 December.",
]


@pytest.mark.parametrize(("text", "until"), ENDS)
def test_it_tells_when_something_ends(text, until):
    found = period_in(text, WEDNESDAY)
    assert _last_day(found.until) == until
    assert found.since is None


@pytest.mark.parametrize(("text", "since", "until"), STARTS)
def test_it_tells_when_something_begins(text, since, until):
    found = period_in(text, WEDNESDAY)
    assert (found.since and found.since.date().isoformat()) == since
    assert (found.until and _last_day(found.until)) == until


@pytest.mark.parametrize("text", FOR_A_WHILE)
def test_what_holds_for_a_trip_holds_for_two_weeks(text):
    found = period_in(text, WEDNESDAY)
    assert found.until == datetime(2026, 11, 18, tzinfo=UTC) + OPEN_ENDED + timedelta(days=1)


@pytest.mark.parametrize("text", NEVER_ENDS)
def test_it_reads_no_end_into_what_has_none(text):
    found = period_in(text, WEDNESDAY)
    assert (found.since, found.until) == (None, None)


def test_it_counts_from_the_day_it_was_said():
    friday = datetime(2026, 11, 20, 9, tzinfo=UTC)
    assert _last_day(period_in("Until Friday, no deploys.", friday).until) == "2026-11-20"
    assert _last_day(period_in("I'm away next week.", friday).until) == "2026-11-29"


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("I'm in Rome until 31/12/2026.", "2026-12-31"),
        ("I'm in Rome until 12/31/2026.", "2026-12-31"),
        ("Ich bin bis 05.12.2026 in Rom.", "2026-12-05"),
        ("Until 1-2-27, call me Bob.", "2027-02-01"),
    ],
)
def test_it_reads_days_in_figures_and_of_two_readings_the_later(text, last):
    assert _last_day(period_in(text, WEDNESDAY).until) == last


def test_it_reads_no_day_that_is_none():
    assert period_in("I'm away until 13/13/2026.", WEDNESDAY).until is None
    assert period_in("I'm away until 31.02.2027.", WEDNESDAY).until is None


def test_it_takes_linear_time_over_anything():
    for text in ("until " * 50_000, "from Monday to " * 20_000, "next " * 50_000, "9" * 200_000):
        period_in(text, WEDNESDAY)
    late = datetime(9999, 12, 31, 23, tzinfo=UTC)
    assert period_in("until Friday and for the next 99999 weeks", late).until is None


def _last_day(until: datetime) -> str:
    """Return the last day on which it holds."""
    assert until.time() == datetime.min.time()
    return (until.date() - timedelta(days=1)).isoformat()
