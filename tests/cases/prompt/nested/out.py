# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt

language = "French"
topic = "spring"
x = prompt(
    "translate {0} into {language}",
    prompt("a haiku about {topic}", topic=topic).value,
    language=language,
).value
y = prompt(
    "outer {0} and {1}",
    prompt("middle {0}", prompt("inner").value).value,
    [prompt("in a list").value],
).value
print(x, y)
