"""What the public sees of records: the site and its charts."""
