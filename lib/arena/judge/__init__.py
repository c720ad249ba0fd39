"""The results of records: headlines, flags, intervals, boards, and frozen rounds."""
