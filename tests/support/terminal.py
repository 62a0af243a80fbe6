"""What programs write to a terminal."""

import os


def read_terminal(ours: int) -> str:
    """All that is written to the other end, which is closed here, until everybody has closed it."""
    written = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # so Linux says that nobody writes any more
            break
        if not part:
            break
        written += part
    os.close(ours)
    return written.decode()
