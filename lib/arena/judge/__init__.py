"""What records come to: headlines, flags, intervals, boards, and frozen rounds."""
