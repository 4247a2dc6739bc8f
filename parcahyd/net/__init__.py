"""Resolvers turn host names into addresses, downloaders turn requests into answers.

A host name comes from a URL Mapper thread, goes to the one resolver of the run and comes back as a `Resolution`, out of the
answer cache or from a name server. A `DownloadRequest` comes from a Crawl Worker with its vetted address, goes to the one
downloader of that process and comes back, later on the same event loop, as a `DownloadResult`.
`parcahyd.builtin_plugins` offers all of them as plugins; their libraries are imported when one is made.
"""
