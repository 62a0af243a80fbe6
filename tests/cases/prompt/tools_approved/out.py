# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import approve, later, ops, prompt, together


def refund(order: str) -> str:
    return order


def class_(text: str) -> int:
    return len(text)


def look(order: str) -> str:
    return order


pay = refund
support = [look, approve(refund)]
a = prompt("Help her.", tools=[look, approve(refund), ("class", approve(class_))])
b, c, d = together(
    later(prompt, "And now?", after=a, tools=a.tools),
    later(prompt, "Help him.", tools=support),
    later(
        prompt,
        "Help me.",
        options={"temperature": 0},
        tools=[("pay", approve(pay)), ("len", approve(ops.len))],
    ),
)
print(b, c, d)
