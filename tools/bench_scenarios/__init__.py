"""Scenarios compared: volley, h2loadrunner, h2load and k6 make the same dependent requests.

Each loads the same server in turn and on the same CPUs, and the server counts. Compare figures only
within one bench, not between hosts or days.
"""
