"""What ghz and volley print, read into numbers; `parse_ghz` is the front. Standard library only.

- `report`: what one run amounts to, what ghz's own lines mean, what must hold in both forms
- `calls`: ghz's single calls, which of them were cut, and how that is known
- `json_report`: the JSON form; `counted`: what volley adds to it, because it counts messages
- `text_report`: the text summary, also as a copy that lost its layout
"""
