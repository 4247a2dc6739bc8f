"""When is a URL due? Decided from settings and from what was seen, never from the clock itself.

Each check of a stored page says whether it changed since the check before. `change_rate` learns from that how often it
changes, `freshness` says what a stored copy is worth after a while and what a visit adds to that, `schedule` turns both
into the time of the next visit, and `budget` fits all visits together into so many requests a day.
"""
