"""The site: static pages made of records alone, the same bytes for the same records.

An *edition* is one set of records as a part of the site: what is current, or a frozen round. The
modules of `pages` say which pages an edition has, each with what it depends on; `build` makes those
that have changed. Nothing here measures, and nothing needs a network.
"""
