# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import File, Image, file, image, prompt


def picture(path: str) -> Image:
    return image(path)


def scan(path: str) -> File:
    return file(path)


print(prompt("compare {0} with {1}", picture("a.png"), scan("b.pdf")).value)
