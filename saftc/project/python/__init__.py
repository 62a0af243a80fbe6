"""The declarations of Python modules, read from their source: types and places; no code runs.

  library      the modules by name, and the declarations of their names, across imports
  bindings     what the names of a module or a class are bound to
  annotations  annotations as types
  signatures   functions: the types of their calls
  classes      classes; `fields` handles those made of fields
"""
