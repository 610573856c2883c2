"""The Spark engine: all that imports pyspark."""
