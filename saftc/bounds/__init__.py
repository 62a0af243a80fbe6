"""What a script can cost at most, known before it runs: requests for replies, as formulas.

written      expressions as the script writes them, with names that can be replaced
algebra      polynomials over lengths, with `max`
rules        the most that one prompt can send, as the runtime bounds it
values       what is known of a value: its length, its number, its items
requests     the pass: each function, and the script as a whole
rendering    formulas as text, as JSON, and as the tree of a diagnostic
"""
