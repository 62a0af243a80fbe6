"""`python -m saftc.play.called NAME saftc ARGUMENTS`: runs `saftc` with standard input called NAME.

So messages and timelines name the file that a script on standard input is the text of.
"""

import sys

from saftc.__main__ import main
from saftc.project.files import UNNAMED

if __name__ == "__main__":
    _, name, *sys.argv = sys.argv
    UNNAMED["-"] = name
    main()
