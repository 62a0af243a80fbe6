# Compiled by saftc from in.saft; edit that file instead.
"""What it does.
And how.
"""

import math

from runtime_support import show

print(show(math.floor(2.5)))
