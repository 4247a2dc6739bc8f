"""How often a site is asked, and what follows from an answer that is no document."""
