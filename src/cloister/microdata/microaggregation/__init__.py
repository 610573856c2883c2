"""Microaggregation: groups of near rows, each row written as the centroid of its group.

The walk: request.py (and microaggregation_plan.py, which shows it) -> mixed_rows.py reads the rows -> row_scales.py and
block_order.py prepare them -> grouping.py makes groups -> centroids.py says how a group is written -> group_rewriting.py writes,
group_recount.py counts what was written -> group_summary.py and microaggregation_notes.py say what became of the table.
"""
