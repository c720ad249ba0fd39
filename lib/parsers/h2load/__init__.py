"""What h2load prints, read into numbers; `parse_h2load` is the front. Standard library only.

- `report`: what one run amounts to
- `counts`: how h2load counts its calls, and what these counts say of each call
- `latency`: what its latencies are of, and when they are good for more than a mean
- `text_report`, `json_report`: the two forms; a JSON report may have the text around it
"""
