"""Shows journals: the requests of one run, and the runs in a folder."""

from pathlib import Path

from saftc.reporting import counted, show_error, write_result


def show_trace(file: str) -> int:
    """Writes a journal's entries and their totals to standard output. Returns the exit code."""
    from saftc.trace.journals import as_lines, summary

    for text in as_lines(file):
        write_result(text + "\n")
    found = summary(file)
    calls = f", {counted(found.tools, 'tool call')}" if found.tools else ""
    prompts = counted(len(found.prompts), "prompt")
    write_result(f"{prompts}, {found.spent}{calls}; {found.state}\n")
    return 0


def draw_timeline(file: str, html: str | None, chrome: str | None) -> int:
    """Draws a journal to the given paths: as an HTML page, and as a Chrome trace.

    Returns the exit code.
    """
    from saftc.trace.journals import timeline
    from saftc.trace.timeline import Timeline, write_form

    drawn = timeline(file)
    forms = [(html, Timeline.page), (chrome, Timeline.chrome)]
    written = [write_form(drawn, form, path) for path, form in forms if path is not None]
    return 0 if all(written) else 1


def show_journals(folder: str) -> int:
    """Writes a line for each journal in a folder to standard output. Returns the exit code."""
    from runtime_support._core.redaction import escaped
    from runtime_support._journal.journal import is_journal, time_text
    from runtime_support._language.files import size_text
    from runtime_support.errors import ConfigError
    from saftc.trace.evaluation import aligned
    from saftc.trace.journals import summary

    if not Path(folder).is_dir():
        is_file = Path(folder).exists()
        show_error(f"{folder} is not a folder" if is_file else f"there is no folder {folder}")
        return 1
    rows = [("journal", "script", "begun", "state", "answers", "tokens", "size")]
    for path in sorted(Path(folder).iterdir()):
        if not is_journal(str(path)):
            continue
        try:
            found = summary(str(path))
        except ConfigError as problem:
            show_error(str(problem))
            continue
        begun = time_text(found.begun)
        spent = found.spent
        numbers = f"{spent.requests:,}", f"{spent.tokens:,}", size_text(found.size)
        rows.append((escaped(path.name), escaped(found.script), begun, found.state, *numbers))
    if len(rows) == 1:
        write_result(f"there are no journals in {folder}\n")
        return 0
    for line in aligned(rows):
        write_result(f"{line}\n")
    return 0
