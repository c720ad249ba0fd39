"""What ghz and volley print, read into numbers; `parse_ghz` is the front. Standard library only.

- `report`: what one run amounts to, and what ghz's own lines mean
- `cut`: which calls were cut when the window closed, and how that is known
- `latency`: exact percentiles from samples, or those ghz printed
- `json_report`, `details`, `json_values`: the JSON form, its single calls, its hostile values
- `counted`: what volley adds to that form, because it counts messages
- `text_report`, `text_values`: the text summary and its numbers
- `checks`, `errors`: what holds for both forms, and the one error raised
"""
