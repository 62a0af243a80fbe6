# Compiled by saftc from in.saft; edit that file instead.
from runtime_support.ops import show


def letter(name: str, count: int) -> str:
    text = (
        "\n"
        f"Dear {name},\n"
        f'  you have "{count:,}" letters, which is more than anybody else has had so far.\n'
        "\n"
        "Yours, {saft}\n"
    )
    return text


print(letter("Ann", 1200))
print(f"{1} and\n{show([2])}")
