# Compiled by saftc from in.saft; edit that file instead.
from typing import Any

from runtime_support import Result, prompt
from runtime_support.ops import read_line


def find_orders(name: str) -> list[str]:
    return [name]


def refund(order: str) -> str:
    return order


def greet(name: str) -> Result[str]:
    return prompt(
        "Greet {name}.",
        name=name,
        options={"model": "small"},
        tools=[find_orders],
    )


history = greet("Ada")
while True:
    line = read_line("> ")
    if line == "":
        break
    history = prompt("{line:raw}", line=line, after=history, tools=history.tools)
    print(history.value)
more = prompt(
    "She wants her money back.",
    after=history,
    tools=[*history.tools, refund],
)
sum, reason = prompt(
    "How much, and why?",
    fields={"sum": int, "reason": str},
    after=more,
    tools=more.tools,
).fields
letter = prompt("Write it to her.", after=sum)
kind = prompt("How was it?", after=letter).value
kept = prompt("Close it, with {refund}.", refund=refund)
last = prompt("Is it closed?", after=kept, tools=kept.tools).value
print(more.value, sum.value, reason.value, kind, last)


def asked(tool: Any, question: str) -> str:
    first = prompt("Use {tool}.", tool=tool)
    return prompt(
        "{question:raw}",
        question=question,
        after=first,
        tools=first.tools,
    ).value


print(asked(refund, "Done?"))
