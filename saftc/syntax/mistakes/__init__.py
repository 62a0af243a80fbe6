"""Explains syntax errors, and recovers from them.

    explaining   turns an unexpected token into a diagnostic: what was expected, what was meant
    hints        guesses what was meant from the tokens around the unexpected one
    habits       lists words of other languages, with their replacements in Saft
    divisions    finds comments that were meant as a division
    recovery     replaces lines that cannot be parsed
"""
