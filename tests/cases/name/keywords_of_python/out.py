# Compiled by saftc from in.saft; edit that file instead.

class_ = 1
def_ = 2
lambda_ = 3
is_ = 4
try_ = class_ + def_
print = "shadow"
yield_ = [class_, lambda_, is_, try_]
match = 1
None_ = 2
