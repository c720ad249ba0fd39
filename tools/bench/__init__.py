"""The generators compared: the cost of each, and the accuracy of its counts.

Each loads the same server, a counting grpc-go, in turn and on the same CPUs. Compare
figures only within one bench, not between hosts or days.
"""
