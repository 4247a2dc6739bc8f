"""Whose is it? One file per strategy that divides a crawl among the partitions of a cluster, and the partitions among machines.

A strategy is a `parcahyd.core.partitions.Partitioner`. It is asked about every host that a pipeline meets for the first time,
so that each URL is posted to the one partition that crawls it. `by_hash` asks nothing of anyone: `consistent_hash` turns the
host's name into a number, and `address_homes` lets hosts of one address live together. `by_dynamic_size` has hosts wait, and
gives the largest to whoever has room. `by_superpage` keeps together what links to each other; `superpages` has the tree and
the partition of it. `by_location` gives a host to the machine that reaches it soonest; what it knows about addresses is in
`locations`. `placement` puts partitions on machines by their `capacity`. What is posted once need not be posted again:
`posted_urls` and `hot_urls`, which counts by `space_saving`, remember it in bounded memory.

Nothing in here acts: no network, no database, no clock, no chance.
"""
