"""The collection service: a survey in the browser whose answers the server never has, and what its collector sees."""
