"""What a run of scenarios comes to, read from volley's report; `parse_scenario` is the front.

Standard library only.

- `report`: a run, its steps and its seconds
- `volley_json`: what `volley run -O json` prints, which must agree with itself
"""
