"""The site: static pages made only from records. Equal records give equal bytes.

An *edition* is a part of the site made from one set of records: the current ones, or a frozen
round. The modules of `pages` list an edition's outputs, each with a key of what it depends on;
`build` writes those that have changed. Nothing here measures or needs a network.
"""
