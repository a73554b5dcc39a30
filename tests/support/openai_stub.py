"""An OpenAI-compatible server on 127.0.0.1: answers from a script and keeps what it was asked.

    with OpenAIStub([Calls(("mem_search", {"query": "login"})), "It uses JWT."]) as server:
        client(base_url=server.url, api_key="none")
        server.requests[0]["messages"]

Each request takes the next answer of the script; past its end the answer is `OTHERWISE`. A forced
tool and a response_format with a schema are honoured without a script: arguments and objects are
made from the schema. JSON or server-sent events, as the request wants it.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

OTHERWISE = "Understood."


class Calls(tuple[tuple[str, Mapping[str, Any]], ...]):
    """An answer that calls tools: Calls(("mem_search", {"query": "login"}), ...)."""

    __slots__ = ()

    def __new__(cls, *calls: tuple[str, Mapping[str, Any]]) -> Self:
        return super().__new__(cls, calls)


@dataclass(frozen=True, slots=True)
class Refusal:
    """An answer that is an HTTP error."""

    status: int = 500
    text: str = "the stub was told to fail"


Answer = str | Calls | Refusal
Script = Sequence[Answer] | Callable[[Mapping[str, Any]], Answer]
"""Answers in order, or a function from a request's body to its answer."""


class OpenAIStub:
    """The server; `with` starts and stops it."""

    def __init__(self, script: Script = ()) -> None:
        self.requests: list[dict[str, Any]] = []
        """The bodies of the requests, oldest first."""
        self._script = script
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))

    @property
    def url(self) -> str:
        """What a client takes as its base URL."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def answer(self, body: dict[str, Any]) -> Answer:
        """Keep the request and return what it is answered with."""
        with self._lock:
            at = len(self.requests)
            self.requests.append(body)
        if forced := _forced(body):
            return forced
        if callable(self._script):
            return self._script(body)
        return self._script[at] if at < len(self._script) else OTHERWISE


def _handler(stub: OpenAIStub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            if not self.path.endswith("/chat/completions"):
                return self._json(404, {"error": {"message": f"no such path: {self.path}"}})
            answer = stub.answer(body)
            if isinstance(answer, Refusal):
                return self._json(answer.status, {"error": {"message": answer.text}})
            if body.get("stream"):
                return self._events(_chunks(body, answer))
            return self._json(200, _completion(body, answer))

        def log_message(self, *_: object) -> None:
            """Say nothing."""

        def _json(self, status: int, value: object) -> None:
            sent = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(sent)))
            # A client that keeps its connection leaves it open where its event loop ends first.
            self.send_header("Connection", "close")
            self.end_headers()
            self.wfile.write(sent)
            self.close_connection = True

        def _events(self, chunks: Iterator[dict[str, Any]]) -> None:
            self.send_response(200)
            self.send_header("Content-Type", "text/event-stream")
            # No length is known: the end of the answer is the end of the connection.
            self.send_header("Connection", "close")
            self.end_headers()
            self.close_connection = True
            try:
                for chunk in chunks:
                    self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
                    self.wfile.flush()
                self.wfile.write(b"data: [DONE]\n\n")
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client closed the stream early

    return Handler


def _completion(body: Mapping[str, Any], answer: str | Calls) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": None}
    if isinstance(answer, str):
        message["content"] = answer
    else:
        message["tool_calls"] = _tool_calls(body, answer)
    choice = {"index": 0, "message": message, "finish_reason": _reason(answer)}
    return {**_head(body, "chat.completion"), "choices": [choice], "usage": _usage(body, answer)}


def _chunks(body: Mapping[str, Any], answer: str | Calls) -> Iterator[dict[str, Any]]:
    head = _head(body, "chat.completion.chunk")
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": ""}]
    if isinstance(answer, str):
        deltas += [{"content": piece} for piece in _pieces(answer)]
    else:
        for at, call in enumerate(_tool_calls(body, answer)):
            said = call["function"]["arguments"]
            opening = {**call, "function": {**call["function"], "arguments": ""}}
            deltas.append({"tool_calls": [{"index": at, **opening}]})
            for piece in (said[: len(said) // 2], said[len(said) // 2 :]):
                deltas.append({"tool_calls": [{"index": at, "function": {"arguments": piece}}]})
    for delta in deltas:
        yield {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": _reason(answer)}]}
    if (body.get("stream_options") or {}).get("include_usage"):
        yield {**head, "choices": [], "usage": _usage(body, answer)}


def _head(body: Mapping[str, Any], kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-stub", "object": kind, "created": 0, "model": body.get("model", "stub")}


def _reason(answer: str | Calls) -> str:
    return "stop" if isinstance(answer, str) else "tool_calls"


def _pieces(text: str) -> list[str]:
    words = text.split(" ")
    return [f"{word} " for word in words[:-1]] + words[-1:]


def _tool_calls(body: Mapping[str, Any], calls: Calls) -> list[dict[str, Any]]:
    # An id is never used twice in a conversation: it counts the calls made before.
    made = sum(len(message.get("tool_calls") or ()) for message in body["messages"])
    return [
        {
            "id": f"call_{made + at}",
            "type": "function",
            "function": {"name": name, "arguments": json.dumps(args)},
        }
        for at, (name, args) in enumerate(calls)
    ]


def _usage(body: Mapping[str, Any], answer: str | Calls) -> dict[str, int]:
    asked = sum(len(str(message.get("content") or "").split()) for message in body["messages"])
    said = len(str(answer).split())
    return {"prompt_tokens": asked, "completion_tokens": said, "total_tokens": asked + said}


def _forced(body: Mapping[str, Any]) -> Answer | None:
    """Return what a schema or a forced tool asks for; None when the answer is free."""
    wanted = body.get("response_format") or {}
    if wanted.get("type") == "json_schema":
        return json.dumps(_example(wanted["json_schema"]["schema"]))
    if wanted.get("type") == "json_object":
        return json.dumps({"answer": OTHERWISE})
    choice = body.get("tool_choice")
    if isinstance(choice, dict):
        name = choice["function"]["name"]
        tools = {tool["function"]["name"]: tool["function"] for tool in body["tools"]}
        return Calls((name, _example(tools[name].get("parameters") or {})))
    return None


def _example(schema: Mapping[str, Any], root: Mapping[str, Any] | None = None) -> Any:
    """Return the plainest value that fits a JSON schema."""
    root = schema if root is None else root
    if ref := schema.get("$ref"):
        return _example(root["$defs"][ref.rpartition("/")[2]], root)
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return _example(schema["anyOf"][0], root)
    if schema.get("type") == "array":
        return [_example(schema.get("items") or {}, root)]
    if "properties" in schema:
        return {name: _example(inner, root) for name, inner in schema["properties"].items()}
    plain = {"string": "stub", "integer": 1, "number": 1.0, "boolean": True, "object": {}}
    return plain.get(schema.get("type", ""), "stub")
