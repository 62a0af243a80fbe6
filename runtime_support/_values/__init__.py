"""Values: their kinds, their texts as JSON, their names; and what all modules need."""
