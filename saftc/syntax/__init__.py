"""Parses a script to an abstract syntax tree: lexer, grammar, nodes, builder, walk."""
