"""The search for a recoding that keeps every guard, on the counted tuples alone; no row is read here."""
