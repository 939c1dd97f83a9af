"""Applying a release: new rows join its published classes."""
