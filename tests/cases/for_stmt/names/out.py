# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show

pairs = [(1, "build"), (2, "test")]
for id, verb in pairs:
    print(str(id) + ": " + verb)
for id, (verb, done) in [(1, ("a", True))]:
    print(id, verb, show(done))
