"""Tables: read and written. The only room that knows an engine."""
