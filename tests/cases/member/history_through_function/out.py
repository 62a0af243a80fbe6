# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Result, prompt
from runtime_support.ops import show


def ask(topic: str) -> Result[str]:
    return prompt("about {topic}", topic=topic)


answer = ask("x")
print(answer.value, show(answer.tool_calls))
again = answer
print(show(again.usage))
