"""Tables, read and written. This is the only room that knows an engine."""
