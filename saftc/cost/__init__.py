"""How many requests a script makes at most, and what they may cost."""
