"""Release: joins both sides. Makes a release, judges it, writes it with its papers, verifies it."""
