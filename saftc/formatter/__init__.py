"""The formatter: a tree back to the text of a script, in one form."""
