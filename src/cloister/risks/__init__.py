"""Re-identification risk and information loss, for the holder of a table.

The public function is ``cl.risk``, which is `cloister.risks.assess.assess`. The room is not called ``risk``: importing a part
of it would bind ``cloister.risk`` to the package, and hide the function.
"""
