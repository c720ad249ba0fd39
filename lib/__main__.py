"""`python lib …` is the arena command; lib/ is then the import root."""

from arena.cli.main import main

main()
