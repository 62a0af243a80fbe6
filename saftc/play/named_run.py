"""`python -m saftc.play.named_run NAME saftc ARGUMENTS`: runs `saftc`, its input called NAME.

So messages and timelines name the file that a script on standard input is the text of.
"""

import runpy
import sys

from saftc.project.files import UNNAMED

if __name__ == "__main__":
    _, name, *sys.argv = sys.argv
    UNNAMED["-"] = name
    runpy.run_module("saftc", run_name="__main__")
