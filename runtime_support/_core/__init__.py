"""The core of the runtime: from a call of `prompt` to its value."""
