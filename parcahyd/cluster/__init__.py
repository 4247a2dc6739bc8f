"""The hub: what the machines of one crawl share, in PostgreSQL.

A *partition* is a set of sites with its own tables, one pipeline and one writer. The hub says which tree of processes holds it.

1. An agent looks at all partitions (`taking.Taker.look`), remembers since when each has not changed (`taking.Watch`), and
   takes what has been silent for one lease of its own clock. It starts a tree.
2. The tree renews (`taking.Renewer`) and moves its `deadline.Deadline`. Whatever sends a request looks at the deadline before.
3. Every transaction of the tree begins with the `fence`. The writer numbers its transactions (`fence.Batches`).
4. A visit opens when its host and its address are claimed (`subjects.Claims`, decided in `granting`). Who waits has a ticket.
5. URLs of others are posted in the page's transaction and taken in by the partition that they belong to (`mail`).
6. Pages are drawn from a shared number in chunks (`quotas`). A run ends when nothing is left anywhere (`runs`, `ending`).

| question | file |
|---|---|
| which hub is this, and did it go back | `identity` |
| who may write and send for a partition | `taking`, `deadline`, `fence` |
| who may send to a host or an address, and when | `subjects`, `granting` |
| whose is a site, and who plans | `homes`, `planning` |
| what is to be done, and is it done | `runs`, `starting`, `seeds`, `scope`, `quotas`, `obeying`, `ending` |
| what a partition stores, and owes the others | `partition_store`, `partition_writer` |
| what partitions write to each other | `posting` and `routes`, `letters`, `incoming` |
| what a machine does, look by look | `machine` |
| what people see | `overview`, `pipeline_reports`, `all_partitions`, `ownership` |
| can this server bear a cluster | `server_checks` |
"""
