"""The generators held against each other: what each costs, and how well each counts.

Every one loads the same server, a grpc-go that counts for itself, in turn and on the same CPUs.
The figures of one such bench belong together; those of two hosts, or two days, do not.
"""
