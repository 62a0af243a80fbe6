"""The version of saftc."""

__version__ = "0.1.0"

# The address of the documentation, with a slash at the end; empty until it is published.
SITE_URL = ""
