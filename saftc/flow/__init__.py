"""The flow of a script: what comes after what, for all that is found out about it."""
