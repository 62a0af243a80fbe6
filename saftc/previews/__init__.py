"""What a script will ask, known without running it.

    declarations    what scripts declare, as live Python that the runtime reads
    python_objects  what the Python modules declare that they import, as live Python, too
    requests        each prompt of a compiled script to the request that it sends first
    rendering       such a preview as data, as text and as JSON

This folder and `saftc.plans` are the two that know `runtime_support`: what is shown is made by the
runtime itself, as a compiled module would have it made.
"""
