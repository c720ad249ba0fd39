"""Pictures of boards, records and generators, with words for those who do not see them.

Everything here is made of records and of the leaderboard. Each kind of load has a module that draws
it; publish/kinds.py says which.
"""
