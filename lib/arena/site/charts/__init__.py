"""Charts of boards, records and generators, with text for people who cannot see them.

Everything here comes from records and the leaderboard. Each kind of load has a module that draws
it, listed in site/kinds.py.
"""
