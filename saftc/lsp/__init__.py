"""`saftc lsp`, a language server for editors.

  server       handles the requests of the language server protocol, with pygls
  session      the open scripts; checks each version of their text once
  protocol     additions to pygls; converts offsets to the protocol's positions and back
  diagnostics  the diagnostics and quick fixes of a script, in terms of the protocol
  definitions  finds the node at an offset, and the definition of each name
  hover        describes a name: its type, its documentation
  completion   the completions at an offset, and the signature of the call around the offset
  placeholder  inserts a name at the cursor, so that an unfinished script can be parsed
  outline      the symbols of a script, its folding ranges, its semantic tokens
  views        a script's compiled module and its requests, as texts that follow its changes

The server never runs a script and sends no requests to providers. For a script with syntax errors,
the answers come from the statements that the parser could read.
"""
