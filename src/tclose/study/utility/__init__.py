"""What a release keeps: answers to queries, distributions, associations and what a model learns from it."""
