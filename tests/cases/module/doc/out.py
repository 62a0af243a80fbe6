# Compiled by saftc from in.saft; edit that file instead.
"""Does one thing.

And does it well.
"""

print("hello")
