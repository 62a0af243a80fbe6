"""Offers the documented functions of a compiled module as the tools of an MCP server.

    python -m runtime_support.mcp out.py            over standard input and output
    python -m runtime_support.mcp out.py --port 0   over HTTP on this machine, with a token
    python -m runtime_support.mcp out.py --journal journals     with a journal for each call
"""

from __future__ import annotations

import sys
from argparse import ArgumentParser
from importlib.machinery import SourceFileLoader
from pathlib import Path

from runtime_support._core.notes import note
from runtime_support.errors import SaftError


def main() -> int:
    """Serves the module named on the command line; returns the exit code."""
    parser = ArgumentParser(prog="python -m runtime_support.mcp", description=__doc__)
    parser.add_argument("module", help="the file of a compiled module")
    parser.add_argument("--port", type=int, help="the port; without it, standard input and output")
    parser.add_argument("--journal", metavar="FOLDER", help="where each call has a journal")
    words = parser.parse_args()
    path = Path(words.module)
    if not path.is_file():
        note(f"there is no file {path}")
        return 1
    sys.path.insert(0, str(path.parent.absolute()))
    try:
        from runtime_support.mcp._serving import load_module, serve

        name = f"{path.stem}-py"
        module = load_module(name, str(path), SourceFileLoader(name, str(path)))
        serve(module, path.stem, words.port, words.journal)
    except SaftError as error:
        note(str(error))
        return 1
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main())
