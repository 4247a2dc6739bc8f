"""Takes a crawl away in forms that other programs read: WARC files, one WACZ file, or a folder that a browser opens offline.

`selection` says which versions the user asked for. `captures` finds them in the database, in the order in which they were
stored. `exchanges` adds what was exchanged, one `Exchange` after the other, and `sent_validators` what was asked with. No other
module here knows the tables. `heads` makes the head of an answer agree with the body that goes out with it.

For archives, `warc_records` turns an exchange into WARC records, `cdxj` and `surt` make the lines of the index, and `page_text`
the line of a page with its title and text. `archive_parts` writes all of that into a folder for unfinished work, in parts that
survive an interruption. `archive` moves the finished parts to their place, or packs them into a WACZ file (`wacz`).

For a folder, `file_names` gives each URL a name that every file system takes, `offline_pages` makes links relative, and
`site_files` writes the files.

Everything here only reads the database, in short transactions, so a crawl may run meanwhile.
"""
