# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import show

# A list with comments, or a text of several lines, inside of what has one item a line itself.
n = 1
print(
    show(
        [
            1,  # one
            2,
        ]
    ),
)
asked = prompt(
    "a {0} {1}",
    [
        1,  # first
        2,
    ],
    1,
).value
texts = [
    prompt(
        """
        a {n}
        b
        """,
        n=n,
    ).value,
    "c",
]
nested = prompt("a {0} {1}", prompt("inner").value, 1).value
tuned = prompt(
    "a {n}",
    n=n,
    options={
        "model": "x",  # small
        "temperature": 0,
    },
).value
print(asked, show(texts), nested, tuned)
