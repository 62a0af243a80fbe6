"""Reads from the disk and records what was read, for the cache, --watch and the editor.

    reads = Reads()
    reads.data("a.saft")                               the bytes of the file at the first read
    reads.ask(Question("module", "shop", folder))      the first answer to the question
    with reads.noting() as notes: ...                  maps questions in the block to answers
    reads.changed()                                    the questions whose answer has changed

A question asks for the content of a file, or whether a module exists. Compilations read the disk
only by questions. `Reads` keeps the first answer to each question, so that a command sees the same
files from start to end.
"""

import os
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from saftc.project.cache import digest
from saftc.project.files import FileProblem, read_script, scripts_below
from saftc.project.finder import Read, hidden_by, of_python, path_below, sibling
from saftc.project.servers import state_of
from saftc.project.settings import settings_files


class Question(NamedTuple):
    """A question about the disk, such as the content of a file or the existence of a module.

    `kind` is "file" or one of `_ANSWERS`. `name` is the path of a file or folder, or the name of a
    module, resolved from the root `folder`. The answer is a text: for "file", the digest of the
    content.
    """

    kind: str
    name: str
    folder: Path = Path()

    def as_text(self, root: Path) -> str:
        """The question as text, with the file's path relative to the script's root."""
        name = os.path.relpath(self.name, root) if self.kind == "file" else self.name
        return f"{self.kind} {name}"


def question_of(text: str, root: Path) -> Question:
    """Parses the result of `as_text` for a script with the given root."""
    kind, _, name = text.partition(" ")
    if kind == "file":
        return Question(kind, str(path_below(root, name)))
    return Question(kind, name, root)


def _below(name: str, _folder: Path) -> str:
    try:
        return "\n".join(scripts_below(name))
    except FileProblem:
        return ""


def _around(name: str, _folder: Path) -> str:
    form = "package" if Path(name, "__init__.py").is_file() else "folder"
    *_, path = settings_files(Path(name))
    try:
        return f"{form} {digest(path.read_bytes())}"
    except OSError:
        return form


# The functions that answer the kinds of questions. An empty answer says that nothing was found.
_ANSWERS: Mapping[str, Callable[[str, Path], str]] = {
    # Whether there is a script that `import NAME` means.
    "script": lambda name, folder: "" if sibling(name, folder) is None else "script",
    # What Python finds instead of the script.
    "hidden": lambda name, folder: hidden_by(name, folder) or "",
    # A Python module, as far as the compilation of its importers depends on it.
    "module": of_python,
    # An MCP server's entry in the lock.
    "server": state_of,
    # The scripts in and below a folder.
    "below": _below,
    # Whether a folder is a package, and the settings of its project.
    "around": _around,
}


class Reads:
    """The questions asked of the disk, with their first answers.

    `read` is the function that reads the bytes of a file.
    """

    def __init__(self, read: Read = read_script) -> None:
        self._read = read
        # By the path of a file: its bytes, or why it cannot be read.
        self._data: dict[str, bytes | FileProblem] = {}
        self._answers: dict[Question, str] = {}
        self._notes: list[dict[Question, str]] = []

    def data(self, file: str) -> bytes:
        """The bytes that a file had when it was first read.

        Raises:
            FileProblem: The file cannot be read.
        """
        self.ask(Question("file", file))
        data = self._data[file]
        if isinstance(data, FileProblem):
            raise data
        return data

    def give(self, file: str, data: bytes) -> None:
        """Registers the bytes of a script that is not a file."""
        self._data[file] = data
        self._answers[Question("file", file)] = digest(data)

    def ask(self, question: Question) -> str:
        """The first answer to a question.

        Adds the question and the answer to the notes of `noting`.
        """
        answer = self.answer(question)
        self.note({question: answer})
        return answer

    def answer(self, question: Question) -> str:
        """The first answer to a question, without a note."""
        if question not in self._answers:
            self._answers[question] = self._now(question, is_kept=True)
        return self._answers[question]

    def note(self, notes: Mapping[Question, str]) -> None:
        """Adds questions and answers of an earlier compilation to the notes of `noting`."""
        if self._notes:
            self._notes[-1].update(notes)

    @contextmanager
    def noting(self) -> Generator[dict[Question, str], None, None]:
        """Maps each question asked inside the block to its answer.

        An enclosing `noting` block gets these notes, too.
        """
        notes: dict[Question, str] = {}
        self._notes.append(notes)
        try:
            yield notes
        finally:
            self._notes.pop()
            self.note(notes)

    @property
    def folders(self) -> set[Path]:
        """The folders of the files that were read."""
        return {Path(one.name).parent for one in self._answers if one.kind == "file"}

    def changed(self) -> set[Question]:
        """The questions whose answer is now different from the first one."""
        known = list(self._answers.items())
        return {question for question, was in known if self._now(question) != was}

    def forget(self, file: str) -> None:
        """Forgets a file's bytes, so that it is read again."""
        self._data.pop(file, None)
        self._answers.pop(Question("file", file), None)

    def _now(self, question: Question, *, is_kept: bool = False) -> str:
        if question.kind != "file":
            return _ANSWERS[question.kind](question.name, question.folder)
        try:
            data = self._read(question.name)
        except FileProblem as problem:
            data = problem
        if is_kept:
            self._data[question.name] = data
        return "" if isinstance(data, FileProblem) else digest(data)
