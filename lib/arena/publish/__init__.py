"""What people see of records: the site and its pictures."""
