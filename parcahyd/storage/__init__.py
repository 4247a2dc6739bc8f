"""The database: what the crawl knows, written by one `Store` and read through `Reports`.

A site is leased as a visit (`frontier`), what the visit brings is written in batches (`pages`, `urls`), and the visit's last
record releases the site again. `runs` opens and closes a run and applies settings that changed; `frontier` frees what a killed
run left behind. Readers (`reports`) never write and page by key in short transactions.

| a new column of documents needs | in |
|---|---|
| the column | `schema` |
| its value | `document_format.PackedPage`, filled by `packing` |
| a key of the row that is inserted | `documents` |
| a step for older databases | `migrations` |
"""
