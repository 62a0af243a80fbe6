# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt


def sort(mail: str) -> str:
    return prompt(
        "Sort {mail}.",
        mail=mail,
        options={
            "system": (
                "You sort mails. You answer briefly, always name the mail that it is "
                "about, and never invent anything."
            ),
            "temperature": 0,
        },
    ).value


rules = "You answer briefly, always name the mail that it is about, and never invent anything, really."
print(
    sort("x"),
    prompt(
        "Sort y.",
        options={
            "system": rules,
            "model": "of-one-very-long-word-that-is-not-taken-apart-wherever-it-is-and-whatever-it-says",
        },
    ).value,
)
print(
    prompt(
        "Sort z.",
        options={
            "system": (
                "One line.\n"
                'Another line, with "quotes" and it\'s own ends, which goes on for long.\n'
            )
        },
    ).value
)
