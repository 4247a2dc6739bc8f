"""Settings: declared once in `schema.py`, read by `loading.py`, told by `explaining.py`.

MapConf.toml and WorkConf.toml are read, `--set` is laid over them, and what comes out is one frozen `Configuration`.
"""
