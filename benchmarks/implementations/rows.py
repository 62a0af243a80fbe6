"""A function over the rows of a table, as a process: ours, or by hand with Dask and openai.

    python rows.py ours|hand|loop URL TABLE FOLDER WORKERS IN_FLIGHT

With no workers, all is done in this process. Prints the seconds, the peak memory of this process in
kB, and that of the largest of its workers.
"""

from __future__ import annotations

import json
import resource
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from worker import own_memory

CHUNK = 200


def ours(url: str, table: str, folder: str, workers: int, in_flight: int) -> float:
    """`map_rows`: with checks, journals and parts."""
    from runtime_support import configure
    from runtime_support.map import map_rows

    configure(provider="openai", base_url=url, model="fake-1")
    options: dict[str, Any] = {"workers": workers} if workers else {}
    report = map_rows(triage, table, folder, columns=["id"], rows_at_once=in_flight, **options)
    if report.done != report.rows:
        raise SystemExit(str(report))
    return report.seconds


@dataclass(frozen=True)
class Ticket:
    """What a mail is about."""

    category: Literal["billing", "bug", "question"]
    urgent: bool
    summary: str


def triage(mail: str) -> Ticket:
    """The prompt."""
    from runtime_support import prompt

    return prompt("Sort this mail into a ticket: {mail}", mail=mail, returns=Ticket).value


SCHEMA = {
    "type": "object",
    "properties": {
        "category": {"type": "string", "enum": ["billing", "bug", "question"]},
        "urgent": {"type": "boolean"},
        "summary": {"type": "string"},
    },
    "required": ["category", "urgent", "summary"],
    "additionalProperties": False,
}
FORMAT = {"type": "json_schema", "json_schema": {"name": "ticket", "schema": SCHEMA}}
_made: dict[str, Any] = {}


def asked(url: str, in_flight: int, mails: list[str]) -> list[dict[str, Any]]:
    """What one writes by hand: the mails of a chunk in threads, each with the openai package."""
    import openai

    client = _made.setdefault("client", openai.OpenAI(base_url=url, api_key="none"))
    pool = _made.setdefault("pool", ThreadPoolExecutor(in_flight))

    def ask(mail: str) -> dict[str, Any]:
        content = f"Sort this mail into a ticket: {json.dumps(mail)}"
        reply = client.chat.completions.create(
            model="fake-1",
            messages=[{"role": "user", "content": content}],
            response_format=FORMAT,
        )
        return json.loads(reply.choices[0].message.content)

    return list(pool.map(ask, mails))


def by_hand(url: str, table: str, folder: str, workers: int, in_flight: int) -> float:
    """The same loop without journals, checks, or going on: a chunk a task, a file a chunk."""
    with open(table, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    chunks = [rows[start : start + CHUNK] for start in range(0, len(rows), CHUNK)]
    Path(folder).mkdir()

    def write(number: int, found: list[dict[str, Any]]) -> None:
        lines = (
            json.dumps({"id": row["id"], **ticket}) + "\n"
            for row, ticket in zip(chunks[number], found, strict=True)
        )
        (Path(folder) / f"{number}.jsonl").write_text("".join(lines), encoding="utf-8")

    mails = [[row["mail"] for row in chunk] for chunk in chunks]
    if not workers:
        started = time.perf_counter()
        # Two chunks at once, so that the end of one leaves no thread idle.
        with ThreadPoolExecutor(2) as both:
            tasks = [both.submit(asked, url, in_flight, chunk) for chunk in mails]
            for number, task in enumerate(tasks):
                write(number, task.result())
        return time.perf_counter() - started
    from distributed import Client, LocalCluster, as_completed

    with (
        LocalCluster(n_workers=workers, threads_per_worker=2, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        started = time.perf_counter()
        numbers = {
            client.submit(asked, url, in_flight, chunk, pure=False): number
            for number, chunk in enumerate(mails)
        }
        for future, found in as_completed(list(numbers), with_results=True):
            write(numbers[future], found)
        return time.perf_counter() - started


def loop(url: str, table: str, folder: str, workers: int, in_flight: int) -> float:
    """A loop over the same function in as many threads, with one journal for all."""
    from contextvars import copy_context

    from runtime_support import configure
    from runtime_support.runs import journal_scope, journaled

    configure(provider="openai", base_url=url, model="fake-1")
    Path(folder).mkdir()
    started = time.perf_counter()
    with open(table, encoding="utf-8") as file:
        rows = [json.loads(line) for line in file]
    with journaled(f"{folder}/run.journal"), ThreadPoolExecutor(in_flight) as pool:
        context = copy_context()

        def answer(row: dict[str, Any]) -> Ticket:
            with journal_scope(f"row/{row['id']}"):
                return triage(row["mail"])

        found = list(pool.map(lambda row: context.copy().run(answer, row), rows))
    with open(f"{folder}/all.jsonl", "w", encoding="utf-8") as file:
        for row, ticket in zip(rows, found, strict=True):
            file.write(json.dumps({"id": row["id"], **vars(ticket)}) + "\n")
    return time.perf_counter() - started


if __name__ == "__main__":
    kind, address, source, out, number, threads = sys.argv[1:]
    run = {"ours": ours, "hand": by_hand, "loop": loop}[kind]
    seconds = run(address, source, out, int(number), int(threads))
    # Workers are larger than this process was when it started them, which counts as theirs.
    of_worker = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    print(seconds, own_memory("VmHWM"), of_worker)
