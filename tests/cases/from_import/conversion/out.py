# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import program
from runtime_support.ops import show

from geo import gap
from geo import locate as place

# an imported conversion is one here, too
print(
    show(
        program("How far is Oslo from Rome? {gap}", gap=gap, conversions=[place]).value
    )
)
