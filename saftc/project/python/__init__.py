"""The declarations of Python modules, with their types and places. No code of the modules runs.

  library      reads modules by name, and finds the declarations of their names, across imports
  bindings     what the names of a module or a class are bound to
  annotations  annotations as types
  signatures   the types of calls of functions
  classes      classes as types of Saft
  fields       the fields of classes
"""
