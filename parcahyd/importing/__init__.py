"""Reads archives that others have made, WARC, WACZ and ARC files, into the database of a crawl.

`archive_files` finds out the form of a file, and gives its records. `streams` unpacks gzip members, `warc_reader` (by way of
fastwarc) and `arc_reader` read the records in them, and go on behind damaged ones. `captures` puts the records of one exchange
together, `http_answers` reads the answer in it, and `revisits` finds the answers that others refer to. `importer` has each
answer read, packed and stored as the pages of a crawl are.

The author of an archive is an adversary: everything is bounded before it is read, and nothing in an archive has a say in what a
crawl requests.
"""
