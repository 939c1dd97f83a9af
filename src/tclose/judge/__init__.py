"""Judge: from published values to a verdict. Nothing here may import what makes."""
