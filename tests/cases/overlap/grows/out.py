# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import show


def review(text: str) -> list[str]:
    return prompt("What is wrong with {text}?", text=text, returns=list[str]).value


findings: list[str] = []


def ask_text(text: str) -> list[str]:
    new_findings: list[str] = []
    if text == "a":
        return new_findings
    for finding in review(text):
        new_findings.append(text + finding)
    return new_findings


for new_findings in overlap(ask_text, ["a", "b", "c"]):
    findings.extend(new_findings)
print(show(findings))


def all_of(texts: list[str]) -> list[str]:
    words: list[str] = []
    seen: list[str] = []

    def ask_text(text: str) -> tuple[str, list[str]]:
        new_words: list[str] = []
        new_words.extend([text, prompt("A word for {text}", text=text).value])
        return text, new_words

    for text, new_words in overlap(ask_text, texts):
        words.extend(new_words)
        seen.append(text)
    kept = words

    def ask_text_2(text: str) -> list[str]:
        new_words: list[str] = []
        if text != "":
            new_words = [*new_words, prompt("Another word for {text}", text=text).value]
        return new_words

    for new_words in overlap(ask_text_2, texts):
        words = words + new_words
    return kept + words + seen


print(show(all_of(["x"])))
