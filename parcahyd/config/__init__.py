"""Settings: declared once in `schema.py`, read by `loading.py`, checked by `checking.py`, described by `explaining.py`.

MapConf.toml and WorkConf.toml are read, `--set` is applied to them, and the result is one frozen `Configuration`.
"""
