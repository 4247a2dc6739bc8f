"""Augmented hypertext: a document's links, and the parts of it that change, in files of their own.

A **table of links** (`tol`) holds the links of one document, so that they are known before and without it; a **bundle**
(`bundle`) holds those of a whole site. A **table of variable information** (`tvi`) holds the regions of a document that change,
so that a refresh moves those and nothing else: `skeleton` parts a document into its skeleton and its regions and puts them
together again, by markers that `markers` finds. A **declaration** (`site_offer`) says which documents of a site have such
files, and `sidecars` where they are. `framing` is what both tables share, `of_document` makes them.

Everything that is read here came from strangers: a reader takes chunks, raises on nothing, keeps within its `Limits`, and
says what is wrong as a `Refusal`. Writers refuse what a reader would refuse. Nothing here knows the network or the clock.
"""
