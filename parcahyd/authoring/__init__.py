"""The author's side of augmented hypertext: tables beside the pages of a built site, one bundle, one line of robots.txt.

`author_plan` holds what the author wants. `site_folder` finds the pages, says which files belong to each, and runs the work on
all pages in processes. `page_tables` makes those files from a page's bytes. `build` writes what has changed, by what the
`manifest` remembers, then the bundle and the line of robots.txt. `check` reports what no longer fits, and `served` serves the
folder to try it out.

`generated_site` does the same at the end of a site generator's build, for `mkdocs_plugin` and `sphinx_extension`. Where pages
are made when they are asked for, the middlewares `asgi` and `wsgi` answer tables too: `live_tables` makes, names and caches
them, `live_answers` says of which answers they may be made. `jinja_tag` marks regions in templates.

Sites load `mkdocs_plugin`, `sphinx_extension`, `asgi`, `wsgi` and `jinja_tag` by these paths (docs/for-site-authors.md), so the
paths stay.
"""
