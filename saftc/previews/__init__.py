"""The requests of a script, computed without running it.

  declarations    the declarations of scripts as live Python objects for the runtime
  python_objects  the declarations of imported Python modules as live objects, too
  requests        the first request of each prompt in a compiled script
  rendering       the previews as data, text and JSON

Only this folder and `saftc.plans` use `runtime_support`: the runtime itself builds the previews, as
it would for a compiled module.
"""
