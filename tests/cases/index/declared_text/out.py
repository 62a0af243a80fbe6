# Compiled by saftc from in.saft; edit that file instead.

# a text that is declared to be one has characters; what a prompt without a type gives may be a
# structure

from runtime_support import ops, prompt
from runtime_support.ops import show

word = prompt("Name a fruit.")
first, second = prompt("Name two fruits.", fields={"first": str, "second": str}).value
print(word.value[0], first[0], second[1:], word.value)
print(len(word.tool_calls))
anything = prompt("Describe a fruit as JSON.")
print(
    show(ops.index(anything.data, 0)),
    show(ops.member(anything.data, "name")),
    show(anything.data),
)
