# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import ops, prompt

x = prompt("use {upper} and {len}", upper=ops.upper, len=ops.len).value
up = ops.upper
y = prompt("use {up}", up=up).value
