"""What is read out of documents of every format: the Recognizer, the Summarizers and the Expanders (statements C3 and C4).

A document's bytes come from the Crawl Worker. The Recognizer says what they are, a Summarizer of that format makes a `Summary`
of them, and an archive goes to an Expander, which gives its members one by one; each of those is a document of its own,
recognised and summarised in turn, but not expanded again. `parcahyd.builtin_plugins` offers the built-in ones as plugins; the
libraries underneath are imported only when a document needs them. The author of a document is an adversary: everything is
bounded, and what cannot be read has no summary.
"""
