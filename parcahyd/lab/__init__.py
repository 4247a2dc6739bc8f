"""The lab: the crawler's own strategies on recorded data and a simulated clock, beside the papers' figures and their rivals.

Each experiment is one file that takes data and a seed and returns a `report.LabTable`; the commands are `parcahyd lab NAME`,
one file each in `parcahyd/cli/`. An experiment uses the classes that a real cluster uses, and never a copy of them.

| what | file |
|---|---|
| recorded data, with checksums | `data`, `link_graph` |
| recorded crawls and trees of HTML files, taken page by page | `recorded_crawls`, `replay` |
| is the estimate of a crawl's size right? | `progress` |
| links that cross, whole graph known | `graph_known`, with `graph_measures` and the rival `fennel` |
| links that cross, learnt while crawling | `graph_online` |
| crawls on a simulated clock | `simulated_crawl`, `crawl`, `page_ranks` |
| tables with everything that is needed to repeat them | `report` |
| pictures | `bars` |
| pages of sites by month, and crawls that are drawn from them | `site_sizes` |
| data from a crawl of one's own | `recording` |
| agents on a simulated clock | `simulated_agents` |
| `lab balance`: ways of dividing, measures, tables | `balance_methods`, `balance_figures`, `balance`, `balance_changes` |
| what a crawl costs the hub while it grows | `growth` |
| which machine is nearest: methods, tables, recorded round trips | `locate`, `latencies` |
| the registries' ranges of addresses | `registries` |
"""
