"""The site: static pages, made only from records. Equal records give equal bytes.

An *edition* is one set of records as a part of the site: what is current, or a frozen round. The
modules of `pages` list an edition's outputs, each with a key of what it depends on; `build` writes
those that have changed. Nothing here measures or needs a network.
"""
