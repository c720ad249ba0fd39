"""Programs for developers: benches and checks. Nothing in lib/ needs them."""
