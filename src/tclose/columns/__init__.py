"""Columns: a policy meets a table. Roles, persons and domains; nothing is decided here."""
