"""Scripts do the same with overlap and without."""
