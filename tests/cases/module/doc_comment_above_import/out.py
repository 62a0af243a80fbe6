# Compiled by saftc from in.saft; edit that file instead.
"""What it does.
And how.
"""

import math

print(math.floor(2.5))
