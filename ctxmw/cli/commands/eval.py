"""`ctxmw eval`: how well the memory does on conversations of which the evidence is known."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from ...errors import InvalidValue
from . import DONE, FAILED, NOTHING_FOUND, WRONG_USAGE
from .terminal import Terminal

if TYPE_CHECKING:
    from ...composition import Options
    from ...evaluation.figures import Figures
    from ...evaluation.measure import Answered
    from ...evaluation.transcripts import Transcript

HELP = "measure recall, tokens and waste on conversations of your own; nothing is kept"

FORMATS = ("jsonl", "longmemeval")


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, help="conversations with questions and their evidence")
    parser.add_argument(
        "--format", choices=FORMATS, default="jsonl", help="how the file is written; default: jsonl"
    )
    parser.add_argument(
        "--min-recall",
        type=percentage,
        metavar="PERCENT",
        help="fail when less evidence is brought",
    )
    parser.add_argument(
        "--max-tokens", type=number, metavar="TOKENS", help="fail when more are used on average"
    )
    parser.add_argument(
        "--embedder", help="instead of that of the settings: wordllama, minilm, or MODULE:NAME"
    )
    parser.add_argument(
        "--appetite",
        choices=("lean", "balanced", "full"),
        help="instead of that of the settings",
    )
    parser.add_argument(
        "--skip", metavar="CATEGORY", action="append", default=[], help="leave out; may be repeated"
    )
    parser.add_argument("--most", type=number, metavar="N", help="only the first N conversations")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Measure, print, and say whether it is good enough."""
    from ...evaluation.figures import figures

    try:
        answered = list(_answered(chosen, terminal))
    except InvalidValue as error:
        terminal.error(str(error))
        return WRONG_USAGE
    if not answered:
        terminal.error(f"{chosen.file} has no question with evidence: there is nothing to measure.")
        return NOTHING_FOUND
    measured = figures(answered)
    missed = list(_missed(measured, chosen))
    if chosen.json:
        terminal.json(measured.as_json() | {"missed": missed})
    else:
        _print(measured, terminal)
    for said in missed:
        terminal.error(said)
    return FAILED if missed else DONE


def _answered(chosen: argparse.Namespace, terminal: Terminal) -> Iterator[Answered]:
    """Yield what came for each question; every conversation has a memory of its own."""
    from ...evaluation.longmemeval import count_longmemeval, read_longmemeval
    from ...evaluation.transcripts import count_jsonl, read_jsonl

    own = chosen.format == "jsonl"
    total = (count_jsonl if own else count_longmemeval)(chosen.file)
    tell = terminal.progress()
    given = _options(chosen)
    transcripts = (read_jsonl if own else read_longmemeval)(chosen.file)
    for done, transcript in enumerate(islice(transcripts, chosen.most), 1):
        with tempfile.TemporaryDirectory(prefix="ctxmw-") as folder:
            yield from _asked(Path(folder), transcript.without(chosen.skip), given)
        if tell is not None:
            tell(done, min(total, chosen.most or total))


def _options(chosen: argparse.Namespace) -> Options:
    """Return what memories are opened with: the settings that hold here, and arguments."""
    from ...settings.settings import Settings

    settings = Settings.load(file=chosen.config, embedder=chosen.embedder, appetite=chosen.appetite)
    # A thread that embeds beside the requests would have some of them measured without.
    # Transcripts belong to no project of this folder.
    nowhere: Options = {"project": None, "language": None}
    return {**settings.options(), **nowhere, "deadline": None}


def _asked(folder: Path, transcript: Transcript, given: Options) -> Iterator[Answered]:
    from ...evaluation.measure import Asking, Calendar, answers
    from ...middleware import ContextMiddleware
    from ...tokens.counter import counter_for
    from ...values.records import utc_now

    asking = Asking(count=counter_for(given.get("model")), part=given["budget"])
    calendar = Calendar(utc_now())
    made: Options = {**given, "clock": calendar}
    with ContextMiddleware.open(folder / "memory.db", **made) as ctx:
        yield from answers(ctx, calendar, transcript, asking)


def _missed(measured: Figures, chosen: argparse.Namespace) -> Iterator[str]:
    least, most = chosen.min_recall, chosen.max_tokens
    if least is not None and (measured.recall is None or measured.recall < least):
        yield f"recall is {_shown(measured.recall)}, and is to be {least:g} % at least."
    if most is not None and measured.tokens is not None and measured.tokens > most:
        yield f"a message brings {measured.tokens:g} tokens on average, and may bring {most}."


def _print(measured: Figures, terminal: Terminal) -> None:
    rows = [("questions", f"{measured.questions:,}"), *_rows(measured)]
    terminal.table(("all", "measured"), rows)
    if not measured.by_category:
        return
    terminal.line()
    header = ("category", "questions", "recall", "tokens", "waste", "within 1,000")
    each = [
        (
            name,
            one.questions,
            _shown(one.recall),
            one.tokens,
            _shown(one.waste),
            _shown(one.within.get(1000)),
        )
        for name, one in measured.by_category.items()
    ]
    terminal.table(header, each)


def _rows(measured: Figures) -> Iterator[tuple[str, str]]:
    spread = " / ".join(f"{tokens:,}" for tokens in measured.tokens_at.values())
    yield "recall of what a message brings", _shown(measured.recall)
    yield "tokens of it", f"{measured.tokens:,} on average; p10 / p50 / p90 {spread}"
    yield "waste: tokens that are no evidence", _shown(measured.waste)
    for tokens, recall in measured.within.items():
        yield f"recall of a search within {tokens:,} tokens", _shown(recall)
    for rank, session in measured.sessions.items():
        told = f"{session.any:.1f} % (any of them), {session.all:.1f} % (all of them)"
        yield f"sessions R@{rank}", told


def _shown(percent: float | None) -> str:
    return "unknown" if percent is None else f"{percent:.1f} %"


def percentage(text: str) -> float:
    """Return a share in per cent; argparse ends with 2 when it is none."""
    value = float(text)
    if not 0 <= value <= 100:
        raise argparse.ArgumentTypeError(f"{text} is not between 0 and 100")
    return value


def number(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError(f"{text} is not 1 or more")
    return value
