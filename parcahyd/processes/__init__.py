"""The three kinds of process of a run: the coordinator, the Crawl Workers, Update Database.

Each hosts the boxes that `parcahyd.topology` joins for it: it owns the event loop, the channels to the others and the
threads, and is the boxes' ports. What to do is the boxes' business; how a process begins and ends is this package's.
"""
