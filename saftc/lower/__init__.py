"""Which of several ways of writing it in Python is taken."""
