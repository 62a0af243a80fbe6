"""What is on disk: scripts and modules, what imports mean, and what was compiled before."""
