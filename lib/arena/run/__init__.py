"""Running sessions: plans, servers, and the stages of a session."""
