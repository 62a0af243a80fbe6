"""What was asked of the disk: the one list that the cache, --watch and the editor go by.

    reads = Reads()
    reads.data("a.saft")                               its bytes, as they were when first read
    reads.ask(Question("module", "shop", folder))      the answer, as it was at the first time
    with reads.noting() as notes: ...                  what is asked meanwhile, with the answers
    reads.changed()                                    the questions with another answer by now

Each question is asked of the disk once, so that all of a command works on the same files.
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
    """What is asked of the disk.

    `name` is that of a module, as scripts with the root `folder` mean it, or the path of a file or
    folder. See `_ANSWERS` for the kinds; of a `file`, the answer is the digest of its content.
    """

    kind: str
    name: str
    folder: Path = Path()

    def as_text(self, root: Path) -> str:
        """The question of a script with this root, wherever that is."""
        name = os.path.relpath(self.name, root) if self.kind == "file" else self.name
        return f"{self.kind} {name}"


def question_of(text: str, root: Path) -> Question:
    """The question that `as_text` gave, for a script with this root."""
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


# By the kind of a question, what answers it; an empty answer says that there is nothing.
_ANSWERS: Mapping[str, Callable[[str, Path], str]] = {
    # Whether there is a script that `import NAME` means.
    "script": lambda name, folder: "" if sibling(name, folder) is None else "script",
    # What Python finds in its place.
    "hidden": lambda name, folder: hidden_by(name, folder) or "",
    # A module of Python, with all that has a say in how a script that imports it is compiled.
    "module": of_python,
    # What the lock says of an MCP server.
    "server": state_of,
    # The scripts in and below a folder.
    "below": _below,
    # Whether a folder is a package, and what the project around it says.
    "around": _around,
}


class Reads:
    """Questions to the disk, with their first answers; `read` gives the bytes of a file."""

    def __init__(self, read: Read = read_script) -> None:
        self._read = read
        # By the path of a file that was asked for: its bytes, or why it cannot be read.
        self._data: dict[str, bytes | FileProblem] = {}
        self._answers: dict[Question, str] = {}
        self._notes: list[dict[Question, str]] = []

    def data(self, file: str) -> bytes:
        """The bytes of a file, as they were when it was read first.

        Raises:
            FileProblem: It cannot be read.
        """
        self.ask(Question("file", file))
        data = self._data[file]
        if isinstance(data, FileProblem):
            raise data
        return data

    def give(self, file: str, data: bytes) -> None:
        """Has the bytes of a script that is not a file."""
        self._data[file] = data
        self._answers[Question("file", file)] = digest(data)

    def ask(self, question: Question) -> str:
        """The answer, as it was at the first time; notes that it was asked for."""
        answer = self.answer(question)
        self.note({question: answer})
        return answer

    def answer(self, question: Question) -> str:
        """The answer, as it was at the first time."""
        if question not in self._answers:
            self._answers[question] = self._now(question, is_kept=True)
        return self._answers[question]

    def note(self, notes: Mapping[Question, str]) -> None:
        """Notes what was asked for before, and is needed once more."""
        if self._notes:
            self._notes[-1].update(notes)

    @contextmanager
    def noting(self) -> Generator[dict[Question, str], None, None]:
        """What is asked for inside of the block; whoever notes around it gets it as well."""
        notes: dict[Question, str] = {}
        self._notes.append(notes)
        try:
            yield notes
        finally:
            self._notes.pop()
            self.note(notes)

    @property
    def folders(self) -> set[Path]:
        """The folders of the files that were asked for."""
        return {Path(one.name).parent for one in self._answers if one.kind == "file"}

    def changed(self) -> set[Question]:
        """The questions that have another answer by now."""
        known = list(self._answers.items())
        return {question for question, was in known if self._now(question) != was}

    def forget(self, file: str) -> None:
        """Has a file be read again."""
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
