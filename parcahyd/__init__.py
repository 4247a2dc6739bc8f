"""PARCAHYD: a parallel crawler for augmented hypertext documents.

The story of the data, one folder per chapter: `topology.py` joins the boxes of `pipeline/` as the architecture's
drawing does; `core/` holds what crosses between them; `rules/` and `refresh/` decide; `net/` and `storage/` act.
"""

__version__ = "0.1.0"
