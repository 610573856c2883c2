"""The report that is handed over with a release: chapters of plain words, each made of the certificate and of public facts alone.

A second page, for the holder, has exact figures of the table: `holder_page` makes it, and nothing of it enters the first.
"""
