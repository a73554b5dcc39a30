"""`%load_ext ctxmw`: the memory at hand in a notebook, as `%ctx` and `%%ctx`.

    %ctx open memory.db                    use this memory; no path: the one in the data folder
    %ctx remember TEXT --kind preference   remember a line; as %%ctx remember the whole cell
    %ctx search WORDS                      what was remembered or said
    %ctx why ANSWER                        what the model was given for an answer
    %ctx forget REF                        remove a record
    %ctx rate ANSWER                       buttons: what helped; no answer: of `prepared`
    %ctx index PATH --project shop         know the code of a folder
    %ctx import FILE --from chatgpt        take in an export, or what another memory left
    %ctx reindex                           embed everything anew, after the embedder changed

    %%ctx --session s1 --project shop      the cell is a message: see what goes along with it

`%%ctx` leaves the prepared prompt in the variable `prepared`. With `--call NAME` the function of
that name is given the messages and returns the reply, and the conversation goes on with the next
cell of the same session.
"""

from __future__ import annotations

import shlex
from argparse import ArgumentParser, Namespace
from typing import Any, NoReturn

from ..code.indexer import Indexed
from ..conversation.conversation import Prepared
from ..conversation.record import ContextRecord
from ..errors import CtxmwError, MissingPackage
from ..memory.hits import Hits
from ..middleware import ContextMiddleware
from ..values.messages import Message, message_text
from ..values.records import Memory
from .progress_bar import progress
from .thumbs import rating_buttons

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
        """Use the memory: open, remember, search, why, forget; with a cell: inject, remember.

        What does not work is told in one line: whoever writes a magic wants no traceback of ours.
        """
        try:
            return self._run(line, cell)
        except (CtxmwError, OSError) as error:
            raise UsageError(f"%ctx: {error}") from None

    def _run(self, line: str, cell: str | None) -> object:
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
        long = {"index": self._index, "import": self._import, "reindex": self._reindex}
        return {"open": self._open, "remember": self._remember, **found, "rate": self._rate, **long}

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

    def _rate(self, words: list[str], _: str) -> object:
        answer, prepared = " ".join(words), self._names.get("prepared")
        if answer:
            record = self._memory().why(answer)
        else:
            record = prepared.context if isinstance(prepared, Prepared) else None
        if record is None:
            raise UsageError("%ctx rate: there is no such call; say which answer, or run a %%ctx.")
        return rating_buttons(self._memory(), record)

    def _index(self, words: list[str], _: str) -> Indexed:
        parser = _parser("index")
        parser.add_argument("--project")
        chosen, path = _parsed(parser, words)
        shown = progress(f"indexing {path or 'here'}")
        return self._memory().index_code(path or ".", project=chosen.project, progress=shown)

    def _import(self, words: list[str], _: str) -> object:
        parser = _parser("import")
        parser.add_argument("--from", dest="source")
        parser.add_argument("--of")
        chosen, path = _parsed(parser, words)
        shown = progress(f"importing {path}")
        if chosen.source is None:
            return self._memory().import_(path, progress=shown)
        return self._memory().import_from(chosen.source, path, of=chosen.of, progress=shown)

    def _reindex(self, words: list[str], _: str) -> int:
        _parsed(_parser("reindex"), words)
        return self._memory().reindex(progress=progress("embedding"))

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
