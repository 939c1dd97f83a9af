"""Reports: one self-contained HTML file about a release or an audit, charts, and the look that they share."""
