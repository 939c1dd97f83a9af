"""t-Incognito: one level of generalisation for each quasi-identifier, the same for all rows."""
