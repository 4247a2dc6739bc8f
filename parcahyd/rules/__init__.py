"""The pure rules of the crawl, thin over libraries: text and bytes go in, decisions come out.

A reference in a page becomes a canonical URL (`links`, `canonical_url`). `scope`, `robots` and `address_policy` say whether it
may be asked for, `politeness` says when. The answer's kind, links and fingerprint are read from its bytes (`media_type`,
`links`, `fingerprint`), and a failure has its place in the table of `retries`. Page authors are adversaries: no input raises,
every output is bounded. Nothing here knows the network, the clock or chance.
"""
