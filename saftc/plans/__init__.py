"""Plans as source: a JSON program that a model wrote, compiled to Python.

    compiling  from files to modules or to what is wrong, with its place in the JSON
    tools      the module whose functions the program calls, as a registry of the runtime
    declaring  compiled modules, imported without what they do
    building   the checked program as a script, statement by statement
    scripts    the nodes of that script, with the facts that the emitter reads
    types      the types of programs as those of the compiler

The language of programs belongs to the runtime, which alone knows what a program means. So the
runtime checks a plan, and its checked tree (`saftc.runtime.program_tree`) is compiled: it becomes
that of a script, and `saftc.codegen` writes the module. There is one emitter.
"""
