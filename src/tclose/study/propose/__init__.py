"""Propose: a policy for a table that nobody has described yet, with the reasons, for its owner to edit."""
