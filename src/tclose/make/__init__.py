"""Make: from rows to published values. Nothing here may import what judges."""
