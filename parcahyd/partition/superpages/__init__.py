"""Superpages: the parts of the URL tree by which `by_superpage` divides a crawl (paper 000, statements C17 to C36).

| step | file |
|---|---|
| the way of a URL down the tree | `tokens` |
| the expanded tree, and which superpage a URL is in | `expansion` |
| what a pipeline counts: visits, hot tokens, cool ones, links, rates | `counters`, `cool_sample` |
| the counts of all pipelines, as bytes | `figures` |
| new superpages where one has become too heavy | `creation` |
| the graph of the new superpages, estimated | `estimate`, `graph`, `rates` |
| the paper's ways to divide it | `greedy` |
| a better way | `multilevel`, `refinement` |
| a plan: what is worth a move, and what moves | `planning`, `moves` |
| what was decided, as the routing's state | `layout` |
"""
