"""Types and their rules: assignability, operators, builtins."""
