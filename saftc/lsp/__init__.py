"""What an editor asks while a script is being written: `saftc lsp`, a language server.

    server       the requests of the protocol, by pygls; the only module here that speaks it
    session      the open scripts, each checked once for every text it has had
    protocol     what pygls leaves open; offsets to lines and characters of the protocol, and back
    definitions  which node is at an offset, and which definition every name in a script means
    hover        what a name is, in words: its type, its documentation
    completion   what may be written at an offset, and what the call there takes
    placeholder  a script with a name at the offset, so that it can be read while it is written
    outline      the symbols of a script, what can be folded, the colours of names
    views        the requests and the module of a script as texts that follow it

Nothing of a script runs and nothing is sent. A script that is broken somewhere is answered for from
what the parser has kept of it.
"""
