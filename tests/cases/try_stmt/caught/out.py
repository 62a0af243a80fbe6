# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import prompt
from runtime_support.ops import failure, list_files, read_text, show


def read_note(path: str) -> str:
    text = read_text(path)
    title: str
    words: int
    title, words = prompt(
        "Give {text} a title, and count its words.",
        text=text,
        fields={"title": str, "words": int},
    ).value
    return title + " " + str(words)


def main() -> None:
    notes: list[str] = []
    failed: list[tuple[str, str, str | None, int]] = []
    for path in list_files("notes/*.txt"):
        try:
            notes.append(read_note(path))
        except Exception as exception:
            error = failure(exception)
            if error.kind == "authentication" or error.kind in ["config", "budget"]:
                raise
            failed.append((path, error.message, error.text, error.attempts))
    for path, reason, text, attempts in failed:
        print(path, reason, show(text), attempts)


if __name__ == "__main__":
    main()
