"""`python -m saftc.play.named_run NAME SIZE ROOT`: runs a script under the file name NAME.

The first SIZE bytes of standard input are the script, and the rest is the script's input. Imports
are resolved from ROOT. Messages and timelines show NAME.
"""

import os
import runpy
import sys

from saftc.project.files import UNNAMED


def _read(size: int) -> bytes:
    # Without `sys.stdin`, which would read ahead into the script's input.
    data = b""
    while len(data) < size and (piece := os.read(0, size - len(data))):
        data += piece
    return data


if __name__ == "__main__":
    _, name, size, root = sys.argv
    UNNAMED["-c"] = name
    sys.argv = ["saftc", "run", "--root", root, "-c", _read(int(size)).decode()]
    runpy.run_module("saftc", run_name="__main__")
