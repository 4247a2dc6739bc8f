"""The database: what the crawl knows, written by one `Store` and read through `Reports`.

A site is leased as a visit (`leases`), what the visit brings is written in batches (`page_batch`, `bad_batch`), and the
visit's last record releases the site again. `run_rows` opens and closes a run and applies settings that changed; `leases` frees
what a killed run left behind. Readers (`reports`, `stories`, `verification`) never write and page by key in short transactions.
"""
