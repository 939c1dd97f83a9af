"""Fragmentation: the sensitive values are split into boxes; a class that takes its share of each is close to the table."""
