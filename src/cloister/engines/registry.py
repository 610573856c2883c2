"""Which engines there are: each is one folder with a `Backend`, named in one line here.

Nothing is imported, so that the command line can list the names without loading an engine.
"""

__all__ = ["DEFAULT", "ENGINES"]

ENGINES = {
    "local": "cloister.engines.local.backend:LocalBackend",
    "spark": "cloister.engines.spark.backend:SparkBackend",
}
DEFAULT = "local"
