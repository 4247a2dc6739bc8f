"""Where an address is: in which network, whose range, which country, and how far from the machines of a cluster.

The five registries publish which ranges of addresses they delegated, and to whom. `delegated` reads their files, `hierarchy`
says of an address which range is the smallest that has it, and `hierarchy_file` is the compact form that a cluster loads.
`measurements` holds what probes found, of each network by each machine, and merges what several pipelines know. `landmarks`
foresees from both which machine is the nearest to a network that few machines or none have measured yet.

`parcahyd.partition.by_location` is the strategy that is made of them.
"""
