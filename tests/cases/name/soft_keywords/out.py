# Compiled by saftc from in.saft; edit that file instead.

f = 1
type = 2
conv = 3
do = 4
program = 5
with_ = 6
from_ = 7
import_ = 8
as_ = 9
print(f, type, conv, do, program, with_, from_, import_, as_)
