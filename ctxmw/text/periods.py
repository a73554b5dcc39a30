"""From when and until when a text holds: "until Friday", "next week", "from Monday on".

Told against the day it was said, in days of UTC. Only words that limit what is said are read:
"the demo is on Friday" names a day and ends nothing, "I work from Monday to Friday" is a habit, and
"I lived there until 2019" is over and stays true. What is not clearly limited is not limited.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta

from .lexicon import MONTHS, WEEKDAYS
from .patterns.late import late_pattern

OPEN_ENDED = timedelta(days=14)
"""How long "for this trip" holds beyond the day it was said: nobody says when a trip is over."""
READ = 2000
"""Characters of a text that are read: what is remembered is shorter."""


@dataclass(frozen=True, slots=True)
class Period:
    """From when (included) until when (excluded) something holds; None: without that end."""

    since: datetime | None = None
    until: datetime | None = None


ALWAYS = Period()


def period_in(text: str, said: datetime) -> Period:
    """Return when a text holds that was said then, in time linear in its length."""
    words = text[:READ].lower().replace("\u2019", "'")
    today = said.astimezone(UTC).date()
    try:
        return _checked(_stated(words, today) or _implied(words, today), said)
    except (OverflowError, ValueError):  # beyond what a calendar holds
        return ALWAYS


def day_after(day: date) -> datetime:
    """Return the moment at which a day is over."""
    return midnight(day + timedelta(days=1))


def midnight(day: date) -> datetime:
    """Return the moment at which a day begins."""
    return datetime.combine(day, time(), UTC)


_Days = tuple[date, date]
"""A first and a last day."""

_WEEKDAYS = {
    name: number % 7
    for number, name in enumerate(
        (
            *WEEKDAYS,
            *"montag dienstag mittwoch donnerstag freitag samstag sonntag".split(),
            *"lundi mardi mercredi jeudi vendredi samedi dimanche".split(),
            *"lunes martes miércoles jueves viernes sábado domingo".split(),
        )
    )
}
_MONTHS = {
    name: number % 12 + 1
    for number, name in enumerate(
        (
            *MONTHS,
            *"jan feb mar apr may jun jul aug sep oct nov dec".split(),
            *"januar februar märz april mai juni juli august september oktober november".split(),
            "dezember",
            *"janvier février mars avril mai juin juillet août septembre octobre novembre".split(),
            "décembre",
            *"enero febrero marzo abril mayo junio julio agosto septiembre octubre".split(),
            *"noviembre diciembre".split(),
        )
    )
}
_NUMBERS = {
    name: number
    for number, name in enumerate(
        "one two three four five six seven eight nine ten eleven twelve".split(), 1
    )
} | {"few": 3, "couple of": 2, "": 1}
_UNITS = {"hour": 0, "day": 1, "week": 7, "fortnight": 14, "month": 30, "year": 365}


def _any(names: dict[str, int]) -> str:
    return "|".join(sorted(map(re.escape, names), key=len, reverse=True))


_MONTH = rf"(?:{_any(_MONTHS)})\b\.?"
_DAY_OF = r"\d{1,2}(?:st|nd|rd|th|\.)?"
_YEAR = r"(?:19|20)\d\d"
_THE = r"(?:the |el |la |le |l'|den |dem |zum |au |à )?"
_POINT = late_pattern(
    rf"{_THE}(?:"
    rf"(?P<iso>{_YEAR}-\d\d-\d\d)\b"
    rf"|(?P<figures>\d{{1,2}}(?P<by>[./-])\d{{1,2}}(?P=by)(?:{_YEAR}|\d\d))(?!\d)"
    rf"|end of (?:the |this )?(?P<end>(?:next )?(?:day|week|month|quarter|year)\b|{_MONTH})"
    r"|(?P<today>today|tonight|heute|hoy|aujourd'hui)\b"
    r"|(?P<tomorrow>tomorrow|morgen|demain|mañana)\b"
    rf"|(?P<which>next |this |coming )?(?P<weekday>{_any(_WEEKDAYS)})\b"
    r"|(?P<span>(?:next|this|coming) (?:weekend|week|month|quarter|year)|weekend)\b"
    rf"|(?P<day>{_DAY_OF}) (?:of |de )?(?P<of>{_MONTH})(?:,? (?:de )?(?P<year>{_YEAR}))?"
    rf"|(?P<month>{_MONTH}) (?P<on>{_DAY_OF})(?!\d)(?:,? (?P<in>{_YEAR}))?"
    rf"|(?P<whole>{_MONTH})(?:,? (?:of )?(?P<its>{_YEAR}))?"
    r"|(?<=the )(?P<ordinal>\d{1,2})(?:st|nd|rd|th)\b"
    rf"|(?P<alone>{_YEAR})\b(?!-)"
    r"|(?P<feast>christmas|new year(?:'s(?: eve)?)?)\b"
    r")"
)
_UNTIL = late_pattern(
    r"\b(?:until|till|up to and including|up to|through|bis|jusqu'(?:à |au )?|hasta)\s*"
)
_FROM = late_pattern(
    r"\b(?:starting|beginning|as of|as from|effective|from|ab|à partir d[eu]|a partir de)"
    r" (?:on |from |in )?"
)
_BETWEEN = late_pattern(r"\bbetween ")
_TO = late_pattern(r"\s{0,8}(?P<word>to|until|till|through|and|bis|-|\u2013) ?")
_HABIT = late_pattern(r"\b(?:every|each|usually|normally|jede[nrsm]?|chaque|cada)\b")
_PAST = late_pattern(
    r"\b(?:was|were|did|had|got|went|came|made|took|found|began|bought|left|wrote|chose|said|told"
    r"|saw|met|gave|became|paid|sent|built|kept|lost|won|ran|been"
    r"|(?<!am )(?<!is )(?<!are )(?<!'m )(?<!'s )(?<!'re )(?<!be )\w+[^\We]ed)\b"
)
_NOW = late_pattern(
    r"\b(?:today|tonight|(?:for )?the rest of (?:the |this )?(?P<rest>day|week|month|quarter|year)"
    r"|this (?:(?P<this>weekend|week|month|quarter|year)|morning|afternoon|evening)"
    r"|(?P<other>diese woche|cette semaine|esta semana))\b(?!')"
)
_AHEAD = late_pattern(
    rf"\b(?:tomorrow|next (?P<next>weekend|week|month|quarter|year|{_any(_WEEKDAYS)})"
    rf"|this (?P<this>{_any(_WEEKDAYS)})"
    r"|(?P<other>nächste woche|la semaine prochaine|la próxima semana)"
    r"|(?:the |these )(?:next|coming) (?P<number>\d{1,4}|[a-z]{3,6}|couple of|)[ ]?"
    rf"(?P<unit>{'|'.join(_UNITS)})(?P<many>s?))\b(?!')"
)
_WHILE = late_pattern(
    r"\b(?:for (?:the rest of )?this|(?:during|throughout) (?:this|my|our|the)) (?:\w+ )?"
    r"(?:trip|journey|vacation|holidays?|visit|stay|tour|sprint|conference|hackathon|retreat)\b"
    r"|\bwhile (?:i'm|i am|we're|we are) (?:on (?:vacation|holiday|leave|tour|the road|(?:my|our|a|"
    r"this) (?:\w+ )?trip)|away|abroad|travell?ing|visiting)\b"
)


def _stated(words: str, today: date) -> Period | None:
    """Return what a text says with "until", "from" or "between"; None when it says no such day."""
    for found in (*_FROM.finditer(words), *_BETWEEN.finditer(words)):
        first = _point(words, found.end(), today)
        if first is None:
            continue
        start, place, first_is_weekday = first
        joined = _TO.match(words, place)
        last = _point(words, joined.end(), max(start[0], today)) if joined else None
        if last is None:
            if words[found.start() :].startswith("between"):
                continue
            return Period(since=midnight(start[0]))
        if joined and joined["word"] not in ("until", "till") and first_is_weekday and last[2]:
            return None  # from Monday to Friday: every week
        return Period(since=midnight(start[0]), until=day_after(last[0][1]))
    for found in _UNTIL.finditer(words):
        point = _point(words, found.end(), today, up_to=not found[0].startswith(("thr", "up")))
        if point is not None:
            return Period(until=day_after(point[0][1]))
    return None


def _implied(words: str, today: date) -> Period:
    """Return what a text says by naming a time that goes by: "this week", "for this trip"."""
    if _HABIT.search(words):
        return ALWAYS
    for found in _AHEAD.finditer(words):
        if last := _ahead(found, today):
            return Period(until=day_after(last))
    if _PAST.search(words):
        return ALWAYS
    if found_now := _NOW.search(words):
        span = found_now["rest"] or found_now["this"] or ("week" if found_now["other"] else "day")
        return Period(until=day_after(_span(span, today)[1]))
    if _WHILE.search(words):
        return Period(until=day_after(today + OPEN_ENDED))
    return ALWAYS


def _checked(found: Period, said: datetime) -> Period:
    """Return the period, unless it was over when it was said: then it tells how things were."""
    if found.until is not None and found.until <= said:
        return ALWAYS
    begun = found.since is not None and found.since.date() < said.astimezone(UTC).date()
    return Period(until=found.until) if begun else found


def _ahead(found: re.Match[str], today: date) -> date | None:
    if unit := found["unit"]:
        number = found["number"].strip()
        if not number and (unit == "day" or found["many"]):
            return None  # "the next day" is one of a story, "the coming weeks" are nobody's count
        count = int(number) if number.isdigit() else _NUMBERS.get(number)
        return None if count is None else today + timedelta(days=count * _UNITS[unit])
    if found["other"]:
        return _span("next week", today)[1]
    if day := found["this"]:
        return None if _PAST.search(found.string) else _weekday(day, "this", today)
    if span := found["next"]:
        if span in _WEEKDAYS:
            return _weekday(span, "next", today)
        return _span(f"next {span}", today)[1]
    return today + timedelta(days=1)


def _point(
    words: str, place: int, today: date, *, up_to: bool = False
) -> tuple[_Days, int, bool] | None:
    """Return the days that stand at a place, where they end, and whether it is a bare weekday.

    `up_to`: what is named only ends something, so that of a month the day before it begins is
    meant; else its last day.
    """
    found = _POINT.match(words, place)
    if found is None:
        return None
    days = _days(found, today)
    long = found["whole"] or found["alone"] or (found["span"] or "").startswith("next")
    if up_to and long and "weekend" not in found[0]:
        days = (days[0], days[0] - timedelta(days=1))
    return days, found.end(), bool(found["weekday"] and not found["which"])


def _days(found: re.Match[str], today: date) -> _Days:
    """Return the first and the last day of what was matched."""
    if end := found["end"]:
        month = _MONTHS.get(end.rstrip("."))
        return _month(_coming(month, 28, today).year, month) if month else _span(end, today)
    if span := found["span"]:
        return _span(span.replace("coming", "next"), today)
    if found["whole"]:
        month = _MONTHS[found["whole"].rstrip(".")]
        return _month(int(found["its"] or _coming(month, 28, today).year), month)
    if found["alone"]:
        return date(int(found["alone"]), 1, 1), date(int(found["alone"]), 12, 31)
    if found["figures"]:
        return _either(found["figures"], found["by"])
    one = _one_day(found, today)
    return one, one


def _either(figures: str, by: str) -> _Days:
    """Return the first and the last day that 12/10/2026 can be: nobody says whose order it is.

    Where points stand between them, the day comes first.
    """
    one, other, year = (int(figure) for figure in figures.split(by))
    year += 2000 if year < 100 else 0
    orders = [(other, one)] if by == "." else [(other, one), (one, other)]
    # Where neither can be a month, there is no such day, and that is told.
    possible = [order for order in orders if order[0] <= 12] or orders
    days = sorted(date(year, month, day) for month, day in possible)
    return days[0], days[-1]


def _one_day(found: re.Match[str], today: date) -> date:
    if found["iso"]:
        return date.fromisoformat(found["iso"])
    if found["today"] or found["tomorrow"]:
        return today + timedelta(days=bool(found["tomorrow"]))
    if found["weekday"]:
        return _weekday(found["weekday"], (found["which"] or "").strip(), today)
    if found["ordinal"]:
        number = int(found["ordinal"])
        later = today if number >= today.day else _span("next month", today)[0]
        return later.replace(day=number)
    if found["feast"]:
        return _coming(12, 25 if found["feast"] == "christmas" else 31, today)
    month = _MONTHS[(found["of"] or found["month"]).rstrip(".")]
    number = int(re.sub(r"\D", "", found["day"] or found["on"]))
    year = found["year"] or found["in"]
    return date(int(year), month, number) if year else _coming(month, number, today)


def _coming(month: int, day: int, today: date) -> date:
    """Return the next such day, today included."""
    this = date(today.year, month, day)
    return this if this >= today else date(today.year + 1, month, day)


def _weekday(name: str, which: str, today: date) -> date:
    number = _WEEKDAYS[name]
    if which == "next":
        return _span("next week", today)[0] + timedelta(days=number)
    return today + timedelta(days=(number - today.weekday()) % 7)


def _span(name: str, today: date) -> _Days:
    """Return the first and the last day of "this week", "next month" and the like."""
    ahead, unit = name.startswith("next "), name.rsplit(maxsplit=1)[-1]
    monday = today - timedelta(days=today.weekday()) + timedelta(days=7 * ahead)
    if unit == "week":
        return monday, monday + timedelta(days=6)
    if unit == "weekend":
        return monday + timedelta(days=5), monday + timedelta(days=6)
    if unit == "month":
        first = _months_later(today.replace(day=1), int(ahead))
        return _month(first.year, first.month)
    if unit == "quarter":
        first = date(today.year, (today.month - 1) // 3 * 3 + 1, 1)
        first = _months_later(first, 3) if ahead else first
        return first, _months_later(first, 3) - timedelta(days=1)
    if unit == "year":
        return date(today.year + ahead, 1, 1), date(today.year + ahead, 12, 31)
    return today, today


def _months_later(first: date, number: int) -> date:
    """Return the first day of the month so many months later."""
    months = first.month - 1 + number
    return date(first.year + months // 12, months % 12 + 1, 1)


def _month(year: int, month: int) -> _Days:
    first = date(year, month, 1)
    return first, _months_later(first, 1) - timedelta(days=1)
