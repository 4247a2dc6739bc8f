"""How large a crawl, or a site of it, will be in the end: "are we halfway there?" (statement C15).

`discovery` turns the times at which URLs were found and answered into a `Growth`: how many URLs wait, and how many new ones the
last answers brought. `estimate` makes an estimate with its interval of that. Both decide without input or output, so what reads
a database (`storage.reports`) and what replays a recorded crawl (`lab.progress`) have the same estimator.
"""
