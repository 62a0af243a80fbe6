# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

x = prompt(
    "{0} and {1}",
    1 + 2,
    [
        1,
        2,
    ],
).value
