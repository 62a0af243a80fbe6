"""What the operators and builtins of Saft do where plain Python would do something else."""
