"""The database: what the crawl knows, written by one `Store` and read through `Reports`.

A site is leased as a visit (`leases`), what the visit brings is written in batches (`batches`), and the visit's last record
releases the site again. `runs` opens and closes a run: it clears what a killed run left behind and applies settings that
changed. Readers (`reports`, `stories`, `verification`) never write and page by key in short transactions.
"""
