# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import approve, prompt


def find(name: str) -> list[str]:
    return [name]


def refund(order: str) -> str:
    return order


def listed(name: str) -> str:
    reply = prompt("Look for {name} with {find}.", name=name, find=find)
    return prompt("And now?", after=reply, tools=reply.tools).value


def waiting(name: str) -> str:
    reply = prompt(
        "Look for {name} with {find}, and {refund}.",
        name=name,
        find=find,
        refund=approve(refund),
    )
    return prompt("And now?", after=reply, tools=reply.tools).value


def on_some_paths(name: str, is_new: bool) -> str:
    reply = prompt("Look for {name} with {find}.", name=name, find=find)
    if is_new:
        reply = prompt(
            "Look for {name} with {find} and {refund}.",
            name=name,
            find=find,
            refund=refund,
        )
    return prompt("And now?", after=reply, tools=[*reply.tools, refund]).value


def in_turns(name: str) -> str:
    reply = prompt("Look for {name}.", name=name)
    for _ in range(2):
        reply = prompt("And now?", after=reply, tools=[*reply.tools, find])
    return reply.text


def made_anew(names: list[str]) -> str:
    reply = prompt("Hello.")
    for name in names:

        def look() -> str:
            return name

        prompt("Go on.", after=reply, tools=[*reply.tools, look])
        reply = prompt("Look with {look}.", look=look)
    return reply.text


print(
    listed("a"), waiting("b"), on_some_paths("c", True), in_turns("d"), made_anew(["e"])
)
