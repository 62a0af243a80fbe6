"""Values (their kinds, JSON texts and names), and helpers that all modules need."""
