# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

text = "hi"
if not prompt("is {text} polite?", text=text, returns=bool).value:
    raise AssertionError
a = (
    prompt("is {text} polite?", text=text, returns=bool).value
    and prompt("is {text} short?", text=text, returns=bool).value
)
b = not prompt("is {text} rude?", text=text, returns=bool).value
c = 1 if prompt("is {text} short?", text=text, returns=bool).value else 2
while prompt("go on?", returns=bool).value:
    break
