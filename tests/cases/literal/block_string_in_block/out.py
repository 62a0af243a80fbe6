# Compiled by saftc from in.saft; edit that file instead.


def help() -> str:
    return (
        "\n"
        "usage: tool [options] FILE...\n"
        "options:\n"
        "  --help   show this text and exit, as you would expect of it\n"
        "  --quiet  say nothing\n"
    )


print(help())
