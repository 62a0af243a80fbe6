"""Compiles plans to Python. A plan is a program in JSON that a model wrote.

  tools      finds the functions that a plan can call, as a registry of the runtime
  declaring  imports compiled modules without running their statements
  building   translates the checked program to Python statements
  writing    assembles the module: its names, imports, annotations and text

The runtime defines the language of plans and checks them. This package compiles the checked tree
(`runtime_support.programs._tree`) with `saftc.codegen`.
"""
