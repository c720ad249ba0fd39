"""What a sweep of blasts comes to, read from its raw output; `parse_blast` is the front.

Standard library only.

- `report`: a sweep, its points and their shots
- `median`: the median of a few repetitions, and how sure it is
- `volley_json`: what `volley blast -O json` prints, which must agree with itself
- `ghz_lines`: the reports of ghz, one line for each of its starts
"""
