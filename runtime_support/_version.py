"""The version, which is also the compiler's."""

__version__ = "0.1.0"
