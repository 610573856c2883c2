"""Where rows come from: files, folders, globs, URLs, NumPy, and whatever speaks Arrow. All become record batches.

A source is read as a stream, any number of times, never whole. What a cell means is not decided here but in `encode`.
`opening` is the door; nothing is imported here, so that the command line can list the `formats` without loading pyarrow.
"""
