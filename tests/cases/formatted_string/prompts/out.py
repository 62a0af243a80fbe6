# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show

name = "Ann"
print(
    "{} and {}".format(
        prompt("Who is {name}?", name=name).value,
        prompt("What is {0}?", f"<{name}>").value,
    )
)
text = "{}!".format(
    prompt(
        """
        Sum up {name}
        in a word.
        """,
        name=name,
    ).value
)
answer = prompt("Greet {0}.", f"{name} and all")
print(text, f"{answer.value}: {show(answer.tool_calls)} {answer.text}")
