"""The formatter: writes a tree as the text of a script, in one form."""
