"""What runs ahead in a test has ended when the next one begins."""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Iterator

import pytest

from runtime_support._core.tasks import workers


@pytest.fixture(autouse=True, scope="module")
def _all_else_stays() -> None:
    """What other tests of the process have left is not looked through after each test."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _nothing_goes_on() -> Iterator[None]:
    """What nobody wants any more may still print, where rules are switched off."""
    yield
    gc.collect()  # a failure holds what has failed, and that holds its calls
    while _is_at_work():
        time.sleep(0.001)


def _is_at_work() -> bool:
    with workers.shared.lock:
        alive = sum(one.name == "saft ahead" for one in threading.enumerate())
        return alive > workers.shared.threads._idle  # pyright: ignore[reportPrivateUsage]
