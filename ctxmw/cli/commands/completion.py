"""`ctxmw completion`: the Tab key knows the commands, what they take, and its values."""

from __future__ import annotations

import argparse
from collections.abc import Iterable

from . import DONE, NOTHING_FOUND
from .terminal import Terminal

HELP = "print a script that completes commands, options and values in your shell"

_BASH = """\
# bash: ctxmw completion bash >> ~/.bashrc
_ctxmw() {{
  local words command="${{COMP_WORDS[1]}}" word="${{COMP_WORDS[COMP_CWORD]}}"
  case "$command ${{COMP_WORDS[COMP_CWORD-1]}}" in
{values}
    *) case "$command" in
{cases}
      *) words="{commands}" ;;
    esac ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
  local IFS=$' \\n'
  COMPREPLY=($(compgen -W "$words" -- "$word"))
  [ "${{#COMPREPLY[@]}}" -gt 0 ] || COMPREPLY=($(compgen -f -- "$word"))
}}
complete -F _ctxmw ctxmw
"""
_ZSH = "# zsh: ctxmw completion zsh >> ~/.zshrc\nautoload -U +X bashcompinit && bashcompinit\n"
_FISH = "complete -c ctxmw -n __fish_use_subcommand -a {name} -d {help!r}"
_FISH_OPTION = "complete -c ctxmw -n '__fish_seen_subcommand_from {name}' -l {option} -d {help!r}"
_FISH_WORDS = "complete -c ctxmw -n '__fish_seen_subcommand_from {name}' -a {values!r}"

STORED = {"--session": "sessions", "--end": "sessions", "--project": "projects"}
"""Options whose values are in the memory, and what they are."""


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", nargs="?", choices=("bash", "zsh", "fish"))
    parser.add_argument(
        "--values",
        choices=sorted(set(STORED.values())),
        help="print these, one a line: the scripts ask for them when Tab is pressed",
    )


def run(chosen: argparse.Namespace, terminal: Terminal) -> int:
    """Print the script, made from the commands as they are; or values of the memory."""
    from ...errors import InvalidValue

    if chosen.values:
        return _print_stored(chosen, terminal)
    if chosen.shell is None:
        raise InvalidValue("say for which shell: bash, zsh or fish.")
    from ..main import parsers

    commands = parsers()
    if chosen.shell == "fish":
        for line in _fish(commands):
            terminal.line(line)
        return DONE
    script = _bash(commands)
    terminal.raw(script if chosen.shell == "bash" else _ZSH + script)
    return DONE


def _print_stored(chosen: argparse.Namespace, terminal: Terminal) -> int:
    from .memory import existing

    with existing(chosen) as ctx:
        states = ctx.sessions()
    every = [one.session if chosen.values == "sessions" else one.project for one in states]
    # What holds a blank is two words to a shell.
    found = [one for one in dict.fromkeys(every) if one and one.isprintable() and " " not in one]
    for one in found:
        terminal.line(one)
    return DONE if found else NOTHING_FOUND


def _bash(commands: dict[str, argparse.ArgumentParser]) -> str:
    values, cases = [], []
    for name, parser in commands.items():
        words = [*_options(parser), *_positional(parser)]
        cases.append(f'      {name}) words="{" ".join(words)}" ;;')
        for option, choices in _choices(parser).items():
            values.append(f'    "{name} {option}") words="{choices}" ;;')
    known = " ".join([*commands, "help"])
    cases.append(f'      help) words="{" ".join(commands)}" ;;')
    return _BASH.format(values="\n".join(values), cases="\n".join(cases), commands=known)


def _fish(commands: dict[str, argparse.ArgumentParser]) -> Iterable[str]:
    for name, parser in commands.items():
        yield _FISH.format(name=name, help=parser.description)
        choices = _choices(parser)
        for option, told in _options(parser).items():
            line = _FISH_OPTION.format(name=name, option=option[2:], help=told)
            values = choices.get(option, "").replace("$(", "(")
            yield f"{line} -x -a {values!r}" if values else line
        if words := _positional(parser):
            yield _FISH_WORDS.format(name=name, values=" ".join(words))


def _options(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the long options, each with what it does."""
    return {
        option: (action.help or "").replace("'", "")
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--")
    }


def _choices(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the values of each option that has some: as words, or as what a shell runs."""
    found: dict[str, str] = {}
    for action in parser._actions:
        for option in action.option_strings:
            if action.choices:
                found[option] = " ".join(map(str, action.choices))
            elif option in STORED:
                found[option] = f"$(ctxmw completion --values {STORED[option]} 2>/dev/null)"
    return found


def _positional(parser: argparse.ArgumentParser) -> list[str]:
    """Return the words that can stand without an option."""
    plain = [action for action in parser._actions if not action.option_strings]
    return [str(choice) for action in plain for choice in action.choices or ()]
