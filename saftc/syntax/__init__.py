"""From text to an abstract syntax tree, and back: lexer, grammar, nodes, builder, walk, unparse."""
