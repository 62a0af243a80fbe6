# Compiled by saftc from in.saft; edit that file instead.
import os

from runtime_support import ops
from runtime_support.ops import parse, read_text, show, write_text

text = read_text("notes.txt")
write_text("copy.txt", text.upper())
home = os.environ.get("HOME")
shell = os.environ.get("SHELL", "sh")
if home is not None:
    print("home is " + home)
print(
    shell + "!",
    show(os.environ.get("X", None)),
    show([ops.read_text, ops.write_text, ops.env]),
)
data = parse('"path"')
print(ops.read_text(data))
ops.write_text(data, "x")
