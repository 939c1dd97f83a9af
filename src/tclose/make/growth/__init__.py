"""Growth: classes grow row by row until they satisfy every limit; then moves and swaps of rows lower the information loss."""
