"""The version of saftc."""

__version__ = "0.1.0"

# Where the documentation is published, with a slash at the end; empty as long as it is not.
SITE_URL = ""
