"""saftc: a compiler from the prompt-script language Saft to readable Python."""

__version__ = "0.1.0"
