# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops, prompt
from runtime_support.ops import show

report = prompt("a report as JSON")
data = report.data
print(show(ops.member(data, "title")), show(ops.index(data, 0)))
