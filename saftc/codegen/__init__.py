"""From the tree and its facts to the text of a Python module; only for scripts without errors."""
