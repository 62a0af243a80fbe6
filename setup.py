"""Has wheels hold the tables of the grammar, so that no first command makes them."""

import sys
from pathlib import Path

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithTables(build_py):
    """Copies the package, and writes the tables beside its grammar."""

    def run(self) -> None:
        super().run()
        if not self.editable_mode:
            sys.path.insert(0, str(Path(__file__).parent))
            from saftc.syntax.grammar import load_parser

            load_parser(Path(self.build_lib, "saftc", "syntax"))


setup(cmdclass={"build_py": BuildWithTables})
