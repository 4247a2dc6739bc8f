"""The pure rules of the crawl, thin over libraries: text and bytes go in, decisions come out.

A reference in a page becomes a canonical URL (`links`, `canonical_url`). `scope`, `robots` and `address_policy` decide whether
it may be asked for, `politeness` decides when. The answer's kind, links and fingerprint are read from its bytes (`media_type`,
`links`, `fingerprint`), and `retries` says what follows from a failure. Pages and servers may be hostile: no input raises, and
every output is bounded. Nothing here knows the network, the clock or chance.
"""
