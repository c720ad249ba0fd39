"""HttpArena's gRPC runner: plan, build, start, check, measure, record, rank, publish."""
