"""What programs write to a terminal."""

import os
from collections.abc import Callable


def read_terminal(ours: int, see: Callable[[str], object] | None = None) -> str:
    """All that is written to the other end, which is closed here, until everybody has closed it.

    `see` is told what is there by then, whenever more is.
    """
    written = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # so Linux says that nobody writes any more
            break
        if not part:
            break
        written += part
        if see is not None:
            see(written.decode(errors="replace"))
    os.close(ours)
    return written.decode()
