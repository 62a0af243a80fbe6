"""The types of all that a script says."""
