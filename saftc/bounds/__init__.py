"""What a script can cost at most, known before it runs: requests for replies, as formulas.

written      expressions as the script writes them, with names that can be replaced
algebra      sums of products of lengths and numbers
rules        the most that one prompt can send, as the runtime bounds it
definitions  where variables have their values from
lengths      how long and how large values are, and how often loops turn, by what is written
scripts      what a prompt and a call ask
walking      what a body asks
requests     the pass: each function, and the script as a whole
rendering    formulas as text, as JSON, and as the tree of a diagnostic
"""
