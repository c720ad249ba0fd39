"""The night: every framework under every profile, as far as the time allows."""
