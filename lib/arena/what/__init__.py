"""What people ask for: profiles, frameworks, and which of them."""
