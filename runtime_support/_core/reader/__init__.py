"""The reader of replies, arguments and cells: `replies` is where it begins."""
