"""Readers for predictions in files of several formats, database tables and clusters, in batches (extra `files`)."""
