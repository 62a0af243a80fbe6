"""The standard streams of a command: there, and able to take every character."""

import io
import os
import sys
from typing import TextIO


def open_closed_streams() -> None:
    """Standard streams that were closed are empty: what is opened next would take their place."""
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            while (descriptor := os.open(os.devnull, os.O_RDWR)) < number:
                pass
            setattr(sys, name, os.fdopen(descriptor, "w" if number else "r", encoding="utf-8"))


def print_everything(stream: TextIO) -> None:
    """What the encoding of a stream does not have is written with backslashes."""
    if isinstance(stream, io.TextIOWrapper):
        stream.reconfigure(errors="backslashreplace")


def give_up_output() -> None:
    """What is left to be written to standard output goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
