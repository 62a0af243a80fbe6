"""Facts and the plan to how a script is written in Python, where types alone do not say it."""
