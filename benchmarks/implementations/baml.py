"""baml-py, with the client that `baml-cli generate` wrote. It has no tool loop of its own."""

from __future__ import annotations

import os
import sys

URL = sys.argv[1]
os.environ["BAML_LOG"] = "off"
for case in ("text", "object", "late"):
    os.environ[f"BENCH_{case.upper()}_URL"] = f"{URL}/{case}/v1"

from baml_client.sync_client import b  # noqa: E402  (reads the environment)
from worker import serve  # noqa: E402


def text() -> str:
    return b.DescribeCity("Oslo")


def object_() -> object:
    return b.DescribePerson("Ada")


def late() -> str:
    return b.DescribeCityLate("Oslo")


assert text() == "Oslo is cold and bright."
assert object_().age == 36
serve({"text": text, "object": object_, "late": late, "result": object_})
