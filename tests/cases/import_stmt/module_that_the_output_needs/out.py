# Compiled by saftc from in.saft; edit that file instead.
import os

from runtime_support.ops import show

print(show(os.environ.get("HOME")), os.name)
