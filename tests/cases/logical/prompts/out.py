# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

text = "hi"
if (
    prompt("is {text} polite?", text=text, returns=bool).value
    and prompt("is {text} short?", text=text, returns=bool).value
):
    print("both")
either = prompt("is {text} rude?", text=text, returns=bool).value or False
