# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

import shop
import stock
from shop import cancel as undo
from shop import tools
from stock import count, prices

a = prompt("What is there?", tools=tools).value
b = prompt(
    "And now?",
    tools=[("undo", undo), shop.cancel, count, stock.count, ("prices", prices)],
)
print(a, b.value, prompt("More?", after=b, tools=b.tools).value)
