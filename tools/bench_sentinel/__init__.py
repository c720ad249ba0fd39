"""The sentinel on trial: how many bursts of foreign CPU it voids, and how many calm windows.

The load is real: a framework's server, natively, and volley. It prints figures and asserts nothing.
"""
