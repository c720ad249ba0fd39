"""Pictures of boards, records and generators, with words for those who do not see them.

Everything here comes from records and the leaderboard. Each kind of load has a module that draws
it, listed in publish/kinds.py.
"""
