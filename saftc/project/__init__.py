"""Scripts and modules on disk: reading them, resolving imports, and caching compiled modules."""
