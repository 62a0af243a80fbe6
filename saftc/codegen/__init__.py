"""Generates the text of a Python module from the tree of a script and the facts about it."""
