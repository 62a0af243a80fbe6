# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

others = ["model-b"]
print(
    prompt(
        "Hello", options={"model": "model-a", "fallback": ["model-b", "model-c"]}
    ).value
)
print(prompt("Hello", options={"fallback": others, "temperature": 0}).value)
careful = {"model": "model-a", "fallback": others}
print(prompt("Hello", options=careful).value)
