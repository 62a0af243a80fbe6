"""From the tree and its facts to the text of a Python module. Reached only without errors."""
