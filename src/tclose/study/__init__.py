"""Study: what a release gives away about people, and what it keeps of the table."""
