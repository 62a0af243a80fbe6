# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

text = "buy now"
if not prompt("is {text} spam?", text=text, returns=bool).value:
    raise AssertionError
if prompt("is {text} polite?", text=text, returns=bool).value:
    raise AssertionError("too polite")
