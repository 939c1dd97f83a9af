"""Values: what both sides speak of. Exact numbers, hierarchies, bins, histograms; no table library, no decision."""
