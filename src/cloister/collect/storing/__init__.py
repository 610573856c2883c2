"""Where a service keeps reports: collections, reports, invitations and the collector's token, in SQLite or PostgreSQL."""
