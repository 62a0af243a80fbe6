# Compiled by saftc from in.saft; edit that file instead.
import collections.abc as abc
import os.path

from runtime_support.ops import show

print(os.path.basename("a/b"))
print(show(abc.Mapping))
