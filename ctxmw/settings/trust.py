"""What a file with settings may do that merely lies in a folder: it may be anybody's.

Whoever clones a repository has not read its settings. So a file that was found sets amounts and
switches, and nothing that decides where words go, whose they are, which code runs, what is written
or what a model is told. The rest needs a word of the person: the file is named (`--config`,
CTXMW_CONFIG), or trusted once (`ctxmw trust`). That is remembered in the data folder by the file's
path and what it sets: when that changes, it has to be trusted again.
"""

from __future__ import annotations

import json
import shlex
import tempfile
from collections.abc import Collection, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any, Literal

from pydantic import TypeAdapter, ValidationError

from ..errors import CtxmwError, InvalidValue, NotTrusted
from ..store.open import data_folder
from ..text.secrets.redaction import redact
from .file import SettingsFile, content_of

Verdict = Literal["harmless", "left out", "refused"]

VERDICTS: Mapping[str, Verdict] = {
    # Going on without these would write to another memory than the file says, or write what it
    # says must not be written: so nothing is done at all.
    "store": "refused",
    "user": "refused",
    "index": "refused",
    "embedder": "refused",
    "redaction": "refused",
    # Words for the model, which tools it is handed, and whether a folder's own code and documents
    # speak to it from the system prompt.
    "catalog": "left out",
    "servers": "left out",
    "placement": "left out",
    # It removes what the person has: without it, everything is kept.
    "retention": "left out",
    # A folder says what it is called, and what is written in it, by its other files too.
    "project": "harmless",
    "language": "harmless",
    # Amounts and switches: how much of the person's own memory is shown, how, and how quickly.
    "enabled": "harmless",
    "max_tokens": "harmless",
    "max_context_tokens": "harmless",
    "min_relevance": "harmless",
    "include_decisions": "harmless",
    "include_session_history": "harmless",
    "recent_sessions": "harmless",
    "max_index_entries": "harmless",
    "appetite": "harmless",
    "renderer": "harmless",
    "model": "harmless",
    "window": "harmless",
    "deadline": "harmless",
    "strict": "harmless",
    "index_folders": "harmless",
    "max_sections": "harmless",
    "triggers": "harmless",
    "budget": "harmless",
    "on_demand": "harmless",
    "weights": "harmless",
    "floors": "harmless",
    "agent_search": "harmless",
    "compaction": "harmless",
}
"""What becomes of each key of a file that was found and is not trusted."""

_HARMLESS_VALUES: Mapping[str, Collection[str]] = {
    "user": ("local",),
    "embedder": ("wordllama", "minilm"),
    "index": ("numpy", "chroma", "pgvector"),
    "placement": ("split", "system_end"),
}
"""Values that hold anyway, or stay on this machine and run nobody's code."""


def needs_trust(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a file sets that one that was merely found may not."""
    return {key: value for key, value in content.items() if verdict(key, value) != "harmless"}


def verdict(key: str, value: object) -> Verdict:
    """Return what becomes of a setting of a found file; of one nobody judged, the worst."""
    if isinstance(value, str) and value in _HARMLESS_VALUES.get(key, ()):
        return "harmless"
    return "harmless" if _sets_nothing(value) else VERDICTS.get(key, "refused")


def _sets_nothing(value: object) -> bool:
    """Say whether it is a table or a list in which nothing stands, as `ctxmw init` writes them."""
    if isinstance(value, Mapping):
        return all(map(_sets_nothing, value.values()))
    return isinstance(value, list) and not value


def allowed(file: SettingsFile, given: Collection[str]) -> tuple[dict[str, Any], str]:
    """Return what a file may set here, and in one line what was left out of it; "" for nothing.

    Raises when nothing can be done without what it may not set. What is `given` by the environment
    or by arguments is not asked of the file.
    """
    content, asked = dict(file.content), needs_trust(file.content)
    if not file.found or not asked or Trusted.here().holds(file):
        return content, ""
    missing = {key: value for key, value in asked.items() if key not in given}
    refused = {key: value for key, value in missing.items() if verdict(key, value) == "refused"}
    if refused:
        raise NotTrusted(
            f"{file.path} was only found, and may not set {told(refused)}. {remedy(file.path)}"
        )
    left = {key: value for key, value in content.items() if key not in asked}
    keys = " and ".join(missing)
    says = f"{file.path} was only found: {keys} in it left out. {remedy(file.path)}"
    return left, says if missing else ""


def told(settings: Mapping[str, Any]) -> str:
    """Return settings as a person reads them in one line, whole: who trusts must see what."""
    said = [f"{key} ({redact(repr(value)).text})" for key, value in settings.items()]
    return " and ".join(said)


def remedy(path: Path) -> str:
    """Return how a person allows what a file sets."""
    folder = shlex.quote(str(path.parent))
    return f"If you trust it: ctxmw trust {folder} (or name it: --config, CTXMW_CONFIG)."


class Trusted:
    """The files that the person trusts, in the data folder and never beside what they say."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @classmethod
    def here(cls) -> Trusted:
        """Return those of the person at this machine."""
        return cls(data_folder() / "trusted.json")

    def holds(self, file: SettingsFile) -> bool:
        """Say whether a file is trusted with what it sets now."""
        return self.hashes().get(str(file.path)) == content_hash(file.content)

    def add(self, file: SettingsFile) -> None:
        """Trust a file with what it sets now."""
        self._write({**self.hashes(), str(file.path): content_hash(file.content)})

    def remove(self, path: Path) -> bool:
        """Trust a file no longer; say whether it was."""
        hashes = self.hashes()
        if hashes.pop(str(path), None) is None:
            return False
        self._write(hashes)
        return True

    def states(self) -> dict[str, str]:
        """Return each file that was trusted, and whether that still holds."""
        return {path: _state(Path(path), known) for path, known in sorted(self.hashes().items())}

    def hashes(self) -> dict[str, str]:
        """Return the hash that each file was trusted with."""
        try:
            return _HASHES.validate_json(self.path.read_bytes())
        except FileNotFoundError:
            return {}
        except (OSError, ValidationError) as error:
            raise InvalidValue(
                f"{self.path} cannot be read: remove it, and trust your files again."
            ) from error

    def _write(self, hashes: Mapping[str, str]) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile("w", dir=self.path.parent, delete=False) as file:
            json.dump(hashes, file, indent=2)
        Path(file.name).replace(self.path)


_HASHES = TypeAdapter(dict[str, str])


def content_hash(content: Mapping[str, Any]) -> str:
    """Return the hash of what a file sets; comments and other tables make no difference."""
    text = json.dumps(content, sort_keys=True, default=repr)
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def _state(path: Path, known: str) -> str:
    try:
        return "trusted" if content_hash(content_of(path)) == known else "changed since"
    except CtxmwError:
        return "gone"
