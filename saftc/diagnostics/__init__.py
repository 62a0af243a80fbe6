"""What can be wrong with a script: the data, the catalogue of codes, and how they are shown."""
