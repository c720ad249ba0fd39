"""What to measure: profiles, frameworks, and the selection of them."""
