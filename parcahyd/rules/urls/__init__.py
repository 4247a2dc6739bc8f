"""URLs: one spelling for each, what belongs to the crawl, and which addresses may be connected to."""
