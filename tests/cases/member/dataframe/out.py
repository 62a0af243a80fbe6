# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops
from runtime_support.ops import read, show

df = read("a.csv")
print(df.height, df.height, df.width, show(df.columns), df.shape[1])

# other attributes are Python's to know
print(
    show(ops.send(df, "estimated_size")),
    show([ops.member(row, "name") for row in ops.each(ops.send(df, "to_dicts"))]),
)
