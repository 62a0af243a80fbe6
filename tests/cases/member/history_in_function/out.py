# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show


def go(topic: str) -> int:
    answer = prompt("about {topic}", topic=topic, returns=int)
    print(show(answer.tool_calls))
    return answer.value


print(go("x"))
