"""The author's side of augmented hypertext: tables beside the pages of a built site, one bundle, one line of robots.txt.

`site_folder` finds the pages and says which files belong to each. `page_tables` makes those files from a page's bytes, and
`pages_in_parallel` does it for all pages, in processes. `build` writes what has changed, by what the `manifest` remembers, then
the `bundle_file` and the `robots_line`. `check` says what no longer fits, and `served` serves the folder, for trying it out.

`generated_site` does the same at the end of a site generator's build, for `mkdocs_plugin` and `sphinx_extension`. Where pages
are made when they are asked for, the middlewares `asgi` and `wsgi` answer tables too: `live_tables` makes and names them,
`table_cache` remembers them, `live_answers` says of which answers they may be made. `jinja_tag` marks regions in templates.
"""
