"""What every reader of a generator's output needs. Standard library only.

- `figures`: calls, latencies and seconds, as a record holds them
- `json_values`, `numbers`: the values of JSON and of text, each checked
- `command`: reading a saved file, and being a command
- `errors`: the one error raised
"""
