# Compiled by saftc from in.saft; edit that file instead.

# `input` is `read_line`, as Python has a function `input` of its own

from runtime_support import ops
from runtime_support.ops import append_text, kind, parse, read_line, show

name = read_line("Your name? ")
line = read_line()


def ask(question: str) -> str:
    answer = read_line(question)
    return answer if answer is not None else "nothing"


append_text("log.txt", ask("Why? ") + "\n")
append_text("log.txt", "more\n")
if name is None:
    print("nobody", show(line))
else:
    print(name.upper())
data = parse('"x"')
ops.append_text(data, data)
print(show([ops.call(read, data) for read in [ops.input]]), kind(ops.append_text))
