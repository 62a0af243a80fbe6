# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops, prompt
from runtime_support.ops import parse, show

prompt_ = "a name"
ops_ = [1]
x = prompt("hello {prompt}", prompt=prompt_).value
show_ = parse("1")
print(show(ops.add(show_, ops_[0])))
