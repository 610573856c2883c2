"""Documents (sentences, facts, tables, charts) and how they are shown: on a terminal, in a notebook, as a picture.

A release, a plan, a ledger or a result describes itself as a document (`describe`), so nothing here knows an estimator.
"""
