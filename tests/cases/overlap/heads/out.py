# Compiled by saftc from in.saft; edit that file instead.
from collections.abc import Iterator
from dataclasses import dataclass

from runtime_support import overlap, prompt
from runtime_support.ops import (  # print keeps the order
    list_files,
    print,
    read_text,
    write_text,
)


@dataclass(frozen=True)
class Mail:
    title: str
    spam: bool


def triage(title: str) -> str:
    return prompt("Which queue? {title}", title=title).value


def sort(mails: list[Mail], teams: dict[str, str]) -> None:
    skipped = 0
    seen: list[str] = []

    def each_mail() -> Iterator[tuple[int, Mail, str]]:
        nonlocal skipped
        for number, mail in enumerate(mails):
            # what is wrong with it
            if mail.title == "":
                raise AssertionError("no title")
            if mail.spam or mail.title in seen:
                skipped += 1
                continue
            seen.append(mail.title)
            if number > 100:
                break  # enough

            # what it is about
            team = teams[mail.title]
            yield number, mail, team

    def ask_mail(item: tuple[int, Mail, str]) -> tuple[int, str]:
        number, mail, team = item
        summary = prompt(
            "Sum up {title} for {team}.",
            title=mail.title,
            team=team,
        ).value
        return number, summary

    for number, summary in overlap(ask_mail, each_mail()):
        # in order from here on
        print(number, summary)
    print(skipped)

    # the item by itself is what the function takes
    def each_mail_2() -> Iterator[str]:
        for mail in mails:
            title = mail.title
            if title == "stop":
                break
            yield title

    for queue in overlap(triage, each_mail_2()):
        print(queue)


# files that nothing in the loop writes
def ask_path(path: str) -> None:
    text = read_text(path)
    if text == "":
        return
    verdict = prompt("Is {text} spam?", text=text).value
    print(path, verdict)


overlap(ask_path, list_files("mails/*.txt")).run()

total: int | float = 0


def each_count() -> Iterator[int]:
    global total
    for count in [3, 0, 2]:
        if total > 100:
            break
        total += 100 / count
        yield count


def ask_count(count: int) -> None:
    print(prompt("{count} jokes, please.", count=count).value)


overlap(ask_count, each_count()).run()
print(total)


# nothing of an item is needed
def each_item() -> Iterator[int]:
    for _ in range(3):
        if total == 0:
            break
        yield _


def ask_item(_: int) -> None:
    print(prompt("A joke.").value)


overlap(ask_item, each_item()).run()

# what the answers decide, and what is told first: in order
done: list[str] = []
for path in list_files("mails/*.txt"):
    if len(done) > 3:
        break
    done.append(prompt("Sum up {0}.", read_text(path)).value)
for path in list_files("mails/*.txt"):
    print(path)
    if path == "":
        raise AssertionError
    print(prompt("Sum up {0}.", read_text(path)).value)
for path in list_files("mails/*.txt"):
    text = read_text(path)
    if text == "":
        raise AssertionError
    write_text(path, prompt("Translate {text}.", text=text).value)
sort([], {})
