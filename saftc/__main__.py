"""`python -m saftc`: the command line."""

from saftc.cli import main

if __name__ == "__main__":
    main()
