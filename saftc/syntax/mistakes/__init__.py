"""Mistakes in a text that cannot be parsed: explanation and recovery.

    explaining   an unexpected token: what was expected there, and what was probably meant
    hints        what was probably meant, by the tokens around it
    habits       words of other languages, and what Saft has instead
    divisions    comments that were meant as a division
    recovery     tokens less a line that cannot be read
"""
