# Compiled by saftc from in.saft; edit that file instead.
import os
import os as os_

from runtime_support.ops import show

print(show(os.environ.get("HOME")), os_.name)
