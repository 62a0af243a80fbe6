"""What the names of a script mean, and what is wrong with it before types are known."""
