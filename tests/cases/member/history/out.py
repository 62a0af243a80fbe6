# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show

report = prompt("is it warm in {0}?", "Oslo")
print(report.value)
print(report.text, report.model, report.usage.requests)
for call in report.tool_calls:
    if call.error is not None:
        print(call.tool + " failed: " + call.error)
    else:
        print(call.tool, show(call.args), show(call.result), call.duration)
