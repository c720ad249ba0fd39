"""What h2load prints, read into numbers; `parse_h2load` is the front. Standard library only.

- `report`: what one run amounts to, what its latencies are of, when they are more than a mean
- `counts`: how h2load counts its calls, and what these counts say of each call
- `text_report`, `json_report`: the two forms; a JSON report may have the text around it
"""
