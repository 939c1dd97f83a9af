"""How pictures look, and how charts become SVG files that look the same to every reader."""
