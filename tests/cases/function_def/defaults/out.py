# Compiled by saftc from in.saft; edit that file instead.


def greet(name: str, greeting: str = "Hello", times: int = 1) -> str:
    return "; ".join(greeting + " " + name for _ in range(times))


def scale(x: int | float, by: int | float = 2, note: str | None = None) -> int | float:
    if note is not None:
        print(note)
    return x * by


print(greet("Ada"))
print(greet("Ada", "Hi", 2))
print(greet("Ada", times=2))
print(scale(3), scale(3, 4), scale(3, note="n"))
