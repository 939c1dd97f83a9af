"""Reports: what they show, and what they must not."""
