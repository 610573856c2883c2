"""k-anonymous tables: a request, then the stations counting, searching, writing and reporting, walked by `publish`."""
