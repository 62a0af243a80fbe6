"""Looking at runs: drawn over time, and read from their journals."""
