"""What editors and documents need to colour scripts; nothing here is imported by the compiler.

`pygments_lexer` needs Pygments, which finds it by an entry point; importing this package does not.
The TextMate grammar, with the same coverage, is in `editors/` at the top of the project.
"""
