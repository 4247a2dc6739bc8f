"""The Kettle Museum: a small site to crawl, served on loopback, and a tour that crawls it with the ordinary commands.

`site/` holds the pages as they are served. They have cases that a crawler meets on the Web: relative links and fragments, an
image, a page that robots.txt forbids, a redirect, a page that is missing, a link to another site, and two URLs with
the same bytes. `server.py` serves them, with tables of their links; `make run` without a seed runs the tour of `__main__.py`.
"""
