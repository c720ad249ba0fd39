"""The machine: its processes, CPUs, ports, lock, and Docker's command line."""
