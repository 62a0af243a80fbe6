# Compiled by saftc from in.saft; edit that file instead.

# what imported Python gives to go over

import os
from itertools import accumulate, pairwise

from runtime_support import ops
from runtime_support.ops import show

for total in ops.each(accumulate([1, 2, 3])):
    print(show(total))
for a, b in ops.each_of(pairwise([1, 2, 3]), 2):
    print(show(ops.add(a, b)))
print(show([name for name in ops.each(os.environ) if name == "NO_SUCH_NAME"]))
