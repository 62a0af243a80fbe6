"""`saftc lsp`, a language server: answers an editor's questions about a script being written.

  server       the requests of the protocol, by pygls; the only module here that speaks it
  session      the open scripts, each version of their text checked once
  protocol     additions to pygls; converts offsets to the protocol's positions and back
  definitions  finds the node at an offset, and the definition of each name
  hover        describes a name: its type, its documentation
  completion   the completions at an offset, and the signature of the call there
  placeholder  inserts a name at the offset, so that an unfinished script can be parsed
  outline      the symbols of a script, its folding ranges, the colours of names
  views        the requests and the module of a script, as texts that follow its changes

No script runs and nothing is sent. A script with syntax errors is answered from the statements that
the parser could read.
"""
