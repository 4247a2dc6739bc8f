"""What the store says to its database, defined in SQLAlchemy over `storage.tables`, and nothing of it imported in a crawl.

The statements of `storage/NAME.py` are defined in the module of the same name here. `compiling` turns all of them into text,
once for each kind of database, in `storage/sql/`; that is what the store reads, so a crawl does not wait for SQLAlchemy.
`make docs` writes the texts anew, and a test compares them with the definitions.
"""
