"""What is wrong with a text that cannot be read: explained, and read over.

    explaining   an unexpected token: what was expected there, and what was probably meant
    hints        what was probably meant, by the tokens around it
    habits       words of other languages, and what Saft has instead
    divisions    comments that were meant as a division
    recovery     tokens less a line that cannot be read
"""
