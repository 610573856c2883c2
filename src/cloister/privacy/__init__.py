"""Budgets, noise, mechanisms, accounting, plans, the ledger and the certificate of a release."""
