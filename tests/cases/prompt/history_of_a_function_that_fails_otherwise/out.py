# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import Result, prompt


# Every call that ends gives what the prompt gave, so that its history is kept.
def look(city: str) -> str:
    return city


def ask(topic: str, is_known: bool) -> Result[str]:
    if is_known:
        return prompt("What is known of {topic}? Use {look}.", topic=topic, look=look)
    else:
        raise AssertionError("nothing is known of it")


def ask_again(topic: str) -> Result[str]:
    while True:
        answer = prompt(
            "What is new about {topic}? Use {look}.",
            topic=topic,
            look=look,
        )
        if answer.text != "":
            return answer


known = ask("Oslo", True)
new = ask_again("Oslo")
print(known.value, new.value, len(known.tool_calls), len(new.tool_calls))
