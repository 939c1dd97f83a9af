"""Charts: one a file, each a function from plain figures to a Vega-Lite chart, which `tclose.report.svg` draws."""
