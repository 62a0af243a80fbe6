# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import check, ops
from runtime_support.ops import parse, show

prices: list[float] = [float(x) for x in [1, 2]]
data = parse("[]")
ids: list[int] = [check(x, int) for x in ops.each(data)]
print(show(prices), show(ids))
