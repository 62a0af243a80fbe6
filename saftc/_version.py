"""The version of saftc."""

__version__ = "0.1.0"
