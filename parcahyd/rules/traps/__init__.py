"""Traps: sites that make URLs without end, by accident or on purpose, and the guards that keep a crawl out of them.

| guard | refuses |
|---|---|
| `url_shapes` | paths that are very deep, or whose segments repeat, as broken relative links make them |
| `queries` | queries with very many parameters, paths with ever new lists of names, known URLs with another session id |
| `calendars` | runs of dates that lead far from today |
| `budgets` | URLs of a template, directory or site whose documents keep being the same |

A visit has one `Guards` object. It judges each path that is new to the visit, and observes each document that is received.
A `VisitMemory` bounds what it learns. What must outlive the visit is encoded and stored with the site.
"""
