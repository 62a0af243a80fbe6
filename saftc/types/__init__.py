"""Types, and how they meet: fit, operators, builtins."""
