"""Saft's operators and builtins, for cases in which plain Python behaves differently."""
