"""What every reader of a generator's output needs. Standard library only.

- `figures`: calls, latencies and seconds, as a record holds them
- `values`: the values of JSON and of text, each checked, and the one error raised
- `command`: reading a saved file, and being a command
"""
