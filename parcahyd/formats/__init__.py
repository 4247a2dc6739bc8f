"""Reads documents of every format: the Recognizer, the Summarizers and the Expanders (statements C3 and C4).

A document's bytes come from the Crawl Worker. The Recognizer finds their format, a Summarizer of that format makes a
`Summary` of them, and an Expander unpacks the members of an archive one by one. Each member is a document of its own: it is
recognised and summarised, but not expanded again. `parcahyd.builtin_plugins` offers the built-in ones as plugins; the
libraries underneath are imported only when a document needs them. Documents are untrusted: all
work on them is bounded, and a document that cannot be read has no summary.
"""
