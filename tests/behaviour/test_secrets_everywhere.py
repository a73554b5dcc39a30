"""A secret in every argument of every call: it is in no byte that is left behind."""

from __future__ import annotations

import json
import logging
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from ctxmw import ContextMiddleware, Tracing, memory_tools
from ctxmw.protocols import Row
from ctxmw.recall.offering.items import Offer
from ctxmw.testing import HashEmbedder
from ctxmw.text.cleaning import clean
from ctxmw.text.secrets.redaction import redact, redact_name, redact_values
from ctxmw.tokens.counter import counter_for
from ctxmw.values.items import Item
from tests.support.secret_samples import HIDDEN, PLACES, TOKENS, Chance, samples

SECRET = TOKENS["github"](Chance("everywhere"))
LEAK = SECRET[-24:]
COUNT = counter_for()
FORMS = {
    "plain": SECRET,
    "hidden": SECRET[:20] + HIDDEN["zero width space"] + SECRET[20:],
    "nul-free control": SECRET[:20] + "\x02" + SECRET[20:],
    "cookie": f"Cookie: sid={LEAK}1a; theme=dark",
}


def opened(path: Path, **options: object) -> ContextMiddleware:
    return ContextMiddleware.open(path, count=COUNT, **options)


def every_byte(folder: Path) -> bytes:
    return b"".join(one.read_bytes() for one in sorted(folder.rglob("*")) if one.is_file())


class Chatty:
    """A source of the application's own, which quotes what it should not."""

    name = "chatty"

    def __init__(self, said: str) -> None:
        self._said = said

    def items(self, situation: object, /) -> list[Item]:
        said = {"text": self._said, "title": self._said, "source": self._said, "label": self._said}
        return [Item(ref="x1", kind="fact", lane="turn", section="notices", score=1.0, **said)]


class Leaky(HashEmbedder):
    """An embedding model that fails, and quotes what it was given."""

    def embed_query(self, text: str, /) -> list[float]:
        raise OSError(f"401 for {SECRET}")


def use_everything(ctx: ContextMiddleware, said: str, folder: Path) -> None:
    """Call whatever takes a text, with the secret in each of them."""
    ctx.remember(f"zebra {said}", key=said, source=said, scope=f"project:{said}")
    ctx.remember(f"zebra of {said}", scope=f"language:{said}")
    memory = ctx.remember("zebra and tea")
    ctx.edit(memory.ref, f"zebra and {said}", scope=f"project:{said}")
    ctx.catalog.add("rule", said, f"zebra {said}", include="always")
    ctx.catalog.add("tool", f"t {said}", said, server=said)
    ctx.catalog.add_server(said, include="agent")
    ctx.notice({"type": "file_edit", "path": f"src/{said}.py", "symbols": [said]}, project=said)
    chat = ctx.session(said, project=said, language=said, files=[said])
    chat.collect(said, said, f"zebra {said}", metadata={said: [said, {"token": said}]})
    chat.note("next", said)
    chat.observe(said, kind="bugfix", text=said, files=[said], concepts=[said])
    chat.add(said)
    asked = {"role": "user", "content": f"What of the zebra? {said}", "id": said, "name": said}
    call = {
        "id": said,
        "name": f"deploy_{said}",
        "args": {"with": said, said: [said, f"a\n{said}"]},
    }
    prepared = chat.prepare([{"role": "system", "content": said}, asked], query=said)
    reply = {"role": "assistant", "content": f"Done: {said}", "id": f"r {said}", "name": said}
    chat.finish(prepared, {**reply, "tool_calls": [call]})
    answer = {"role": "tool", "content": said, "tool_call_id": said, "name": f"deploy_{said}"}
    history = [asked, {**reply, "tool_calls": [call]}, {**answer, "id": said}]
    chat.capture(history)
    chat.compact(history, window=4000)
    failed = chat.prepare([*history, {"role": "user", "content": f"Again {said}"}])
    chat.finish(failed, error=f"401: {said}")
    for tool in memory_tools(chat):
        if tool.name == "mem_search":
            tool(query=said)
    ctx.search(f"zebra {said}", scope=f"project:{said}")
    ctx.why(said)
    chat.end(said, decisions=[said], concepts=[said], files=[said])
    with pytest.raises(LookupError):
        ctx.forget(said)
    ctx.forget(source=f"no {said}")
    ctx.export(folder / "export.jsonl")
    chat.forgiving().prepare([asked])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("user", [False, True], ids=["one user", "a secret for a user"])
def test_a_secret_in_any_argument_is_in_no_byte_that_is_left(tmp_path, caplog, form, user):
    said = FORMS[form]
    caplog.set_level(logging.DEBUG, logger="ctxmw")
    offers = [Offer(kind="rule", name=f"o {said}", content=said, include="always")]
    options = {"offers": offers, "sources": [Chatty(f"zebra {said}")], "strict": False}
    who = {"user": f"ann {said}"} if user else {}
    with opened(tmp_path / "memory.db", embedder=Leaky(64), **options, **who) as ctx:
        use_everything(ctx, said, tmp_path)
        while_open = every_byte(tmp_path)
    for left in (while_open, every_byte(tmp_path), caplog.text.encode()):
        assert said.encode() not in left
        assert LEAK.encode() not in left.replace("\u200b".encode(), b"").replace(b"\x02", b"")


@pytest.fixture
def spans(monkeypatch):
    exporter = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    return exporter.get_finished_spans


def test_no_span_tells_a_secret(tmp_path, spans):
    with opened(tmp_path / "memory.db", tracing=Tracing(content=True)) as ctx:
        use_everything(ctx, SECRET, tmp_path)
    told = " ".join(f"{span.name} {dict(span.attributes)}" for span in spans())
    assert "gen_ai.memory.query.text" in told
    assert LEAK not in told


def test_two_names_with_secrets_stay_two_and_are_found_again(tmp_path):
    one, other = (TOKENS["github"](Chance(name)) for name in "ab")
    with opened(tmp_path / "memory.db", user=None) as ctx:
        for secret in (one, other):
            ctx.remember(f"tea of {secret[-4:]}", key=secret, user=secret, source=secret)
            chat = ctx.session(secret, user=secret)
            chat.note("next", "water the plants")
        assert len(ctx.search("tea", user=one)) == 1
        assert ctx.session(one, user=one).id == ctx.session(one, user=one).id
        assert ctx.session(one, user=one).id != ctx.session(other, user=one).id
        assert ctx.forget(session=one, user=one) == 1
        assert ctx.forget(source=one, user=one) == 1
        assert ctx.forget(source=other, user=other) == 1


@pytest.mark.parametrize("kind", [*TOKENS, *PLACES])
def test_a_name_without_its_secret_stays_the_same_when_asked_again(kind):
    make = TOKENS.get(kind)
    said = make(Chance(kind)) if make else PLACES[kind](Chance(kind))[0]
    name = redact_name(said)
    assert name != said
    assert redact_name(name) == name
    assert redact(name).text == name


def test_a_name_tells_that_a_value_is_secret():
    given = {"password": "correcthorse", "n": 3, "list": [{"api_key": "4f9a7c1e2b3d4f5a"}, None]}
    assert redact_values(given) == {
        "password": "[REDACTED:password]",
        "n": 3,
        "list": [{"api_key": "[REDACTED:key]"}, None],
    }


def test_what_is_written_past_every_check_is_redacted_in_front_of_the_store(tmp_path):
    with opened(tmp_path / "memory.db") as ctx:
        body = f'{{"title": "\\n{SECRET}", "names": ["{SECRET}"]}}'
        names = {"session": SECRET, "key": SECRET, "source": SECRET, "scope": f"project:{SECRET}"}
        row = Row(user="ann", ref="x1", type="other", at=datetime.now(UTC), body=body, **names)
        ctx.store.put([row])
        (stored,) = ctx.store.get("ann", ["x1"])
        assert LEAK not in repr(stored)
        assert stored.scope == f"project:{redact_name(SECRET)}"
    with sqlite3.connect(tmp_path / "memory.db") as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    connection.close()


def test_every_sample_is_redacted_in_front_of_the_store(tmp_path):
    with opened(tmp_path / "memory.db") as ctx:
        given = list(samples())
        body = [json.dumps({"a": "x", "said": f"so:\n{one.text}"}) for one in given]
        now = datetime.now(UTC)
        rows = [
            Row(user="ann", ref=f"x{place}", type="other", at=now, body=said)
            for place, said in enumerate(body)
        ]
        ctx.store.put(rows)
        stored = [
            json.loads(row.body)["said"] for row in ctx.store.get("ann", [r.ref for r in rows])
        ]
    left = zip(given, stored, strict=True)
    assert [f"{one.kind}: {one.carrier}" for one, text in left if one.leak in clean(text)] == []


def test_a_traceback_that_quotes_a_secret_is_logged_without_it(tmp_path, caplog):
    with opened(tmp_path / "memory.db"):
        try:
            raise ValueError(SECRET)
        except ValueError:
            logging.getLogger("ctxmw").exception("failed with %s", SECRET)
    assert "ValueError" in caplog.text
    assert LEAK not in caplog.text
