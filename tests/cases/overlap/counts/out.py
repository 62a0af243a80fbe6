# Compiled by saftc from in.saft; edit that file instead.
from dataclasses import dataclass

from runtime_support import overlap, prompt
from runtime_support.ops import print, show  # print keeps the order


# What is counted in an object is added up, in `try` as outside of it.
@dataclass(frozen=True)
class Case:
    mail: str
    kind: str


def triage(mail: str) -> str:
    return prompt("Triage {mail}", mail=mail).value


def score(cases: list[Case]) -> None:
    n: dict[str, int] = {}
    right: dict[str, int] = {"seen": 0}
    failed = 0

    def ask_case(case: Case) -> tuple[dict[str, int], dict[str, int], int]:
        new_n: dict[str, int] = {}
        new_right: dict[str, int] = {}
        new_failed = 0
        try:
            found = triage(case.mail)
            new_n[f"{case.kind} as {found}"] = (
                new_n.get(f"{case.kind} as {found}", 0) + 1
            )
            if found == case.kind:
                new_right[case.kind] = 1 + new_right.get(case.kind, 0)
            new_right["seen"] = new_right.get("seen", 0) + 1
        except Exception:
            print("failed")
            new_failed += 1
        return new_n, new_right, new_failed

    for new_n, new_right, new_failed in overlap(ask_case, cases):
        n.update({key: n.get(key, 0) + count for key, count in new_n.items()})
        right.update(
            {key: right.get(key, 0) + count for key, count in new_right.items()}
        )
        failed += new_failed
    print(show(n), show(right), failed)


score([Case("a", "b"), Case("c", "b")])
words = ["a", "b"]
key: dict[str, int] = {}


def ask_word(word: str) -> dict[str, int]:
    new_key: dict[str, int] = {}
    try:
        new_key[word] = new_key.get(word, 0) + len(triage(word))
    except Exception:
        new_key["failed"] = new_key.get("failed", 0) + 1
    return new_key


for new_key in overlap(ask_word, words):
    key.update({key_: key.get(key_, 0) + count for key_, count in new_key.items()})
print(show(key))
for word in words:
    try:
        k = triage(word)
        key[k] = key.get(word, 0) + 1
    except Exception:
        print("failed")
