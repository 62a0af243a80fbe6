# Compiled by saftc from in.saft; edit that file instead.


def shout(text: str) -> str:
    return text.upper() + "!"


def greeting(name: str) -> str:
    return "Hello " + name


print(shout("hi"), greeting("Ada"))
