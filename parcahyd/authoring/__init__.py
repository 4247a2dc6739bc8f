"""The author's side of augmented hypertext: tables beside the pages of a built site, one bundle, one line of robots.txt.

`author_plan` holds the author's choices. `site_folder` finds the pages and the names of their tables, and runs the work on all
pages in processes. `page_tables` makes the tables from a page's bytes. `build` writes the tables that changed since the last
build, then the bundle and the line of robots.txt; `mkdocs_plugin` and `sphinx_extension` run it at the end of a site
generator's build. `check` reports tables that do not match their pages, and `FolderServer` serves the folder to try it out.

Where an application makes pages on request, the middlewares `asgi` and `wsgi` answer requests for tables: `live_tables` makes,
names and caches them. `jinja_tag` marks regions in templates.

Sites load `mkdocs_plugin`, `sphinx_extension`, `asgi`, `wsgi` and `jinja_tag` by these paths (docs/for-site-authors.md), so the
paths stay.
"""
