"""Sitemaps and feeds: the bytes become text (`content`), the text becomes tags and dates, and these become locations.

`reader` goes through the text, `sitemap_parser` knows what each element means, `dates` parses dates.
"""
