"""Augmented hypertext: a document's links, and the parts of it that change, in files of their own.

A **table of links** (`tol`) holds the links of one document, so that they are known before and without it; a **bundle**
(`bundle`) holds those of a whole site. A **table of variable information** (`tvi`) holds the regions of a document that change,
so that a refresh transfers only those. `skeleton` splits a document into its skeleton and its regions, at the markers that
`markers` finds, and merges them again. A **declaration** (`site_offer`) says which documents of a site have such
files, and `sidecars` where they are. `framing` holds what both tables share, `document_tables` makes them.

Every file that is read here comes from an untrusted site: a reader takes chunks, never raises, keeps within its `Limits`, and
reports errors as a `Refusal`. Writers refuse what a reader would refuse. Nothing here uses the network or the clock.
"""
