"""What a visit does where its site offers tables: links before their documents (.TOL), refresh by fragment (.TVI).

site.py is the only interface: a visit has a `PlainSite` or an `AugmentedSite`, and uses nothing else of this package.

offers.py holds what the site offers; table_requests.py decides which tables of links are requested, table_worth.py whether that
pays; table_links.py reads them; early_links.py puts their links into LocalQ; fragments.py is the refresh by fragment.
docs/augmented-hypertext.md describes the formats.
"""
