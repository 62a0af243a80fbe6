# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

text = "buy now"
assert prompt("is {text} spam?", text=text, returns=bool).value
assert not prompt("is {text} polite?", text=text, returns=bool).value, "too polite"
