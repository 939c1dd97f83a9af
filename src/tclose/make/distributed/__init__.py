"""Growth on a cluster: a table is cut into blocks from its histograms, and each block is released by itself."""
