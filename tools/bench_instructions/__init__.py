"""The instruction gate: how many instructions volley takes for one message, call or request.

valgrind counts them in user space, in the threads that make the load. Two runs of different lengths
have the same start and end, so their difference is that of the load alone.
"""
