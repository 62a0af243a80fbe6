"""What belongs to a whole run, and not to one prompt: its budget, and its journal.

A journal keeps every exchange and every call of a tool in a file. The same command after a kill
begins anew, and is answered from there as far as it had come. An exchange is found again by its
place: the scope it is asked in, the prompt's first request and who answers, how often the scope
asked the same before, and which step of the conversation it is.
"""
