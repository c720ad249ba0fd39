"""What ghz and volley print, read into numbers; `parse_ghz` is the front. Standard library only.

- `report`: what one run amounts to, what ghz's own lines mean, what must hold in both forms
- `cut`: which calls were cut when the window closed, and how that is known
- `json_report`, `details`, `seconds`: the JSON form, its single calls, what each second was like
- `counted`: what volley adds to that form, because it counts messages
- `text_report`: the text summary, also as a copy that lost its layout
"""
