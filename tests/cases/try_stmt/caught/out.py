# Compiled by saftc from in.saft; edit that file instead.
from runtime_support import overlap, prompt
from runtime_support.ops import failure, list_files, read_text, show


def read_note(path: str) -> str:
    text = read_text(path)
    title: str
    title, words = prompt(
        "Give {text} a title, and count its words.",
        text=text,
        fields={"title": str, "words": int},
    ).value
    return title + " " + str(words)


def main() -> None:
    notes: list[str] = []
    failed: list[tuple[str, str, str | None, int]] = []

    def ask_path(path: str) -> tuple[list[str], list[tuple[str, str, str | None, int]]]:
        new_notes: list[str] = []
        new_failed: list[tuple[str, str, str | None, int]] = []
        try:
            new_notes.append(read_note(path))
        except Exception as exception:
            error = failure(exception)
            if error.kind == "authentication" or error.kind in ["config", "budget"]:
                raise
            new_failed.append((path, error.message, error.text, error.attempts))
        return new_notes, new_failed

    for new_notes, new_failed in overlap(ask_path, list_files("notes/*.txt")):
        notes.extend(new_notes)
        failed.extend(new_failed)
    for path, reason, text, attempts in failed:
        print(path, reason, show(text), attempts)


if __name__ == "__main__":
    main()
