"""Values: their kinds, their JSON texts, their names; and helpers that all modules need."""
