"""The three kinds of process of a run: the coordinator, the Crawl Workers, Update Database.

Each hosts the boxes that `parcahyd.topology` makes and connects: it owns the event loop, the channels to the others and the
threads, and implements the boxes' ports. The boxes decide what to do. This package decides how a process starts and ends.
"""
