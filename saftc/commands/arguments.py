"""The words of a command, brought into the order in which typer reads them.

    script.saft --verbose               run script.saft --verbose
    --provider mock script.saft         run --provider mock script.saft
    check src -q                        -q check src
    -c 'print(1)'                       run -c 'print(1)'

Options of all commands go to the front, wherever they stand; those before a command or a script go
behind it. What is behind `--` is the script's own.
"""

import os
from collections.abc import Sequence
from typing import Any

# What the command without a command answers.
_QUESTIONS = {"--help", "-h", "--version"}


def in_order(words: Sequence[str], command: Any) -> list[str]:
    """The arguments that `words` mean to `command`, typer's own; the help when there are none."""
    if not words:
        return ["--help"]
    of_all, of_run = _options(command), _options(command.commands["run"])
    takes_value = of_all | of_run
    front: list[str] = []
    options: list[str] = []
    chosen: list[str] = []
    place = 0
    while place < len(words) and words[place] != "--":
        name, has_value, _ = words[place].partition("=")
        count = 2 if takes_value.get(name) and not has_value else 1
        pair = words[place : place + count]
        if name in of_all:
            front += pair
        elif not chosen and name.startswith("-") and name != "-":
            options += pair
        else:
            chosen += pair
        place += count
    chosen += words[place:]
    if _QUESTIONS & set(options):
        return [*front, *options, *chosen]
    if _is_run(options, chosen, of_run, command):
        return [*front, "run", *options, *chosen]
    return [*front, *chosen[:1], *options, *chosen[1:]]


def _is_run(options: list[str], chosen: list[str], of_run: dict[str, bool], command: Any) -> bool:
    """Whether a script is to be run, although the word for it is left out."""
    if "-c" in options:
        return True
    has_its_options = any(word.partition("=")[0] in of_run for word in options)
    if not chosen or chosen[0] == "--":
        return has_its_options
    if chosen[0] in command.commands:
        return False
    return has_its_options or _looks_like_a_script(chosen[0])


def _looks_like_a_script(word: str) -> bool:
    return word == "-" or any(mark in word for mark in "./" + os.sep) or os.path.isfile(word)


def _options(command: Any) -> dict[str, bool]:
    """The options of a command, and whether a value follows."""
    return {
        name: not parameter.is_flag
        for parameter in command.params
        for name in parameter.opts
        if name.startswith("-") and name not in _QUESTIONS
    }
