"""The most requests that a script sends, and what they may cost."""
