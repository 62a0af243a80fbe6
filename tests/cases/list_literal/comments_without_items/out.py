# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import show

# to do
nothing = []
print(show(nothing))
