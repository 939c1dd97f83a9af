"""Reports: charts, and the look that they share."""
