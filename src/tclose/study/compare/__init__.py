"""Comparing algorithms and thresholds on one table: each cell is a release that is made, attacked and measured in a process."""
