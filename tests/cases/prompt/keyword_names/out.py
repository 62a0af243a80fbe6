# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

class_ = "a"
returns = 1
fields = [1]
rounds = 2
options = 3
template = "t"
x = prompt(
    "{class_} {returns_} {fields_} {rounds_} {options_} {template_} {0}",
    0,
    class_=class_,
    returns_=returns,
    fields_=fields,
    rounds_=rounds,
    options_=options,
    template_=template,
).value
