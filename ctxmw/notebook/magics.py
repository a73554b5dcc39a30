"""`%load_ext ctxmw`: the memory at hand in a notebook, as `%ctx` and `%%ctx`.

    %ctx open memory.db                    use this memory; no path: the one in the data folder
    %ctx remember TEXT --kind preference   remember a line; as %%ctx remember the whole cell
    %ctx search WORDS                      what was remembered or said
    %ctx why ANSWER                        what the model was given for an answer
    %ctx forget REF                        remove a record

    %%ctx --session s1 --project shop      the cell is a message: see what goes along with it

`%%ctx` leaves the prepared prompt in the variable `prepared`. With `--call NAME` the function of
that name is given the messages and returns the reply, and the conversation goes on with the next
cell of the same session.
"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from typing import Any, NoReturn

from ..conversation.conversation import Prepared
from ..conversation.record import ContextRecord
from ..errors import MissingPackage
from ..memory.hits import Hits
from ..middleware import ContextMiddleware
from ..values.messages import Message, message_text
from ..values.records import Memory

try:
    from IPython.core.error import UsageError
    from IPython.core.magic import Magics, line_cell_magic, magics_class
except ImportError as error:
    raise MissingPackage('the magics need IPython: pip install "ctxmw[notebook]"') from error


@magics_class
class ContextMagics(Magics):
    """`%ctx` and `%%ctx`."""

    def __init__(self, shell: Any) -> None:
        super().__init__(shell)
        self._names: dict[str, Any] = shell.user_ns
        self._said: dict[str, list[Message]] = {}

    @line_cell_magic
    def ctx(self, line: str, cell: str | None = None) -> object:
        """Use the memory: open, remember, search, why, forget; with a cell: inject, remember."""
        words = _words(line)
        known = {**self._cell_verbs, "": self._inject} if cell is not None else self._line_verbs
        verb = words.pop(0) if words[:1] and words[0] in known else ""
        if verb not in known:
            given = f"{words[0]!r} is not one of them" if words else "nothing was given"
            raise UsageError(
                f"%ctx takes {', '.join(known)}; {given}. See: help('ctxmw.notebook.magics')"
            )
        return known[verb](words, cell or "")

    @property
    def _line_verbs(self) -> dict[str, Any]:
        found = {"search": self._search, "why": self._why, "forget": self._forget}
        return {"open": self._open, "remember": self._remember, **found}

    @property
    def _cell_verbs(self) -> dict[str, Any]:
        return {"inject": self._inject, "remember": self._remember}

    def _open(self, words: list[str], _: str) -> None:
        """Open a memory and leave it in the variable `ctx`."""
        path = " ".join(words)
        self._names["ctx"] = ContextMiddleware.open(path) if path else _default()

    def _remember(self, words: list[str], cell: str) -> Memory:
        parser = _parser("remember")
        for option in ("--kind", "--scope", "--key"):
            parser.add_argument(option)
        chosen, text = _parsed(parser, words)
        options = {name: value for name, value in vars(chosen).items() if value is not None}
        return self._memory().remember(cell.strip() or text, **options)

    def _search(self, words: list[str], _: str) -> Hits:
        parser = _parser("search")
        parser.add_argument("--limit", type=int, default=10)
        chosen, query = _parsed(parser, words)
        return self._memory().search(query, limit=chosen.limit)

    def _why(self, words: list[str], _: str) -> ContextRecord | str:
        return self._memory().why(" ".join(words)) or "No context data available"

    def _forget(self, words: list[str], _: str) -> int:
        return self._memory().forget(" ".join(words))

    def _inject(self, words: list[str], cell: str) -> Prepared:
        """Prepare the cell as a message; with `--call`, have it answered and keep the answer."""
        parser = _parser("inject")
        for option in ("--session", "--project", "--language", "--call"):
            parser.add_argument(option)
        chosen, rest = _parsed(parser, words)
        if rest:
            raise UsageError(f"%%ctx does not know {rest!r}: the message goes into the cell.")
        place = {"project": chosen.project, "language": chosen.language}
        chat = self._memory().session(chosen.session or "notebook", **place)
        said = self._said.setdefault(chat.id, [])
        asked: Message = {"role": "user", "content": cell.strip()}
        prepared = chat.prepare([*said, asked])
        self._names["prepared"] = prepared
        if chosen.call:
            reply = _message(self._function(chosen.call)(prepared.messages))
            chat.finish(prepared, reply)
            said += [asked, reply]
            print(message_text(reply))  # noqa: T201 - a notebook shows what was answered
        return prepared

    def _memory(self) -> ContextMiddleware:
        ctx = self._names.get("ctx")
        if not isinstance(ctx, ContextMiddleware):
            ctx = self._names["ctx"] = _default()
        return ctx

    def _function(self, name: str) -> Any:
        found = self._names.get(name)
        if not callable(found):
            raise UsageError(f"--call {name}: define a function {name}(messages) first.")
        return found


def register(shell: Any) -> None:
    """Have an IPython shell know the magics."""
    shell.register_magics(ContextMagics(shell))


class _Parser(ArgumentParser):
    def error(self, message: str) -> NoReturn:
        raise UsageError(f"%ctx {self.prog}: {message}")


def _parser(verb: str) -> _Parser:
    return _Parser(prog=verb, add_help=False, allow_abbrev=False)


def _parsed(parser: _Parser, words: list[str]) -> tuple[Namespace, str]:
    """Return the options, and whatever else was written as one text."""
    chosen, rest = parser.parse_known_args(words)
    return chosen, " ".join(rest)


def _words(line: str) -> list[str]:
    # "don't" is an apostrophe and no quote, unless quotes come in pairs.
    try:
        return shlex.split(line)
    except ValueError:
        return line.split()


def _default() -> ContextMiddleware:
    ctx = ContextMiddleware.open()
    print("using the memory in the data folder; another one: %ctx open PATH")  # noqa: T201
    return ctx


def _message(reply: object) -> Message:
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    if isinstance(reply, dict):
        return reply
    raise UsageError(f"--call: give back text or a message, not {type(reply).__name__}.")
