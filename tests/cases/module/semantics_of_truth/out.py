# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import parse

if ops.truthy(0):
    print("zero is true")
if ops.truthy(""):
    print("so is the empty text")
data = parse("[]")
if ops.truthy(data):
    print("and an empty list that is not proved")
