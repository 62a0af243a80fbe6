"""Text: splitting, changing and joining words."""


def title(word: str) -> str:
    return word[:1].upper() + word[1:].lower()


def is_palindrome(word: str) -> bool:
    parts = word.split(",")
    return parts == list(reversed(parts))


def work(text: str) -> str:
    words = text.split()
    titled = [title(word) for word in words if len(word) > 3]
    line = ""
    lines = 0
    for word in titled:
        if len(line) + len(word) > 72:
            lines += 1
            line = ""
        line += word.replace("e", "3") + " "
        if word.startswith("B") or "o," in word or is_palindrome(word):
            line += "! "
    return f"{lines} {line.strip()} {'-'.join(titled[:5])}"
