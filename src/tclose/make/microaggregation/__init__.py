"""Microaggregation: classes of the k nearest rows, made close to the table by merging, by swapping, or by buckets of values."""
