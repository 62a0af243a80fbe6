# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

count = 0
while not prompt("is {count} more than two?", count=count, returns=bool).value:
    count = count + 1
    if count > 3:
        break
