"""What a script will ask, known without running it: for `saftc prompts`, and for plans.

    declarations  the text of a compiled module to its types and to its functions without bodies
    scripts       the same of a script and of those that it imports
    requests      each prompt of a compiled script to the request that it sends first
    rendering     such a preview as data, as text and as JSON

This folder and `saftc.plans` are the two that know `runtime_support`: what is shown is made by the
runtime itself, as a compiled module would have it made.
"""
