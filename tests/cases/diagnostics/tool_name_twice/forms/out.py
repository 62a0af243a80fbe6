# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def make(n: int):
    def weather(city: str) -> str:
        return city + str(n)

    return weather


def go() -> str:
    def weather(city: str) -> str:
        return city

    return prompt("{weather}", weather=weather).value


x = prompt("{go} {go}", go=go).value
