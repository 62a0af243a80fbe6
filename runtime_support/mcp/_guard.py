"""Stands between this program and an MCP server that is a command, which ends when either does.

    python -I -S _guard.py 32000000 server argument ...

What the one writes, the other reads. When the program ends, in whatever way, its end of the pipe
closes: then the server gets the time to end by itself, and is ended with all that it has started.
A message of more bytes than the first argument says ends the server: nobody could keep it.

It is run as a file, and imports nothing of ours.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time

# Together, less than what the package waits before it ends this process.
GRACE_SECONDS = 1.5
_LAST_SECONDS = 1.0
_AT_ONCE = 65_536
_HAS_GROUPS = os.name == "posix"


def main() -> int:
    """Runs the server of the command line; gives its exit code."""
    limit, command = int(sys.argv[1]), sys.argv[2:]
    try:
        server = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            process_group=0 if _HAS_GROUPS else None,
        )
    except OSError as error:
        print(f"cannot start {command[0]}: {error.strerror or error}", file=sys.stderr)
        return 127
    signal.signal(signal.SIGTERM, signal.SIG_IGN)  # it ends by its pipes
    threading.Thread(target=_pass_requests, args=(server,), daemon=True).start()
    is_too_long = _pass_replies(server, limit)
    if is_too_long:
        print(f"it sent a message of more than {limit:,} bytes", file=sys.stderr)
    else:
        _wait(server, GRACE_SECONDS)  # it may have closed its output, and go on
    _end(server)
    return server.returncode or 0


def _pass_replies(server: "subprocess.Popen[bytes]", limit: int) -> bool:
    """Passes on what the server writes, until it ends; whether a message is too long."""
    assert server.stdout is not None
    begun: list[bytes] = []
    length = 0
    try:
        while data := os.read(server.stdout.fileno(), _AT_ONCE):
            first, *others = data.split(b"\n")
            if max(length + len(first), *map(len, others), 0) > limit:
                return True
            whole, end, rest = data.rpartition(b"\n")
            if end:
                # Whole lines alone: what is too long costs the program nothing.
                _write(1, b"".join([*begun, whole, end]))
                begun, length = [], 0
            begun.append(rest)
            length += len(rest)
    except OSError:
        pass  # nobody reads it any more
    return False


def _pass_requests(server: "subprocess.Popen[bytes]") -> None:
    """Passes on what the program writes; when it writes no more, ends the server."""
    assert server.stdin is not None
    with contextlib.suppress(OSError):  # the server reads no more: what it writes is passed on
        while data := os.read(0, _AT_ONCE):
            _write(server.stdin.fileno(), data)
    with contextlib.suppress(OSError):
        server.stdin.close()
    while os.read(0, _AT_ONCE):
        pass
    _wait(server, GRACE_SECONDS)
    _end(server)
    os._exit(server.returncode or 0)


def _end(server: "subprocess.Popen[bytes]") -> None:
    """Ends the server, and whatever of what it has started is still there."""
    if not _HAS_GROUPS:
        server.kill()
        server.wait()
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(server.pid, signal.SIGTERM)
        end = time.monotonic() + _LAST_SECONDS
        while time.monotonic() < end:
            server.poll()
            os.killpg(server.pid, 0)
            time.sleep(0.01)
        os.killpg(server.pid, signal.SIGKILL)
    server.wait()


def _wait(server: "subprocess.Popen[bytes]", seconds: float) -> None:
    with contextlib.suppress(subprocess.TimeoutExpired):
        server.wait(seconds)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


if __name__ == "__main__":
    sys.exit(main())
