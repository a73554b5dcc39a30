"""`ctxmw completion`: the Tab key knows the commands and what they take."""

from __future__ import annotations

import argparse

from .terminal import Terminal

HELP = "print a script that completes commands and options in your shell"

_BASH = """\
# bash: ctxmw completion bash >> ~/.bashrc
_ctxmw() {{
  local words
  case "${{COMP_WORDS[1]}}" in
{cases}
    *) words="{commands}" ;;
  esac
  [ "$COMP_CWORD" -eq 1 ] && words="{commands}"
  COMPREPLY=($(compgen -W "$words" -- "${{COMP_WORDS[COMP_CWORD]}}"))
  [ "${{#COMPREPLY[@]}}" -gt 0 ] || COMPREPLY=($(compgen -f -- "${{COMP_WORDS[COMP_CWORD]}}"))
}}
complete -F _ctxmw ctxmw
"""
_ZSH = "# zsh: ctxmw completion zsh >> ~/.zshrc\nautoload -U +X bashcompinit && bashcompinit\n"
_FISH = "complete -c ctxmw -n __fish_use_subcommand -a {name} -d {help!r}"
_FISH_OPTION = "complete -c ctxmw -n '__fish_seen_subcommand_from {name}' -l {option} -d {help!r}"


def options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", choices=("bash", "zsh", "fish"))


def run(chosen: argparse.Namespace, terminal: Terminal) -> None:
    """Print the script; it is made from the commands as they are."""
    from ..main import parsers

    commands = parsers()
    if chosen.shell == "fish":
        for name, parser in commands.items():
            terminal.line(_FISH.format(name=name, help=parser.description))
            for option, told in _options(parser).items():
                terminal.line(_FISH_OPTION.format(name=name, option=option[2:], help=told))
        return
    cases = "\n".join(
        f'    {name}) words="{" ".join(_options(parser))}" ;;' for name, parser in commands.items()
    )
    script = _BASH.format(cases=cases, commands=" ".join(commands))
    terminal.raw(script if chosen.shell == "bash" else _ZSH + script)


def _options(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Return the long options, each with what it does."""
    return {
        option: (action.help or "").replace("'", "")
        for action in parser._actions
        for option in action.option_strings
        if option.startswith("--")
    }
