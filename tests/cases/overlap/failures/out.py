# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import failure, print, show  # print keeps the order


def triage(mail: str) -> str:
    return prompt("Which queue? {mail}", mail=mail).value


results: list[str] = []
last = ""


def ask_mail(mail: str) -> tuple[str, int]:
    try:
        count = prompt("How many words has {mail}?", mail=mail, returns=int).value
    except Exception as error:
        print(show(failure(error)))
        count = 0
    return mail, count


for mail, count in overlap(ask_mail, ["a", "b"]):
    results.append(f"{mail}: {count:,}")

# what fails in the middle is told
try:
    for mail in ["a", "b"]:
        results.append(triage(mail))
except Exception as error:
    print(show(failure(error)))
print(show(results))

# the last one is read when it has failed: in order
try:
    for mail in ["a", "b"]:
        last = mail
        results.append(triage(mail))
except Exception:
    print(last)

one = ""
try:
    one = prompt("One.").value
    two = prompt("Two.").value
    print(one, two)
except Exception:
    print(one)
