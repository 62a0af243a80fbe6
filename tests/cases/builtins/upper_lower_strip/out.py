# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse, show

text = "  Abc "
data = parse('"x"')
print(text.upper(), text.lower(), text.strip(), ("a" + text).upper())
print(ops.upper(data), ops.lower(data), ops.strip(data))
print(show([ops.upper, ops.lower, ops.strip]))
for change in [ops.upper, ops.lower, ops.strip]:
    print(show(ops.call(change, text)))
