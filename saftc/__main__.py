"""The command line, started by `python -m saftc` or the command `saftc`."""

import sys


def main() -> None:
    """The entry point of the command `saftc`.

    The imports are in this function, so that an interrupt during the imports is handled, too.
    """
    try:
        from saftc.cli.fast_path import announce_start, command_without_options
        from saftc.cli.process import end

        announce_start(sys.argv[1:])
        command = command_without_options(sys.argv[1:])
        if command is not None:
            end(command)
        from saftc.cli.app import main as run

        run()
    except KeyboardInterrupt:
        print("saftc: interrupted", file=sys.stderr)
        sys.exit(130)


if __name__ == "__main__":
    main()
