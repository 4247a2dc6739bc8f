"""Traps: sites that make URLs without end, by mistake or on purpose, and the guards that keep a crawl out of them.

| guard | refuses |
|---|---|
| `url_shapes` | paths that are very deep, or in which segments come again and again, as broken relative links make them |
| `queries` | queries with very many parameters, and paths with ever new lists of parameter names |
| `calendars` | runs of dates that lead far from today |
| `sessions` | URLs that differ from known ones in nothing but a session id |
| `budgets` | URLs of one template, directory or site that went on giving the same document |

A visit has one `Guards`: it judges each path that is new to the visit, and observes each document that the visit gets. What it
learns is bounded by a `Holding`, and the little that must outlive the visit is encoded with the site.
"""
