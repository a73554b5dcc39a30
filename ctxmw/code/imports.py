"""Which file an import means, told from how it is written.

"pkg.module:name" is Python's `from pkg.module import name`; other languages give a path or a dotted
name. Where the root of the imports is, nobody says: an end that agrees is enough.
"""

from __future__ import annotations

from .files import module_name


def means(text: str, importer: str, path: str) -> bool:
    """Say whether an import, as it is written in one file, is of another file."""
    name = module_name(path)
    if text.startswith("."):
        return _means_relative(text, importer, path, name)
    module, _, what = text.partition(":")
    spelled = module.replace("/", ".").removeprefix("@")
    return any(
        _dotted_end(one, name) for one in (spelled, f"{spelled}.{what}" if what else spelled)
    )


def _means_relative(text: str, importer: str, path: str, name: str) -> bool:
    if "/" in text:
        base = importer.split("/")[:-1]
        for part in text.split("/"):
            base = base[:-1] if part == ".." else base if part == "." else [*base, part]
        target = "/".join(base)
        stem_ = path.rpartition(".")[0]
        return target in (path, stem_, stem_.removesuffix("/index"))
    module, _, what = text.partition(":")
    level = len(module) - len(module.lstrip("."))
    package = importer.split("/")[:-1]
    package = package[: len(package) - level + 1]
    spelled = ".".join([*package, *filter(None, module.lstrip(".").split("."))])
    return name in (spelled, f"{spelled}.{what}".strip("."))


def last_names(text: str) -> set[str]:
    """Return the last parts of what an import names: of the module, and of what is taken."""
    module, _, what = text.partition(":")
    last = module.replace("/", ".").rstrip(".").removesuffix(".js").removesuffix(".ts")
    return {name for name in (last.rpartition(".")[2], what) if name}


def _dotted_end(spelled: str, name: str) -> bool:
    longer, shorter = sorted((spelled, name), key=len, reverse=True)
    return longer == shorter or longer.endswith(f".{shorter}")
