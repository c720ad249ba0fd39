"""`python lib …` is the arena command; lib/ is then the import root, and fleet/ another one."""

import sys
from pathlib import Path

from arena.cli.main import main

sys.path.append(str(Path(__file__).resolve().parents[1] / "fleet"))
main()
