"""Who runs a kernel over every row: this process, or Spark."""
