"""The pure rules of the crawl, thin over libraries: text and bytes go in, decisions come out.

A reference in a page becomes a canonical URL (`html`, `urls`). `urls`, `robots` and `traps` decide whether it may be
asked for, `politeness` decides when, and what follows from a failure. The answer's kind, links and fingerprint are read from
its bytes (`media_types`, `html`, `sitemaps`, `listings`). Pages and servers may be hostile: no input raises, and
every output is bounded. Nothing here uses the network, the clock or random numbers.
"""
