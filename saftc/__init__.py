"""saftc: a compiler from the prompt-script language Saft to readable Python."""

from saftc._version import __version__ as __version__


def load_ipython_extension(shell: object) -> None:
    """Has IPython know the cell magic `%%saft`; `%load_ext saftc` calls it."""
    from saftc.notebook import register

    register(shell)
