"""The formatter: writes the tree of a script as text in the standard format."""
