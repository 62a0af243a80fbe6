"""From a call of `prompt` to its value."""
