"""Plans as source: a JSON program that a model wrote, compiled to Python.

    compiling  from files to modules or to what is wrong, with its place in the JSON
    tools      the module whose functions the program calls, as a registry of the runtime
    declaring  compiled modules, imported without what they do
    building   the checked program as Python, statement by statement
    writing    the module in the making: its names, imports, annotations and text

The language of programs belongs to the runtime, which alone knows what a program means. So the
runtime checks a plan, and its checked tree (`runtime_support.programs._tree`) is compiled, by the
constructs of `saftc.codegen` of which all output consists.
"""
