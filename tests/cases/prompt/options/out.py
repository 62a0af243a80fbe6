# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import later, prompt, together

x = prompt("a haiku", options={"temperature": 0}).value
fast = {"model": "small", "temperature": 0}
y, z, w = together(
    later(prompt, "a number", returns=int, options=fast),
    later(
        prompt,
        "a haiku",
        options={"model": "gpt-4o-mini", "temperature": 0, "max_tool_rounds": 3},
    ),
    later(prompt, "a haiku", options={"reasoning_effort": "low"}),
)
