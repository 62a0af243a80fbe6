"""Plans as source: a JSON program that a model wrote, compiled to Python.

  tools      the module whose functions the program calls, as a registry of the runtime
  declaring  imports compiled modules for their declarations alone
  building   writes the checked program as Python, statement by statement
  writing    assembles the module: its names, imports, annotations and text

The runtime owns the language of programs. It checks a plan, and saftc compiles the checked tree
(`runtime_support.programs._tree`) with `saftc.codegen`, which writes all output.
"""
