"""The requests of a script, computed without running it.

  declarations    builds Python types and functions from the declarations of scripts
  python_objects  builds Python classes and functions from the source of imported modules
  requests        the first request of each prompt in a compiled script
  rendering       the previews as data, text and JSON

The runtime itself builds the requests from these objects, as it does for a compiled module.
"""
