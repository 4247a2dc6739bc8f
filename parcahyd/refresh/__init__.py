"""When is a URL due? Decided from settings and from what was seen, never from the clock itself."""
