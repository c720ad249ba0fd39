"""The generators compared: the cost of each, and the accuracy of its counts.

Each loads the same server, a grpc-go that also counts, in turn and on the same CPUs. Compare
figures of one bench only, not those of two hosts or two days.
"""
